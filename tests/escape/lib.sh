# SPDX-License-Identifier: Apache-2.0
#
# A world to attack. The script runs itself again in a throw-away mount namespace
# with tmpfs over every place that it or a successful attack could write: there is
# never only the sandbox under test between an attack and the host. Needs root.
. "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"

if [ "$(id -u)" -ne 0 ]; then
	skip "attacks" "need root, to make a mount namespace and to run as another user"
	finish
fi
if [ -z "${CORDON_IN_NAMESPACE:-}" ]; then
	rm -rf "$scratch"
	trap - EXIT
	CORDON_IN_NAMESPACE=1 exec unshare --mount --propagation private \
		bash "$(realpath "$0")" "$@"
fi

T=/srv/t
user=1500
mount -t tmpfs -o mode=755 tmpfs /srv && mkdir -p $T/bin $T/etc || exit 2
cp "$B/cordon" "$B/cordon-init" "$B/landlock-run" "$B/tests/swapper" tests/escape/attack.py $T/bin/ || exit 2
chmod 755 $T/bin/*
cordon=$T/bin/cordon
A="python3 $T/bin/attack.py"
sed "/^tester:/d" /etc/passwd >$T/etc/passwd
echo "tester:x:$user:$user::$T/home:/bin/sh" >>$T/etc/passwd
mount --bind $T/etc/passwd /etc/passwd || exit 2
for d in /tmp /var/tmp /run /root; do
	mount -t tmpfs -o mode=1777 tmpfs $d || exit 2
done
chmod 700 /root
scratch=$T/scratch
mkdir -m 1777 $scratch
# What was not covered cannot be written by what runs from here on. (Not by a new
# mount over /: bwrap makes no user namespace in a changed root.)
mount -o remount,bind,ro / || exit 2
cleanup() { :; }

# world WHO: everything as it was, owned by WHO.
world() {
	rm -rf $T/ws* $T/outside $T/vault $T/home $T/x
	mkdir -p $T/ws/a/ro $T/ws/sub $T/outside/dir $T/vault $T/home/.ssh $T/home/.config/cordon
	for f in ws/a/ro/file ws/file outside/file outside/dir/file home/.profile home/.ssh/id; do
		echo original >$T/$f
	done
	echo secret >$T/vault/key
	printf '#!/bin/sh\necho secret\n' >$T/vault/program
	chmod 755 $T/vault/program
	mkfifo $T/outside/fifo
	[ "$1" = root ] || chown -R $user:$user $T/ws $T/outside $T/vault $T/home
	[ "$1" = root ] || chown $user:$user $T
	[ "$1" = user ] || chown 0:0 $T
}

# as WHO COMMAND…: cwd stays, environment of that user.
as() {
	local who=$1
	shift
	if [ "$who" = root ]; then
		env HOME=/root "$@"
	else
		setpriv --reuid $user --regid $user --clear-groups env HOME=$T/home "$@"
	fi
}

policy() { cat >$T/$1.cordon && chmod 644 $T/$1.cordon; }
cd $T || exit 2
