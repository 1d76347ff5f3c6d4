#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# confine and classify as a caller uses them: take the JSON, spawn its argv with its
# environment, classify what came out, remove what it says.
. "$(dirname "$0")/lib.sh"
mkdir "$scratch/ws" "$scratch/vault"
echo secret >"$scratch/vault/key"
cat >"$scratch/plain.cordon" <<E
cordon 1
policy plain { default mode workspace-write }
E
cat >"$scratch/hide.cordon" <<E
cordon 1
policy hide { default mode workspace-write; hide $scratch/vault }
E
cat >"$scratch/full.cordon" <<E
cordon 1
policy full { default mode workspace-write; require full on linux }
E
chmod 644 "$scratch"/*.cordon

# A caller in Python. Prints the exit status, then stdout; stderr goes to a file.
cat >"$scratch/caller.py" <<'E'
import json, os, shutil, subprocess, sys
d = json.load(open(sys.argv[1]))
env = dict(os.environ)
for name, value in d["env"].items():
    env.pop(name, None)
    if value is not None:
        env[name] = value
done = subprocess.run(d["argv"], env=env, cwd=d["directory"], stdout=subprocess.PIPE, stderr=open(sys.argv[2], "wb"))
for path in d["remove"]:
    shutil.rmtree(path)
print(done.returncode, done.stdout.decode().strip())
E
confine() { (cd "$scratch/ws" && $cordon confine "$@") >"$scratch/json"; }
spawn() { python3 "$scratch/caller.py" "$scratch/json" "$scratch/stderr"; }
field() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$scratch/json" "$1"; }
verdict() { $cordon classify --backend "$1" --status "$2" <"$scratch/stderr"; }

for backend in bwrap landlock; do
	confine --backend $backend --policy "$scratch/plain.cordon" -- sh -c 'echo new > x; cat x; echo "$TMPDIR" > "$TMPDIR/f" && echo temp'
	ok "$backend: the argv runs the command where it may write" is "$(spawn)" $'0 new\ntemp'
	ok "$backend: it is the runner by absolute path, the profile, -- and the command" has \
		"$(field 'd["argv"][0][0] + " " + " ".join(d["argv"][-4:-1])')" "/ -- sh -c"
	ok "$backend: what is to be removed is the private directory" is "$(ls -A /tmp /var/tmp | grep -c 'kept-')" 0
	confine --backend $backend --policy "$scratch/plain.cordon" -- sh -c 'echo evil > ../vault/key'
	ok "$backend: and nowhere else" has "$(spawn) $(cat "$scratch/vault/key")" secret
	verdict $backend 2 >"$scratch/verdict"
	ok "$backend: which classify calls denied" has "$(cat "$scratch/verdict")" "denied: "
	ok "$backend: partial, with its gaps" is "$(field 'd["enforcement"], bool(d["gaps"])')" "('partial', True)"
	confine --backend $backend --mode read-only --policy "$scratch/plain.cordon" -- sh -c 'echo "[$TMPDIR]"'
	ok "$backend: without a temporary directory the variables are unset" is "$(TMPDIR=/x spawn)" "0 []"
	confine --backend $backend --policy "$scratch/plain.cordon" -- no-such-program
	spawn >"$scratch/status"
	verdict $backend "$(cut -d' ' -f1 "$scratch/status")" >"$scratch/verdict"
	ok "$backend: a program that is not there is the runner's failure" has "$(cat "$scratch/verdict")" "runner-failure: "
	confine --backend $backend --policy "$scratch/plain.cordon" -- sh -c 'exit 3'
	ok "$backend: a command that fails is the command" is "$(spawn) $(verdict $backend 3)" "3  command"
done
confine --backend bwrap --policy "$scratch/hide.cordon" -- cat "$scratch/vault/key"
ok "bwrap: a hidden file cannot be read" hasnt "$(spawn)" secret
(cd "$scratch/ws" && try $cordon confine --backend landlock --policy "$scratch/hide.cordon" -- true
	echo "$status $err") >"$scratch/log"
ok "landlock: what it cannot express is refused, with its cause" has "$(cat "$scratch/log")" "SANDBOX_UNAVAILABLE"
(cd "$scratch/ws" && try $cordon confine --policy "$scratch/full.cordon" -- true
	echo "$status$out") >"$scratch/log"
ok "require full: a profile without the checks is not full" is "$(cat "$scratch/log")" 2
confine --policy "$scratch/plain.cordon" -- sh -c 'echo chain'
ok "the chain: bwrap first" is "$(field 'd["backend"]') $(spawn)" "bwrap 0 chain"
confine --mode danger-full-access --policy "$scratch/plain.cordon" -- sh -c 'echo free'
ok "full access, asked for by name, is the command as it is" is "$(field 'd["argv"][0], d["enforcement"]') $(spawn)" "('sh', 'none') 0 free"

printf '#!/bin/sh\nexec /usr/bin/bwrap "$@"\n' >"$scratch/runner"
chmod 755 "$scratch/runner"
confine --runner "$scratch/runner" --runner-failure 'my-runner: ' --policy "$scratch/plain.cordon" -- sh -c 'echo custom'
ok "a custom runner gets bwrap's arguments" is "$(spawn)" "0 custom"
ok "and is a gap, with the failure lines that were named" is \
	"$(field '"custom-runner" in [g["code"] for g in d["gaps"]], d["runnerFailureRules"][0]["fatal"]')" "(True, ['my-runner: '])"
rm -rf /tmp/cordon-$(id -u)/kept-* 2>/dev/null
try $cordon confine --runner "$scratch/runner" -- true
ok "--runner without --runner-failure is refused" is "$status" 2
try $cordon confine
ok "nothing to confine" is "$status" 2
try $cordon classify --backend bwrap
ok "classify needs a status" is "$status" 2
try bash -c "printf 'landlock-run: x\n' | $cordon classify --backend landlock --status 125 --format json"
ok "classify as JSON" is "$(python3 -c 'import json, sys; d = json.loads(sys.argv[1]); print(d["verdict"], d["line"])' "$out")" "runner-failure landlock-run: x"
leftover=$(ls -A /tmp/cordon-$(id -u) 2>/dev/null | grep kept-)
ok "nothing stays behind" is "$leftover" ""
finish
