#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What a policy says of time and environment, and what the command gets of it; the
# result as JSON, field by field.
. "$(dirname "$0")/lib.sh"
mkdir "$scratch/ws"
w() { cat >"$scratch/$1.cordon"; chmod 644 "$scratch/$1.cordon"; }
run() { (cd "$scratch/ws" && exec $cordon run "$@"); }
json() { tail -n 1 "$scratch/.out" | python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }
w plain <<'E'
cordon 1
policy plain { default mode workspace-write }
E
w limits <<'E'
cordon 1
policy base { default mode workspace-write; limits { timeout 1h } }
policy default extends base { limits { timeout 300ms; output 1MiB } }
E
w environment <<'E'
cordon 1
policy p {
    default mode workspace-write
    environment { clear; keep PATH, "LC_*", HOME; drop "*_SECRET", LC_ALL; set CI = "1"; set HOME = "/x"; set EMPTY = "" }
}
E
w drop <<'E'
cordon 1
policy base { default mode workspace-write; environment { set BASE = "1" } }
policy default extends base { environment { drop "AWS_*" } }
E

for backend in bwrap landlock; do
	began=$(date +%s%N)
	try run --backend $backend --policy "$scratch/plain.cordon" --timeout 1s -- \
		sh -c 'trap "" TERM; (sleep 3001 &) ; sleep 3001'
	ms=$((($(date +%s%N) - began) / 1000000))
	ok "$backend: a command that ignores SIGTERM ends in under 4 s with 124" test "$status" = 124 -a $ms -lt 4000
	ok "$backend: and leaves no process" is "$(pgrep -cf 'sleep 3001')" 0
	try run --backend $backend --policy "$scratch/plain.cordon" --timeout 300ms -- \
		sh -c 'trap "echo bye; exit 3" TERM; sleep 9 & wait'
	ok "$backend: one that heeds it may say good-bye, and has timed out all the same" is "$status $out" "124 bye"
	try run --backend $backend --policy "$scratch/limits.cordon" --json -- sleep 9
	ok "$backend: the policy's limit holds, the child's value replaces the parent's" is \
		"$status $(json 'd["outcome"], d["exitCode"]')" "124 ('timeout', -101)"
	try run --backend $backend --policy "$scratch/limits.cordon" -- sh -c 'exit 4'
	ok "$backend: a command in time is untouched" is "$status" 4
	try run --backend $backend --policy "$scratch/limits.cordon" --timeout 1s -- touch through
	ok "$backend: more than the policy gives is an error with its place" has "$status $err" "125 $scratch/limits.cordon:3:40: error[E086]"
	ok "$backend: and runs nothing" test ! -e "$scratch/ws/through"

	try env -i PATH="$PATH" LC_ALL=C LC_X=y A_SECRET=1 FOO=1 HOME=/root bash -c "cd '$scratch/ws' && $cordon run --backend $backend --policy $scratch/environment.cordon -- env"
	ok "$backend: environment: clear, keep, drop, set" is "$(echo "$out" | grep -vE '^(PATH|PWD|TMP|TEMP|TMPDIR)=' | sort | tr '\n' ' ')" "CI=1 EMPTY= HOME=/x LC_X=y "
	try env AWS_KEY=1 FOO=1 bash -c "cd '$scratch/ws' && $cordon run --backend $backend --policy $scratch/drop.cordon -- env"
	ok "$backend: environment: without clear the rest stays; a child's block replaces the parent's" is \
		"$(echo "$out" | grep -E '^(AWS_KEY|FOO|BASE)=')" "FOO=1"

	try run --backend $backend --policy "$scratch/plain.cordon" --json -- sh -c 'echo out; echo err >&2; exit 5'
	ok "$backend: --json is the last line of stdout" is "$status $(head -n 1 "$scratch/.out") $err $(json 'd["exitCode"], d["outcome"], d["backend"]')" "5 out err (5, 'exited', '$backend')"
	ok "$backend: resources were measured" is "$(json 'd["durationMs"] > 0 and d["cpuMs"] >= 0 and d["maxRssKiB"] > 0')" True
	try run --backend $backend --policy "$scratch/plain.cordon" --json -- sh -c 'kill -9 $$'
	ok "$backend: a signal is a signal" is "$status $(json 'd["outcome"], d["signal"], d["exitCode"]')" "137 ('signaled', 9, None)"
	try run --backend $backend --policy "$scratch/plain.cordon" --json -- no-such-program
	ok "$backend: a missing program" is "$status $(json 'd["outcome"]')" "127 exec-failed"
	(cd "$scratch/ws" && $cordon run --backend $backend --policy "$scratch/plain.cordon" --json-fd 9 -- sh -c 'echo forged >&9' 9>"$scratch/fd9") >/dev/null 2>&1
	ok "$backend: --json-fd is not the command's to write" is "$(wc -l <"$scratch/fd9") $(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["outcome"])' "$scratch/fd9")" "1 exited"

	# Captured output.
	try run --backend $backend --policy "$scratch/plain.cordon" --capture --json -- sh -c 'echo out; echo err >&2; exit 5'
	ok "$backend: --capture: streams apart, nothing else on stdout" is \
		"$status $(wc -l <"$scratch/.out") $(json 'd["stdout"], d["stderr"], d["truncated"], d["denied"]')" "5 1 ('out\\n', 'err\\n', False, False)"
	try run --backend $backend --policy "$scratch/plain.cordon" --capture --json -- sh -c 'printf "\377\0x"'
	ok "$backend: --capture: bytes that are no text are base64" is "$(json 'd["stdout"]')" "{'base64': '/wB4'}"
	try run --backend $backend --policy "$scratch/plain.cordon" --capture --json -- sh -c 'echo evil > /etc/cordon-test'
	ok "$backend: denied, with the line that shows it" is "$(json 'd["denied"], "/etc/cordon-test" in d["reason"]')" "(True, True)"
	try run --backend $backend --policy "$scratch/plain.cordon" --capture --json -- sh -c 'echo "Permission denied" >&2; echo "Read-only file system" >&2'
	ok "$backend: a command that succeeds was not denied" is "$(json 'd["denied"]')" False
	try run --backend $backend --policy "$scratch/plain.cordon" --json -- sh -c 'echo evil > /etc/cordon-test'
	ok "$backend: without --capture nothing is claimed of it" is "$(json 'd["denied"]')" None
	try run --backend $backend --policy "$scratch/plain.cordon" --capture --json --timeout 300ms -- sh -c 'echo early; sleep 9'
	ok "$backend: --capture: what was said before a timeout is kept" is "$(json 'd["outcome"], d["stdout"]')" "('timeout', 'early\\n')"
	try run --backend $backend --policy "$scratch/limits.cordon" --capture --output 2MiB --json -- true
	ok "$backend: more output than the policy gives is an error" has "$status $err" "E086"
	try python3 -c '
import json, resource, subprocess, sys
p = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE)
d = json.loads(p.stdout)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(p.returncode, d["outcome"], d["truncated"], len(d["stdout"]) < 1100000, d["stdout"].endswith("cut at 1048576 bytes]\n"), peak < 32 * 1024)' \
		$cordon run --backend $backend --policy "$scratch/plain.cordon" --workspace "$scratch/ws" --capture --output 1MiB --json -- \
		sh -c 'yes | head -c 1G; echo end > '"$scratch/ws/end"
	ok "$backend: a flood is cut, in less than 32 MiB, and the command goes on to its end" is \
		"$out $(cat "$scratch/ws/end")" "0 exited True True True True end"
	rm -f "$scratch/ws/end"
done
try run --policy "$scratch/plain.cordon" --capture -- touch through
ok "--capture without --json is refused" test "$status" = 125 -a ! -e "$scratch/ws/through"
for bad in 0s 5 -1s 1d 5e3s 99999999999h ''; do
	try run --policy "$scratch/plain.cordon" --timeout "$bad" -- touch through
	ok "--timeout '$bad' is refused" test "$status" = 125 -a ! -e "$scratch/ws/through"
done
try env LC_ALL=C A_SECRET=1 FOO=1 bash -c "cd '$scratch/ws' && $cordon run --mode danger-full-access --policy $scratch/environment.cordon -- env"
ok "environment holds in danger-full-access, too" is "$(echo "$out" | grep -cE '^(LC_ALL|A_SECRET|FOO)=')" 0

# Where the policy is.
(
	cd "$scratch/ws" && mkdir -p sub && ln -sfn / link
)
try run --policy ../plain.cordon -- true
ok "--policy by \`..\` is found" is "$status $err" "0 "
try run --policy ./sub/../../plain.cordon -- true
ok "--policy by more of it, too" is "$status $err" "0 "
try run --policy "link/..$scratch/plain.cordon" -- touch through
ok "\`..\` behind a link is refused with its reason" has "$status $err" \
	"125 cordon: error[E046]: \`$scratch/ws/link/..$scratch/plain.cordon\`: \`..\` behind the symbolic link \`$scratch/ws/link\`; name the file without it"
ln "$scratch/plain.cordon" "$scratch/ws/second"
try run --policy ../plain.cordon -- touch through
ok "a policy that has a second name is refused" has "$status $err" "125 ../plain.cordon:1:1: error[E077]: "
ok "it is said why" has "$err" "has another name (a hard link), and can be changed through it"
rm "$scratch/ws/second"
ok "nothing ran" test ! -e "$scratch/ws/through"
mkfifo "$scratch/fifo"
for signal in INT TERM; do
	try timeout --foreground -s $signal 1 bash -c "cd '$scratch/ws' && exec $cordon run --policy ../fifo -- touch through"
	ok "a FIFO that nobody fills: SIG$signal ends the wait" is "$status" 124
done
(cd "$scratch/ws" && $cordon run --json --policy ../plain.cordon -- sh -c 'exit 7') >/dev/full 2>/dev/null
status=$?
ok "a result that cannot be written does not say that nothing ran" is "$status" 7

# cordon itself decides, too.
mkdir "$scratch/ws/bin" && cp "$B/cordon" "$B/cordon-init" "$B/landlock-run" "$scratch/ws/bin"
for backend in bwrap landlock; do
	try bash -c "cd '$scratch/ws' && bin/cordon run --backend $backend --policy ../plain.cordon -- \
		sh -c 'mv bin/cordon x; echo evil >bin/cordon; touch ran'"
	ok "$backend: cordon in a writable root cannot be replaced ($status)" cmp -s "$B/cordon" "$scratch/ws/bin/cordon"
	rm -f "$scratch/ws/ran"
done

# With \`temp host\` the command cannot make, and hold open, the place where the private
# directories of other runs will be.
w host <<'E'
cordon 1
policy p { default mode workspace-write; temp host }
E
parent=/tmp/cordon-$(id -u)
try run --policy "$scratch/host.cordon" --backend bwrap -- mkdir "$parent/x"
ok "temp host: the parent of private directories is not the command's to make" has "$status $err" "1 mkdir: cannot create directory"
ok "temp host: nothing of it is left" test ! -e "$parent"
finish
