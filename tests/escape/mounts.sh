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
	grep -q later-mounts <<<"$($cordon report --host --backend bwrap --workspace $T/ws $T/protect.cordon)"

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
finish
