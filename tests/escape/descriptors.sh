#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Descriptors that the command inherits on purpose: 0, 1 and 2. Each attack runs
# without a sandbox first, where it must get through.
. "$(dirname "$0")/lib.sh"

policy protect <<E
cordon 1
policy protect {
    default mode workspace-write
    hide $T/vault
    mode workspace-write { read \${workspace}/a/ro }
}
E
policy plain <<E
cordon 1
policy plain { default mode workspace-write }
E

# with POLICY BACKEND ARGV…: as the user, in the workspace.
with() {
	local policy=$1 backend=$2
	shift 2
	if [ "$backend" = none ]; then
		(cd $T/ws && as user "$@")
	else
		(cd $T/ws && as user $cordon run --backend "$backend" --policy $T/$policy.cordon -- "$@")
	fi
}

world user
for backend in none bwrap landlock; do
	[ $backend = none ] && want=through || want=denied
	while IFS='|' read -r name policy file command effect; do
		# What Landlock refuses to run at all proves nothing of it.
		[ "$backend $policy" != "landlock protect" ] || continue
		world user
		with "$policy" $backend sh -c "A='$A'; $command" <$T/"$file" >/dev/null 2>&1
		(cd $T && eval "$effect") && seen=through || seen=denied
		ok "$backend: $name" is $seen $want
	done <<'LIST'
a file outside on 0, opened again for writing|plain|outside/file|$A stdio 0|grep -q evil outside/file
a file outside on 0, its mode|plain|outside/file|$A fchmod 0|test -x outside/file
a carve-out's file on 0, opened again for writing|protect|ws/a/ro/file|$A stdio 0|grep -q evil ws/a/ro/file
a carve-out's file on 0, its mode|protect|ws/a/ro/file|$A fchmod 0|test -x ws/a/ro/file
a hidden file on 0, opened again for writing|protect|vault/key|$A stdio 0|grep -q evil vault/key
LIST
done

# feed FILE ARGV…: like try, with this on 0.
feed() {
	local file=$1
	shift
	"$@" >"$scratch/.out" 2>"$scratch/.err" <"$file"
	status=$?
	out=$(cat "$scratch/.out")
	err=$(cat "$scratch/.err")
}

for backend in none bwrap landlock; do
	for fd in 0 1 2; do
		world user
		# (Python does not start with a directory as one of these.)
		script="exec 5<&$fd $fd</dev/null; $A inherited_dir 5"
		# What cordon says comes by the descriptor that is left.
		case $fd in
		0) with plain $backend sh -c "$script" <$T/outside >$T/log 2>&1 ;;
		1) with plain $backend sh -c "$script" 1<$T/outside 2>$T/log ;;
		2) (exec 9>$T/log && cd $T/ws && if [ $backend = none ]; then
			as user sh -c "$script" 2<$T/outside
		else
			as user $cordon run --json-fd 9 --backend $backend --policy $T/plain.cordon \
				-- sh -c "$script" 2<$T/outside
		fi) ;;
		esac
		status=$?
		if [ $backend = none ]; then
			ok "the control: a file is made through a directory on $fd" \
				test -e $T/outside/inherited
			continue
		fi
		ok "$backend: a directory on $fd is refused" is $status 125
		ok "$backend: a directory on $fd: nothing came of it" test ! -e $T/outside/inherited
		ok "$backend: a directory on $fd: it is said" \
			grep -q "is a directory: through it the command" $T/log
	done
done

for backend in bwrap landlock; do
	world user
	feed $T/outside/file with plain $backend cat
	ok "$backend: a file on 0 is read as it is" is "$out" original
	exec {part}<$T/outside/file
	dd bs=1 count=4 of=/dev/null status=none <&$part
	with plain $backend cat <&$part >$T/log
	exec {part}<&-
	ok "$backend: a file on 0 is read from where it stands" is "$(cat $T/log)" inal
	feed $T/ws/file with plain $backend sh -c 'stat -L -c %i /proc/self/fd/0; stat -c %i file'
	ok "$backend: a file of the workspace on 0 is itself" is "$(sort -u <<<"$out" | wc -l)" 1
	truncate -s 257M $T/outside/large
	feed $T/outside/large with plain $backend touch ran
	ok "$backend: a file of 257 MiB from outside on 0 is refused" is "$status" 125
	ok "$backend: it is said what to do" grep -q "pass it through a pipe" <<<"$err"
	ok "$backend: nothing ran" test ! -e $T/ws/ran
done
finish
