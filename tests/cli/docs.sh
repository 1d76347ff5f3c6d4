#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# README and docs tell the truth: every `$ command` of a console block runs, with
# the output that stands below it; every `make TARGET` exists; every link leads
# somewhere; every ```cordon-like block that begins with `cordon 1` parses.
. "$(dirname "$0")/lib.sh"
python3 - "$B" "$scratch" <<'PY'
import glob, os, re, subprocess, sys

build, scratch = sys.argv[1:]
number = failures = 0

def result(good, name, detail=""):
    global number, failures
    number += 1
    print(("ok" if good else "not ok"), number, "-", name)
    if not good:
        failures += 1
        print("\n".join("# " + line for line in detail.splitlines()))

def matches(want, got):
    """`…` alone on a line stands for any lines; the kernel's ABI for any number."""
    want, got = (re.sub(r"Landlock ABI \d+", "Landlock ABI N", t) for t in (want, got))
    parts = re.split(r"(?m)^…$\n?", want)
    pattern = "(?:.*\n)*?".join(re.escape(p) for p in parts)
    return re.fullmatch(pattern, got) is not None

def run(command):
    work = os.path.join(scratch, "docs")
    env = dict(os.environ, PATH=build + ":" + os.environ["PATH"])
    done = subprocess.run(["bash", "-c", command], cwd=work, env=env, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    return done.stdout

work = os.path.join(scratch, "docs")
os.makedirs(work)
for name in ("policies", "docs"):
    subprocess.run(["cp", "-r", name, work], check=True)
subprocess.run(["chmod", "-R", "go-w", work], check=True)
makefile = open("Makefile").read()
pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md"] + sorted(glob.glob("docs/*.md"))
for page in pages:
    text = open(page).read()
    for block in re.findall(r"(?ms)^```console\n(.*?)^```", text):
        for step in re.split(r"(?m)^(?=\$ )", block):
            if not step.strip():
                continue
            command, _, want = step.partition("\n")
            got = run(command[2:])
            result(matches(want, got), f"{page}: {command}", f"want:\n{want}got:\n{got}")
    for target in sorted(set(re.findall(r"(?m)(?:^|`|&& )make ([a-z]+)", text))):
        result(re.search(rf"(?m)^([a-z ]* )?{target}( [a-z ]*)?:", makefile) is not None,
            f"{page}: make {target} exists")
    for link in sorted(set(re.findall(r"\]\(([^)#:]+)\)", text))):
        path = os.path.normpath(os.path.join(os.path.dirname(page), link))
        result(os.path.exists(path), f"{page}: link {link}")
    for i, block in enumerate(re.findall(r"(?ms)^```\n(cordon 1.*?)^```", text)):
        path = os.path.join(work, "block.cordon")
        block = re.sub(r"(?m)^include .*$", "", block).replace(" extends common", "")
        open(path, "w").write(block)
        got = run("cordon check -q block.cordon")
        result("error" not in got, f"{page}: policy {i + 1} is valid", got)
print(f"1..{number}")
sys.exit(failures > 0)
PY
