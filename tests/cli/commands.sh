#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The command line as a user meets it: help, usage errors, exit statuses, formats,
# bundles. What findings say exactly is in tests/golden.
. "$(dirname "$0")/lib.sh"
w() { cat >"$scratch/$1"; }

# help and usage
try $cordon --version
ok "--version" is "$status $out" "0 cordon 0.1.0"
try $cordon --help
ok "--help lists every command" has "$out" "probe"
ok "--help goes to stdout with status 0" is "$status${err}" "0"
try $cordon
ok "no command is a usage error on stderr" is "$status$out" "2"
try $cordon chek
ok "an unknown command: did you mean" has "$err" "did you mean \`check\`"
ok "an unknown command is status 2" is "$status" 2
for command in check compile report probe run confine classify; do
	try $cordon $command --help
	ok "$command --help" has "$status $out" "0 cordon $command: "
done
try $cordon check --mode read-only x
ok "an option of another command is named" has "$err" "does not take --mode"
try $cordon compile --mod
ok "an unknown option is named" has "$err" "--mod"
try $cordon compile --mode workspace-wirte policies/default.cordon
ok "an unknown mode: did you mean" has "$err" "did you mean \`workspace-write\`"
try $cordon compile --set x policies/default.cordon
ok "--set without = " has "$status $err" "2 "
try $cordon compile --set a=1 --set a=2 policies/default.cordon
ok "--set twice" has "$err" "twice"

try $cordon compile -q --set hom=x policies/default.cordon
ok "--set of a variable that the policy does not have is an error" has "$status $err" "E032"
try $cordon compile -q --set workspace=/x policies/default.cordon
ok "--set of a built-in variable is an error" has "$status $err" "has a value of its own"

# check
w good.cordon <<'E'
cordon 1
policy p { ceiling workspace-write; on linux { hide /run } }
E
w plain.cordon <<'E'
cordon 1
policy p { ceiling workspace-write }
E
w bad.cordon <<'E'
cordon 1
policy p { hide ~/x optionl }
E
w warn.cordon <<'E'
cordon 1
policy p { ceiling workspace-write; mode read-only { write ~/x }; mode workspace-write { write ~/x } }
E
try $cordon check "$scratch/good.cordon"
ok "check: a clean file is status 0 and silent" is "$status$out$err" "0"
try $cordon check "$scratch/bad.cordon"
ok "check: an error is status 1" is "$status$out" "1"
ok "check: with place and code" has "$err" "bad.cordon:2:21: error[E014]"
try $cordon check "$scratch/warn.cordon"
ok "check: a warning is status 0" is "$status" 0
try $cordon check --deny warning "$scratch/warn.cordon"
ok "check: --deny warning makes it 1" is "$status" 1
try $cordon check "$scratch/good.cordon" "$scratch/bad.cordon" "$scratch/warn.cordon"
ok "check: one bad file does not hide the findings of the others" has "$err" "W107"
try $cordon check "$scratch/missing.cordon" "$scratch/bad.cordon"
ok "check: a missing file is status 2" is "$status" 2
ok "check: and the other file is checked" has "$err" "E014"
try $cordon check
ok "check: no file is status 2" is "$status" 2
try $cordon check "$scratch"
ok "check: a directory is status 2 and said" has "$status $err" "directory"
try bash -c "cat '$scratch/good.cordon' | $cordon check -"
ok "check: - is standard input" is "$status" 0
mkfifo "$scratch/fifo"
(cat "$scratch/bad.cordon" >"$scratch/fifo") &
try $cordon check "$scratch/fifo"
wait
ok "check: a FIFO is read" has "$status $err" "E014"
: >"$scratch/empty.cordon"
try $cordon check "$scratch/empty.cordon"
ok "check: an empty file is an error with a place" has "$status $err" "empty.cordon:1:1"
chmod 666 "$scratch/good.cordon"
try $cordon check "$scratch/good.cordon"
ok "check: a file that others can write is a warning" has "$status $err" "W109"
chmod 644 "$scratch/good.cordon"
try $cordon check --format json "$scratch/bad.cordon"
ok "check: --format json is JSON" python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
f = d["findings"][0]
assert d["version"] == 1 and f["code"] == "E014" and f["severity"] == "error"
assert f["place"]["line"] == 2 and f["place"]["column"] == 21, f
assert f["fix"]["text"] == "optional"' "$scratch/.out"
try $cordon check --color=always "$scratch/bad.cordon"
ok "check: --color=always paints" has "$err" $'\033[1;31m'
try $cordon check "$scratch/bad.cordon"
ok "check: no color without a terminal" hasnt "$err" $'\033'
{ echo 'cordon 1'; echo 'policy p { ceiling workspace-write'
	python3 -c 'print("\n".join("hide ~/d%d/%d optional" % (i % 1000, i) for i in range(1000001)))'; echo '}'; } >"$scratch/many.cordon"
try $cordon check "$scratch/many.cordon"
ok "check: one rule more than 1 000 000 is E012" has "$status $err" "E012"
rm "$scratch/many.cordon"
head -c 67108865 /dev/zero >"$scratch/large.cordon"
try $cordon check "$scratch/large.cordon"
ok "check: a byte more than 64 MiB is refused" has "$status $err" "2 cordon check"
rm "$scratch/large.cordon"

# compile
try $cordon compile -q "$scratch/good.cordon"
ok "compile: default mode and first backend" has "$out" "--ro-bind / /"
first=$out
try $cordon compile -q "$scratch/good.cordon"
ok "compile: the same bytes again" is "$out" "$first"
ok "compile: does not depend on this host" is \
	"$(cd / && HOME=/nowhere USER=x $cordon compile -q "$scratch/good.cordon")" "$first"
try $cordon compile -q --format nul "$scratch/good.cordon"
ok "compile: --format nul ends every field with NUL" is "$(tail -c 1 "$scratch/.out" | od -An -tx1 | tr -d ' ')" "00"
for odd in 'a b' "it's" 'a"b' '$x' '[x]*' $'new\nline'; do
	try $cordon compile -q --format sh --mode workspace-write --workspace "/w/$odd" --backend landlock "$scratch/plain.cordon"
	landlock_args() { eval "landlock-run() { printf '%s\\0' \"\$@\"; }; $out"; }
	ok "compile: --format sh gives the path back: $(printf %q "$odd")" is \
		"$(landlock_args | tr '\0\n' '\n?' | grep -cxF -- "/w/${odd//$'\n'/?}")" 1
done
try $cordon compile -q --format json "$scratch/good.cordon"
ok "compile: --format json is JSON" python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert d["backend"] == "bwrap" and d["enforcement"] == "partial", d
assert "--die-with-parent" in d["arguments"]' "$scratch/.out"
try $cordon compile -q --backend landlock --format json --mode read-only policies/default.cordon
ok "compile: landlock as JSON names rights and their ABI" python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
g = d["profile"]["grants"][0]
assert g["path"] == "/" and g["grant"] == "ro" and {"right": "read_dir", "abi": 1} in g["access"]' "$scratch/.out"
try $cordon compile --format plan "$scratch/good.cordon"
ok "compile: --format plan" has "$out" "hide  /run"
w carve.cordon <<'E'
cordon 1
policy p { default mode workspace-write; ceiling workspace-write; mode workspace-write { read ${workspace}/ro } }
E
try $cordon compile --backend landlock "$scratch/carve.cordon"
ok "compile: what landlock cannot express is status 1, no artifact" is "$status$out" "1"
ok "compile: and names the rule and its line" has "$err" "carve.cordon:2:95: error[E080]"
try $cordon compile -q --backend all "$scratch/carve.cordon"
ok "compile: under all it is a line" has "$status $out" "# cannot express the policy"
try $cordon compile --mode danger-full-access "$scratch/good.cordon"
ok "compile: danger-full-access has no profile and says why" has "$status $err" "E081"
try $cordon compile --mode workspace-write "$scratch/bad.cordon"
ok "compile: nothing is printed of a wrong policy" is "$status$out" "1"
w wrong-in-both.cordon <<'E'
cordon 1
policy base { hide ~/x locked }
policy default extends base { read ~/x/y }
E
try $cordon compile -o "$scratch/wrong" "$scratch/wrong-in-both.cordon"
ok "compile: a rule that is wrong in both modes gives no artifact in either" is \
	"$status $(ls "$scratch/wrong" 2>/dev/null | grep -v manifest)" "1 "
w unmet.cordon <<'E'
cordon 1
policy p { ceiling workspace-write; expect in read-only { deny read ~/x } }
E
try $cordon compile "$scratch/unmet.cordon"
ok "compile: an expectation that fails is an error here, too" has "$status$out $err" "1 "
ok "compile: and is shown" has "$err" "E059"
try $cordon compile -q -o "$scratch/bundle" "$scratch/carve.cordon"
ok "compile -o: files of a bundle" is "$status $(ls "$scratch/bundle" | tr '\n' ' ')" \
	"0 manifest.json read-only.bwrap read-only.landlock read-only.plan workspace-write.bwrap workspace-write.plan "
ok "compile -o: the manifest says why one is missing" python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
a = {(x["mode"], x["backend"]): x for x in d["artifacts"]}
assert a["workspace-write", "landlock"]["usable"] is False
assert a["workspace-write", "bwrap"]["file"] == "workspace-write.bwrap"' "$scratch/bundle/manifest.json"
try $cordon compile -o "$scratch/good.cordon/x" "$scratch/carve.cordon"
ok "compile -o: a directory that cannot be made is status 2" is "$status" 2

try $cordon compile -q policies/python.cordon
ok "compile: a snapshot is not compiled without knowing what it matches" has "$status $err" "E084"
w several.cordon <<'E'
cordon 1
policy a { }
policy b { }
E
try $cordon compile "$scratch/several.cordon"
ok "compile: which of several policies is not guessed" has "$status $err" "E049"
try $cordon compile -q --policy-name b "$scratch/several.cordon"
ok "compile: --policy-name says which" is "$status" 0
printf 'cordon 1\n' >"$scratch/none.cordon"
try $cordon compile "$scratch/none.cordon"
ok "compile: a file without a policy" has "$status $err" "E049"
w absent.cordon <<E
cordon 1
policy p { ceiling workspace-write; hide $scratch/absent }
E
try $cordon compile --host "$scratch/absent.cordon"
ok "compile --host: what is missing is taken as present, and said" has "$status $err" "N202"
w unlisted.cordon <<E
cordon 1
policy p { ceiling workspace-write; hide glob "$scratch/unlisted/*/key" snapshot }
E
mkdir -p "$scratch/unlisted"
(cd "$scratch/unlisted" && seq 100001 | xargs mkdir)
printf '%s\n' "$scratch"/unlisted/* | sed 's|$|/key|' | xargs touch
try $cordon compile --host "$scratch/unlisted.cordon"
ok "compile --host: more matches than the limit is an error, not fewer matches" has "$status $err" "E075"
rm -rf "$scratch/unlisted"

# report
try $cordon report -q "$scratch/carve.cordon"
ok "report: a row for every rule" has "$out" 'read ${workspace}/ro'
try $cordon report -q --format json "$scratch/carve.cordon"
ok "report: JSON" python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert [m["mode"] for m in d["modes"]] == ["read-only", "workspace-write"]
b = d["modes"][1]["backends"]
assert b[0]["enforcement"] == "full" and b[1]["enforcement"] == "none", b' "$scratch/.out"
w full.cordon <<'E'
cordon 1
policy p { ceiling workspace-write; require full on linux; hide glob "/srv/*/key" }
E
try $cordon report "$scratch/full.cordon"
ok "report: a requirement that no backend meets is status 1" has "$status $err" "E082"
try $cordon report "$scratch/missing.cordon"
ok "report: a missing file is status 2" is "$status" 2
try bash -c "$cordon report policies/default.cordon >/dev/full"
ok "report: a full disk is status 2" is "$status" 2
finish
