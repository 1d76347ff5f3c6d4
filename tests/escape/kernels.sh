#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Hosts on which something does not work, made on this one: Landlock missing, old or
# refusing by fault injection (strace), user namespaces used up in a namespace of our
# own, /proc masked. The right verdict, and under `require full` nothing runs.
. "$(dirname "$0")/lib.sh"

policy plain <<E
cordon 1
policy plain { default mode workspace-write }
E
policy full <<E
cordon 1
policy full { default mode workspace-write; require full on linux }
E
world root
cd $T/ws || exit 2
json() { tail -n 1 "$scratch/.out" | python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }
inject() { # injections… -- command…
	local options=()
	while [ "$1" != -- ]; do
		options+=(-e "inject=$1")
		shift
	done
	shift
	# The leak checker traces, too, and cannot do so under strace.
	ASAN_OPTIONS=detect_leaks=0 strace -f -qqq -o /dev/null -e trace=landlock_create_ruleset,landlock_restrict_self "${options[@]}" "$@"
}
run() { $cordon run --policy "$T/$1.cordon" "${@:2}"; }
evil='echo evil > ../outside/file; echo ran > ran'

# Landlock that the kernel does not have, or that is switched off.
for error in ENOSYS EOPNOTSUPP; do
	rm -f ran
	try inject landlock_create_ruleset:error=$error -- $cordon run --policy $T/plain.cordon --backend landlock -- sh -c "$evil"
	ok "landlock, $error: nothing runs" test "$status" = 125 -a ! -e ran
	try inject landlock_create_ruleset:error=$error -- $cordon run --policy $T/plain.cordon --backend bwrap --json -- sh -c "$evil"
	ok "bwrap without the second lock, $error: partial, and the gaps are named" is \
		"$(json 'd["enforcement"], sorted(g["code"] for g in d["gaps"])')" "('partial', ['fifos', 'inherited-stdio'])"
	ok "bwrap without the second lock, $error: and it still confines" is "$(cat ran $T/outside/file)" $'ran\noriginal'
	rm -f ran
	try inject landlock_create_ruleset:error=$error -- $cordon run --policy $T/full.cordon -- sh -c "$evil"
	ok "require full, $error: nothing runs" test "$status" = 125 -a ! -e ran
	ok "require full, $error: and says why" has "$err" "requires full enforcement"
done

# An old ABI: named, not called full, and still enforced. (The hidden parent of private
# directories is the best-effort rule that Landlock cannot hold.)
for abi in 1 3 5; do
	rm -f ran
	try inject landlock_create_ruleset:retval=$abi:when=1 -- $cordon run --policy $T/plain.cordon --backend landlock --json -- sh -c "$evil"
	want=$(case $abi in 1) echo "['best-effort', 'metadata-writes', 'old-abi', 'root-devices', 'truncate']" ;;
		3) echo "['best-effort', 'metadata-writes', 'old-abi', 'root-devices']" ;;
		*) echo "['best-effort', 'metadata-writes', 'root-devices']" ;; esac)
	ok "landlock, a report of ABI $abi: its gaps" is "$(json 'sorted(g["code"] for g in d["gaps"])')" "$want"
	ok "landlock, a report of ABI $abi: its exposures" has "$(json '[g["code"] for g in d["exposures"]]')" signals
done

# Restriction that fails when it comes to it.
rm -f ran
try inject landlock_restrict_self:error=EPERM -- $cordon run --policy $T/plain.cordon --backend landlock -- sh -c "$evil"
ok "landlock that refuses to restrict: nothing runs" test "$status" = 125 -a ! -e ran
try inject landlock_restrict_self:error=EPERM -- $cordon run --policy $T/plain.cordon --backend bwrap -- sh -c "$evil"
ok "a second lock that the kernel refuses is no reason to go on" test "$status" = 125 -a ! -e ran

# User namespaces used up: in a namespace of our own, so that the host is untouched.
limited() { unshare --user --map-root-user --mount sh -c 'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"' sh "$@"; }
try limited $cordon probe --policy $T/plain.cordon
ok "namespaces used up: bwrap is blocked, landlock usable" has "$out" "bwrap: blocked"
ok "namespaces used up: with the narrow fix" has "$out" "max_user_namespaces"
try limited $cordon run --policy $T/plain.cordon --json -- sh -c "$evil"
ok "namespaces used up: landlock is used, bwrap passed over" is \
	"$status $(json 'd["backend"], d["passedOver"][0]["verdict"], d["enforcement"]')" "0 ('landlock', 'blocked', 'partial')"
ok "namespaces used up: and it confines" is "$(cat $T/outside/file)" original
rm -f ran
try limited $cordon run --policy $T/full.cordon -- sh -c "$evil"
ok "namespaces used up: under require full nothing runs" test "$status" = 125 -a ! -e ran
ok "namespaces used up: the first sentence" has "$err" 'SANDBOX_UNAVAILABLE: sandbox mode "workspace-write" is requested but no sandbox backend is usable on this host; refusing to run the command unconfined'

# /proc masked, as containers do: a new one cannot be mounted.
masked() { unshare --user --map-root-user --pid --fork --mount sh -c 'mount -t tmpfs tmpfs /proc/acpi 2>/dev/null || mount -t tmpfs tmpfs /proc/bus; exec "$@"' sh "$@"; }
try masked $cordon probe --policy $T/plain.cordon
ok "/proc masked: bwrap is not usable, and not called missing" test "$(echo "$out" | grep -c '^bwrap: \(nested\|blocked\|broken\)')" = 1
rm -f ran
try masked $cordon run --policy $T/full.cordon -- sh -c "$evil"
ok "/proc masked: under require full nothing runs" test "$status" = 125 -a ! -e ran
finish
