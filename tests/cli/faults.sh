#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Faults that users of sandbox policies met elsewhere, each as the kind of fault that
# must not happen here. The names in brackets are where it was reported.
. "$(dirname "$0")/lib.sh"
w() { cat >"$scratch/$1.cordon"; chmod 644 "$scratch/$1.cordon"; }
mkdir -p "$scratch/ws"
run() { # backend policy command…
	local backend=$1 policy=$2
	shift 2
	(cd "$scratch/ws" && $cordon run --backend "$backend" --policy "$scratch/$policy.cordon" -- "$@")
}
w plain <<'E'
cordon 1
policy plain { default mode workspace-write }
E

# Size (codex #22889, bubblewrap #703; claude-code #74081)
w large <<E
cordon 1
policy large {
    default mode workspace-write
    read $scratch/ws optional
    mode workspace-write {
$(for i in $(seq 3100); do echo "        write \${workspace}/d$i"; done)
    }
}
E
(cd "$scratch/ws" && seq 3100 | sed 's/^/d/' | xargs mkdir)
sed -i 's/^    read .* optional$//; s/write/read/' "$scratch/large.cordon"
sed -i 's/default mode workspace-read/default mode workspace-write/; s/mode workspace-read {/mode workspace-write {/' "$scratch/large.cordon"
try run bwrap large true
ok "too many mounts for bwrap: nothing runs, the rule is named" has "$status $err" "E079"
rm -rf "$scratch/ws"/d*
mkdir -p "$scratch/ws/many" && (cd "$scratch/ws/many" && seq 400 | xargs mkdir)
w many <<E
cordon 1
policy many {
    default mode workspace-write
    mode workspace-write {
$(for i in $(seq 400); do echo "        read \${workspace}/many/$i"; done)
    }
}
E
try run bwrap many echo hello
ok "hundreds of carve-outs do not make a command too long" is "$status $out" "0 hello"

# Temporary directory (claude-code #29329, #92590, #43096)
for backend in bwrap landlock; do
	try run $backend plain sh -c 'echo x > "$TMPDIR/f" && [ "$TMP" = "$TMPDIR" ] && [ "$TEMP" = "$TMPDIR" ] && stat -c %a "$TMPDIR"'
	ok "$backend: TMPDIR is there, is granted, and is private" is "$status $out" "0 700"
	try env TMPDIR=/nowhere TMP=/nowhere $cordon run --backend $backend --mode read-only --policy "$scratch/plain.cordon" --workspace "$scratch/ws" -- sh -c 'echo "[$TMPDIR$TMP$TEMP]"'
	ok "$backend: without a temporary directory the variables are unset" is "$status $out" "0 []"
	# Devices (codex #16451; OpenShell #749)
	try run $backend plain sh -c 'echo x > /dev/null && head -c 4 /dev/zero | wc -c && head -c 4 /dev/urandom | wc -c'
	ok "$backend: the usual devices work" is "$status $out" $'0 4\n4'
	# Truthfulness (codex #4859; the same kind: a child that fails is a child)
	try run $backend plain sh -c 'exit 1'
	ok "$backend: a command that fails is not a sandbox that failed" is "$status$err" 1
	for line in "bwrap: Can't mount proc" 'landlock-run: x'; do
		for code in 1 125; do
			try run $backend plain sh -c 'echo "$1" >&2; exit $2' sh "$line" $code
			ok "$backend: a child that prints \`$line\` and exits $code is the child" is "$status $err" "$code $line"
		done
	done
	try run $backend plain no-such-program
	ok "$backend: a missing program is 127" is "$status" 127
	try run $backend plain /etc
	ok "$backend: a directory as program is 126" is "$status" 126
	try run $backend plain sh -c 'kill -TERM $$'
	ok "$backend: a signal is 128+n" is "$status" 143
	printf 'echo from a script without a head\n' >"$scratch/ws/script"
	chmod 755 "$scratch/ws/script"
	try run $backend plain ./script
	ok "$backend: a script without #! runs as in a shell" is "$status $out" "0 from a script without a head"
done
w pty <<'E'
cordon 1
policy pty { default mode workspace-write; devices pty }
E
try run bwrap pty python3 -c 'import os, pty; m, s = pty.openpty(); os.write(m, b"x\n"); print(os.read(s, 2))'
ok "bwrap: \`devices pty\` makes new terminals" is "$status $out" "0 b'x\\n'"
try run bwrap plain python3 -c 'import os; os.openpty()'
ok "bwrap: and \`standard\` does not" is "$status" 1
try run landlock pty true
ok "landlock: \`devices pty\` is refused: terminals of others cannot be told apart" has "$status $err" "cannot be told from those of other sessions"
try run bwrap plain python3 -c 'from multiprocessing import Pool; print(Pool(2).map(abs, [-1, -2]))'
ok "bwrap: shared memory works" is "$status $out" "0 [1, 2]"

# Configuration that is not understood (srt #434; claude-code #92365; codex #46252)
w unknown <<'E'
cordon 1
policy p { default mode workspace-write; hide-all ~/x; ceiling workspace-write }
E
try run bwrap unknown touch through
ok "an unknown word runs nothing" test "$status" = 125 -a ! -e "$scratch/ws/through"
w ceiling <<'E'
cordon 1
policy p { ceiling read-only }
E
try $cordon run --policy "$scratch/ceiling.cordon" --mode workspace-write --workspace "$scratch/ws" -- true
ok "a mode above the ceiling is an error, not another mode" has "$status $err" "125 "
ok "and names both" has "$err" ceiling
try $cordon run --policy "$scratch/missing.cordon" -- true
ok "a missing policy runs nothing" is "$status" 125
try $cordon run --policy "$scratch/ceiling.cordon" --mode danger-full-access -- true
ok "full access above the ceiling runs nothing" is "$status" 125
w wide <<'E'
cordon 1
policy p { default mode danger-full-access }
E
try $cordon run --policy "$scratch/wide.cordon" -- true
ok "full access by a policy's default alone runs nothing" is "$status" 125
try $cordon run --policy "$scratch/wide.cordon" --mode danger-full-access -- sh -c 'exit 5'
ok "full access that was asked for by name runs" is "$status" 5
w promises <<'E'
cordon 1
policy p { default mode workspace-write; guard { deny command rm } }
E
try run bwrap promises true
ok "a promise that cannot be kept yet is not run without it" has "$status $err" "E078"

w hidden <<E
cordon 1
policy p { default mode workspace-write; hide /usr/bin/true, $scratch/ws/interpreter optional }
E
try run bwrap hidden true
ok "a program that the policy hides is not run, and the rule is named" has "$status $err" "E085"
echo '#!/bin/sh' >"$scratch/ws/interpreter"
printf '#!%s/ws/interpreter\n' "$scratch" >"$scratch/ws/program"
chmod 755 "$scratch/ws/interpreter" "$scratch/ws/program"
try run bwrap hidden ./program
ok "nor one whose interpreter it hides" has "$status $err" "the interpreter"

# Where a sandbox runs inside another one (srt #67; gitmoot #1812)
try $B/landlock-run --ro / --rw /dev/null --rw /tmp --rw /var/tmp -- $cordon probe --policy "$scratch/plain.cordon" --workspace "$scratch/ws"
ok "inside another sandbox bwrap is called nested, not missing" has "$out" "bwrap: nested"
try $B/landlock-run --ro / --rw /dev/null --rw /tmp --rw /var/tmp -- $cordon run --policy "$scratch/plain.cordon" --workspace "$scratch/ws" -- sh -c 'echo ran'
ok "and the next backend is used" is "$status $out" "0 ran"
finish
