#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The catalogue of attacks. Each one runs three times as root and as an
# unprivileged user: without a sandbox (the control: it must get through, else it
# proves nothing), and under each backend, where it must have no effect. What a
# backend lets through is only accepted where its report names the gap.
. "$(dirname "$0")/lib.sh"

policy plain <<E
cordon 1
policy plain { default mode workspace-write }
E
policy protect <<E
cordon 1
policy protect {
    default mode workspace-write
    hide $T/vault
    mode workspace-write { read \${workspace}/a/ro, \${workspace}/a/ro/file }
}
E
policy quiet <<E
cordon 1
policy quiet { default mode workspace-write; network none }
E

# name | policy | who (r, u, ru) | attempt, in ws | effect, in the world
#      | gap of landlock, or `unsupported`, or nothing
attacks() {
	cat <<'LIST'
write|plain|ru|echo evil > ../outside/file|grep -q evil outside/file|
append|plain|ru|echo evil >> ../outside/file|grep -q evil outside/file|
create|plain|ru|echo evil > ../outside/new|test -e outside/new|
create in home|plain|ru|echo evil > ../home/.bashrc|test -e home/.bashrc|
mkdir|plain|ru|mkdir ../outside/new|test -d outside/new|
mkfifo|plain|ru|mkfifo ../outside/new|test -p outside/new|
symlink outside|plain|ru|ln -s x ../outside/new|test -L outside/new|
unlink|plain|ru|rm -f ../outside/file|test ! -e outside/file|
rmdir|plain|ru|rm -rf ../outside/dir|test ! -e outside/dir/file|
truncate(2)|plain|ru|$A truncate ../outside/file|test ! -s outside/file|
open for reading with O_TRUNC|plain|ru|$A rdtrunc ../outside/file|test ! -s outside/file|
through a symbolic link|plain|ru|ln -s $T/outside/file l; echo evil > l|grep -q evil outside/file|
directory swapped for a link|plain|ru|rm -rf sub; ln -s $T/outside sub; echo evil > sub/file|grep -q evil outside/file|
hard link into the workspace|plain|ru|ln ../outside/file l; echo evil > l|grep -q evil outside/file|
rename out of a place|plain|ru|mv ../outside/file x|test ! -e outside/file|
rename over a file|plain|ru|echo evil > x; mv x ../outside/file|grep -q evil outside/file|
rename to a new name|plain|ru|echo evil > x; mv x ../outside/new|test -e outside/new|
exchange names|plain|ru|echo evil > x; $A exchange x ../outside/file|grep -q evil outside/file|
rename the writable root|plain|ru|mv ../ws ../ws2|test -d ws2|
O_TMPFILE outside|plain|ru|$A tmpfile ../outside ../outside/new|test -e outside/new|
O_TMPFILE linked outside|plain|ru|$A tmpfile . ../outside/new|test -e outside/new|
re-open a read-only descriptor|plain|ru|$A reopen ../outside/file|grep -q evil outside/file|
re-open an O_PATH descriptor|plain|ru|$A reopen_path ../outside/file|grep -q evil outside/file|
re-open standard input|plain|ru|$A stdio 0|grep -q evil outside/file|
root of a process outside|plain|ru|$A proc_root $outsider $T/outside/file|grep -q evil outside/file|
working directory of a process outside|plain|ru|$A proc_cwd $outsider outside/file|grep -q evil outside/file|
memory of a process outside|plain|ru|$A proc_mem $outsider && touch through|test -e ws/through|
trace a process outside|plain|ru|$A ptrace $outsider && touch through|test -e ws/through|
kill a process outside|plain|ru|$A kill $outsider|! kill -0 $outsider|
mode|plain|ru|chmod 777 ../outside/file|test -x outside/file|metadata-writes
set-user-id bit|plain|ru|chmod u+s ../outside/file|test -u outside/file|metadata-writes
times|plain|ru|$A utime ../outside/file|test "$(stat -c %Y outside/file)" = 0|metadata-writes
owner|plain|r|chown 7 ../outside/file|test "$(stat -c %u outside/file)" = 7|metadata-writes
FIFO|plain|ru|$A fifo ../outside/fifo|read -r -t 0.2 line <&7 && test "$line" = evil|
device node|plain|r|$A mknod_block dev|test -b ws/dev|root-devices
remount the root|plain|r|$A remount /srv; echo evil > ../outside/file|grep -q evil outside/file|
bind over a path|plain|r|$A bind ../outside . && echo evil > $T/ws/file|grep -q evil outside/file|
mount_setattr on a clone|plain|r|$A open_tree_rw $T/outside file|grep -q evil outside/file|
chroot|plain|r|$A chroot_write $T/outside /file|grep -q evil outside/file|
open_by_handle_at|plain|r|$A by_handle $T $T/outside/file|grep -q evil outside/file|
core_pattern|plain|r|$A same /proc/sys/kernel/core_pattern && touch through|test -e ws/through|
mmap of a read-only descriptor|plain|ru|$A mmap_shared file && $A mmap_shared ../outside/file; echo evil > ../outside/file|grep -q evil outside/file|
abstract socket|quiet|ru|$A abstract $sock through|test -e ws/through|unsupported
TCP to the host|quiet|ru|$A tcp $port through|test -e ws/through|unsupported
write in a carve-out|protect|ru|echo evil > a/ro/file|grep -q evil ws/a/ro/file|unsupported
create in a carve-out|protect|ru|echo evil > a/ro/new|test -e ws/a/ro/new|unsupported
unlink in a carve-out|protect|ru|rm -f a/ro/file|test ! -e ws/a/ro/file|unsupported
rename over a carve-out|protect|ru|mkdir x; rm -rf a/ro; mv x a/ro; echo evil > a/ro/file|grep -q evil ws/a/ro/file|unsupported
carve-out, parent renamed|protect|ru|mv a x; mkdir -p a/ro; echo evil > a/ro/file|grep -q evil ws/a/ro/file|unsupported
carve-out, parent exchanged|protect|ru|mkdir -p x/ro; echo evil > x/ro/file; $A exchange a x|grep -q evil ws/a/ro/file|unsupported
carve-out, parent removed for a link|protect|ru|mkdir -p x/ro; echo evil > x/ro/file; rm -rf a; ln -s x a|grep -q evil ws/a/ro/file|unsupported
carve-out, hard link out|protect|ru|ln a/ro/file l; echo evil > l|grep -q evil ws/a/ro/file|unsupported
carve-out, mode|protect|ru|chmod 777 a/ro/file|test -x ws/a/ro/file|unsupported
carve-out, remounted|protect|r|$A remount $T/ws/a/ro; echo evil > a/ro/file|grep -q evil ws/a/ro/file|unsupported
carve-out, unmounted|protect|ru|$A umount $T/ws/a/ro; echo evil > a/ro/file|grep -q evil ws/a/ro/file|unsupported
carve-out, remounted in a user namespace|protect|ru|$A userns_remount $T/ws/a/ro; echo evil > a/ro/file|grep -q evil ws/a/ro/file|unsupported
hidden file|protect|ru|cat ../vault/key > stolen|grep -q secret ws/stolen|unsupported
hidden listing|protect|ru|ls ../vault > stolen|grep -q key ws/stolen|unsupported
hidden program|protect|ru|../vault/program > stolen|grep -q secret ws/stolen|unsupported
hidden file through /proc/self/root|protect|ru|cat /proc/self/root$T/vault/key > stolen|grep -q secret ws/stolen|unsupported
hidden file through a process outside|protect|ru|cat /proc/$outsider/root$T/vault/key > stolen|grep -q secret ws/stolen|unsupported
hidden directory, mode changed|protect|ru|chmod 755 ../vault; cat ../vault/key > stolen|grep -q secret ws/stolen|unsupported
hidden directory, unmounted|protect|ru|$A umount $T/vault; cat ../vault/key > stolen|grep -q secret ws/stolen|unsupported
hidden directory, written|protect|ru|chmod 755 ../vault; echo evil > ../vault/new|test -e vault/new|unsupported
LIST
}

sock=cordon-test-$$
# Processes and sockets outside, for the attacks on them.
start_outside() { # who
	local id=0
	[ "$1" = root ] || id=$user
	(cd $T && exec setpriv --reuid $id --regid $id --clear-groups sleep 1000) &
	outsider=$!
	python3 -c '
import socket, sys
a = socket.socket(socket.AF_UNIX); a.bind("\0" + sys.argv[1]); a.listen(64)
t = socket.create_server(("127.0.0.1", 0))
print(t.getsockname()[1], flush=True)
import time; time.sleep(1000)' "$sock" >$T/port &
	listener=$!
	while [ ! -s $T/port ]; do sleep 0.02; done
	port=$(cat $T/port)
}
stop_outside() { # silent: a control may have killed one
	kill "$outsider" "$listener"
	wait "$outsider" "$listener"
	rm -f $T/port
} 2>/dev/null

# Runs one attempt and says through, denied or refused.
attempt() { # who backend policy command effect
	local status line
	world "$1"
	kill -0 "$outsider" 2>/dev/null || { stop_outside; start_outside "$1"; }
	exec 7<>$T/outside/fifo
	local script="A='$A' T=$T outsider=$outsider port=$port sock=$sock; cd $T/ws; $4"
	if [ "$2" = none ]; then
		# The control writes nowhere but in this namespace.
		(cd $T/ws && as "$1" sh -c "$script") <$T/outside/file >$T/log 2>&1
	else
		(cd $T/ws && as "$1" $cordon run --backend "$2" --policy $T/$3.cordon -- \
			sh -c "$script") <$T/outside/file >$T/log 2>&1
	fi
	status=$?
	if (cd $T && eval "$5") 2>/dev/null; then
		seen=through
	elif [ $status -eq 125 ]; then
		seen=refused
	else
		seen=denied
	fi
	exec 7>&-
	# Mounts that a control made go with it.
	while umount -l $T/ws 2>/dev/null; do :; done
}

for who in root user; do
	start_outside $who
	while IFS='|' read -r name policy whom command effect landlock; do
		case $whom in *"${who:0:1}"*) ;; *) continue ;; esac
		attempt $who none "$policy" "$command" "$effect"
		ok "$who: $name: the control gets through" is "$seen" through
		attempt $who bwrap "$policy" "$command" "$effect"
		ok "$who: $name: bwrap" is "$seen" denied
		attempt $who landlock "$policy" "$command" "$effect"
		case $landlock in
		'') want=denied ;;
		unsupported) want=refused ;;
		*) want=through ;;
		esac
		ok "$who: $name: landlock${landlock:+ ($landlock)}" is "$seen" $want
	done < <(attacks)
	stop_outside
done
finish
