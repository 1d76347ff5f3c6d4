#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What the host mounts while a command runs, and what it had mounted a second time
# before. The control of each attack runs without the sandbox.
. "$(dirname "$0")/lib.sh"

# As on a host with systemd: what is mounted later arrives in namespaces made before.
touch $scratch/.out $scratch/.err
mount --make-rshared /srv

policy protect <<E
cordon 1
policy protect {
    default mode workspace-write
    mode workspace-write { read \${workspace}/a/ro }
}
E

# later WHO COMMAND…: a file system comes to lie below the carve-out while that runs,
# and it tries to write there. What it wrote is in $seen.
later() {
	local who=$1 i
	shift
	world "$who"
	mkdir $T/ws/a/ro/mnt
	[ "$who" = root ] || chown $user:$user $T/ws/a/ro/mnt
	(cd $T/ws && as "$who" "$@" sh -c '
		echo started >started
		i=0; while [ ! -e go ] && [ $i -lt 200 ]; do sleep 0.02; i=$((i + 1)); done
		echo evil >a/ro/mnt/file') >$T/log 2>&1 &
	local job=$!
	for ((i = 0; i < 200; i++)); do [ -e $T/ws/started ] && break || sleep 0.02; done
	mount -t tmpfs -o mode=1777 tmpfs $T/ws/a/ro/mnt
	touch $T/ws/go
	wait $job
	status=$?
	seen=$(cat $T/ws/a/ro/mnt/file 2>/dev/null || echo nothing)
	umount $T/ws/a/ro/mnt
}

for who in root user; do
	later $who env
	ok "$who: a later mount below a carve-out: the control writes" is "$seen" evil
	later $who $cordon run --backend bwrap --policy $T/protect.cordon --
	ok "$who: a later mount below a carve-out: bwrap" is "$status $seen" "2 nothing"
	later $who $cordon run --backend bwrap --json --policy $T/protect.cordon --
	ok "$who: and no gap is named" grep -q '"enforcement":"full","passedOver":\[\],"gaps":\[\]' $T/log
done
ok "a profile on its own names the gap" \
	grep -q later-mounts <<<"$($cordon compile --host --backend bwrap --workspace $T/ws $T/protect.cordon 2>&1 >$T/log)"
ok "the report of what run would do does not" \
	is "$($cordon report --host --backend bwrap --workspace $T/ws $T/protect.cordon 2>&1 | grep -c later-mounts)" 0

# Where cordon may make no namespace, but bwrap may (as AppArmor can have it).
for who in root user; do
	later $who $A no_mount_namespace $cordon run --backend bwrap --json --policy $T/protect.cordon --
	ok "$who: without a mount namespace of our own the gap is named" \
		grep -q '"enforcement":"partial".*later-mounts' $T/log
	sed 's/^    default/    require full on linux; default/' $T/protect.cordon >$T/full.cordon
	chmod 644 $T/full.cordon
	world $who
	(cd $T/ws && as $who $A no_mount_namespace $cordon run --backend bwrap --policy $T/full.cordon -- touch ran) 2>$T/log
	ok "$who: and under require full nothing runs" test $? = 125 -a ! -e $T/ws/ran
	ok "$who: because of it" grep -q later-mounts $T/log
done

# A FIFO takes what is written to it on a read-only mount, too. That is said.
world user
mkfifo $T/ws/a/ro/fifo && chown $user:$user $T/ws/a/ro/fifo
exec 7<>$T/ws/a/ro/fifo
(cd $T/ws && as user $cordon run --json --backend bwrap --policy $T/protect.cordon -- \
	sh -c 'echo evil >a/ro/fifo') >$T/log 2>&1
read -r -t 1 line <&7 && seen=$line || seen=nothing
exec 7>&-
grep -q '"enforcement":"full".*"exposures":.*fifos-below' $T/log && seen="$seen, named"
ok "a FIFO below a carve-out" is "$seen" "evil, named"
sed "s/a.ro/a\/ro\/fifo/" $T/protect.cordon >$T/fifo.cordon && chmod 644 $T/fifo.cordon
(cd $T/ws && as user $cordon run --json --backend bwrap --policy $T/fifo.cordon -- true) >$T/log 2>&1
ok "a FIFO as the carve-out is a gap" grep -q '"enforcement":"partial".*"fifos"' $T/log

# One object at two paths. What the report says of the gap is what gets through, at a
# path that the witness names; without a gap nothing does.
policy alias <<E
cordon 1
policy alias {
    default mode workspace-write
    hide $T/vault
    mode workspace-write { read \${workspace}/a/ro }
}
E
alias_of() { # name source target effect command gap
	world user
	mkdir "$T/ws/b c"
	mount --bind "$2" "$3" || echo "cannot mount"
	for backend in none bwrap; do
		if [ $backend = none ]; then
			(cd $T/ws && as user sh -c "$5") >$T/log 2>&1
			eval "$4" && seen=through || seen=denied
			ok "$1: the control gets through" is $seen through
			find $T -name file -exec sh -c 'echo original >"$1"' sh {} \;
			rm -f $T/ws/stolen
			continue
		fi
		(cd $T/ws && as user $cordon run --json --backend bwrap --policy $T/alias.cordon -- \
			sh -c "$5") >$T/log 2>&1
		eval "$4" && seen=through || seen=denied
		grep -q '"outcome":"exited"' $T/log || seen="broken: $(cat $T/log)"
		grep -q mount-alias $T/log && seen="$seen, named"
		ok "$1" is "$seen" "$6"
	done
	umount "$3"
}
alias_of "a carve-out bound into the workspace" $T/ws/a/ro "$T/ws/b c" "grep -q evil $T/ws/a/ro/file" 'echo evil >"b c/file"' "through, named"
alias_of "the parent of a carve-out" $T/ws/a "$T/ws/b c" "grep -q evil $T/ws/a/ro/file" 'echo evil >"b c/ro/file"' "through, named"
alias_of "a hidden directory" $T/vault "$T/outside/dir" "grep -qs secret $T/ws/stolen" 'cat ../outside/dir/key >stolen' "through, named"
alias_of "a hidden file by itself" $T/vault/key $T/home/.profile "grep -qs secret $T/ws/stolen" "cat ../home/.profile >stolen" "through, named"
alias_of "a carve-out bound to where nothing is written" $T/ws/a/ro $T/outside/dir "grep -q evil $T/ws/a/ro/file" 'echo evil >../outside/dir/file' denied
finish
