#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What must hold on a real kernel beside the catalogue of attacks: that honest work
# goes on, that one run widens nothing for the next, that names may be odd, that a
# race at launch never ends on the wrong tree, that nothing stays behind.
. "$(dirname "$0")/lib.sh"

policy plain <<E
cordon 1
policy plain { default mode workspace-write }
E
policy git <<E
cordon 1
policy git {
    default mode workspace-write
    mode workspace-write { read \${workspace}/.git/hooks, \${workspace}/.git/config }
}
E
run() { # who backend policy command…
	local who=$1 backend=$2 policy=$3
	shift 3
	(cd $T/ws && as "$who" $cordon run --backend "$backend" --policy "$T/$policy.cordon" -- "$@")
}
repository() { # who
	world "$1"
	(cd $T/ws && as "$1" sh -ec '
		git init -q .; git config user.name tester; git config user.email t@example.org
		echo one > a.txt; git add .; git commit -qm one')
}

for who in root user; do
	# Honest work beside carve-outs.
	repository $who
	try run $who bwrap git sh -ec 'echo two >> a.txt; git commit -qam two; git log --oneline | wc -l'
	ok "$who: git commit works beside protected hooks and config" is "$status $out" "0 2"
	try run $who bwrap git sh -ec 'echo three >> a.txt; git stash -q; git stash pop -q; sed -i s/one/uno/ a.txt; echo new > top; mkdir d; mv top d/; rm -r d; cat a.txt'
	ok "$who: stash, sed -i and new top-level names work" is "$status $out" $'0 uno\ntwo\nthree'
	try run $who bwrap git sh -c 'echo evil > .git/hooks/pre-commit'
	ok "$who: a hook cannot be written" test ! -e $T/ws/.git/hooks/pre-commit
	try run $who bwrap git git config core.fsmonitor evil
	ok "$who: the config cannot be written" hasnt "$(cat $T/ws/.git/config)" evil
	try run $who bwrap git sh -c 'mv .git .g2 && mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit'
	ok "$who: nor replaced with its directory" test ! -e $T/ws/.g2

	# hide everything, a list of what a toolchain needs.
	policy toolchain <<-E
	cordon 1
	policy toolchain {
	    default mode workspace-write
	    hide everything
	    read /usr, /etc
	    read @roots
	    mode workspace-write { write @roots }
	}
	E
	for backend in bwrap landlock; do
		repository $who
		try run $who $backend toolchain sh -ec 'git status -s; python3 -c "print(1 + 1)"'
		ok "$who: $backend: sh, git and python3 start below \`hide everything\`" is "$status $out" "0 2"
		try run $who $backend toolchain sh -c "cat $T/outside/file || echo denied"
		ok "$who: $backend: and nothing else can be read" is "$out" denied
		try run $who $backend toolchain ls /
		ok "$who: $backend: nor listed" is "$status $out" "2 "
	done

	for backend in bwrap landlock; do
		# A link planted by one run widens nothing in the next.
		policy build <<-E
		cordon 1
		policy build {
		    default mode workspace-write
		    mode workspace-write { write \${workspace}/build optional; write \${workspace}/out create }
		}
		E
		world $who
		run $who $backend plain ln -s $T/home/.ssh build
		run $who $backend plain ln -s $T/home/.config/evil out
		try run $who $backend build sh -c 'echo evil > build/authorized_keys'
		ok "$who: $backend: a planted link stops the next launch" is "$status" 125
		ok "$who: $backend: and is named" has "$err" "passes the link \`$T/ws/build\`"
		ok "$who: $backend: nothing was written or made through it" test ! -e $T/home/.ssh/authorized_keys -a ! -e $T/home/.config/evil
		try as $who $cordon run --backend $backend --policy $T/plain.cordon --workspace $T/ws --add-dir $T/ws/build -- sh -c "echo evil > $T/home/.ssh/authorized_keys"
		ok "$who: $backend: nor can it be an additional directory" test "$status" = 125 -a ! -e $T/home/.ssh/authorized_keys
		rm $T/ws/build $T/ws/out
		try run $who $backend build sh -c 'echo fine > out/x'
		ok "$who: $backend: without the links it runs" is "$status $(cat $T/ws/out/x)" "0 fine"

		# Workspaces of any name, also through links.
		for odd in 'a b' "q'u\"o\$te" $'new\nline' '[x]*?' $'\xff\xfe' '-dash' '#c' '~' '${home}' 'a;b,c{d}'; do
			world $who
			mkdir -p "$T/x/$odd/ro" && chown -R --reference=$T/ws "$T/x"
			ln -s -- "$odd" $T/x/link
			ln -s -- "$odd/ro" $T/x/deep
			for name in "$odd" link deep/..; do
				rm -f "$T/x/$odd/seen"
				try as $who $cordon run --backend $backend --policy $T/plain.cordon \
					--workspace "$T/x/$name" -- sh -c 'echo new > "$1/seen"; echo evil > '"$T/outside/file" sh "$T/x/$name"
				ok "$who: $backend: workspace $(printf %q "$odd") as $(printf %q "$name")" is \
					"$(cat "$T/x/$odd/seen")$(cat $T/outside/file)" neworiginal
			done
		done

		# Nothing stays behind, however the command ends.
		for end in 'true' 'kill -9 $$' 'mkdir -p $TMPDIR/a/b; chmod 0 $TMPDIR/a; exit 3' 'ln -s / $TMPDIR/l; (sleep 100 &); exit 0'; do
			world $who
			try run $who $backend plain sh -c "$end"
			ok "$who: $backend: no temporary directory after: $end" is "$(ls -A /tmp /var/tmp | grep cordon)" ""
			ok "$who: $backend: no process after: $end" is "$(pgrep -f 'sleep 100$' | wc -l)" 0
		done
		mounts=$(cat /proc/self/mountinfo)
		try run $who $backend plain true
		ok "$who: $backend: no mount stays" is "$(cat /proc/self/mountinfo)" "$mounts"
	done
	world $who
	before=$(cd $T && find . -path ./scratch -prune -o -print | sort)
	policy residue <<-E
	cordon 1
	policy residue {
	    default mode workspace-write
	    hide $T/home/.ssh, $T/home/.netrc optional
	    mode workspace-write { read \${workspace}/.idea, \${workspace}/a/ro, \${workspace}/.env optional }
	}
	E
	before=$(cd $T && find . -path ./scratch -prune -o -print | sort)
	try run $who bwrap residue true
	ok "$who: protecting missing names leaves no mount points on the host" is \
		"$status $(cd $T && find . -path ./scratch -prune -o -print | sort)" "0 $before"

	# Only Landlock: what it cannot express does not run.
	world $who
	try run $who landlock git touch through
	ok "$who: landlock: a missing rule path refuses" is "$status" 125
	policy carve <<-E
	cordon 1
	policy carve {
	    default mode workspace-write
	    mode workspace-write { read \${workspace}/a/ro }
	}
	E
	try run $who landlock carve touch through
	ok "$who: landlock: a carve-out is status 125 and nothing runs" test "$status" = 125 -a ! -e $T/ws/through
	ok "$who: landlock: the message names the rule and its line" has "$err" 'read ${workspace}/a/ro` ('$T'/carve.cordon:4:33)'
	try as $who $cordon run --policy $T/plain.cordon --workspace / -- true
	ok "$who: / as workspace is refused" has "$status $err" "125 "
	try as $who $cordon run --policy $T/plain.cordon --workspace $T/home --mode workspace-write -- true
	[ $who = root ] || ok "$who: home as workspace is refused" has "$status $err" E060

	# Deciding files.
	world $who
	cp $T/plain.cordon $T/ws/policy.cordon
	chown --reference=$T/ws $T/ws/policy.cordon && chmod 644 $T/ws/policy.cordon
	try as $who sh -c "cd $T/ws && $cordon run --backend bwrap --policy policy.cordon -- sh -c 'echo evil >> policy.cordon; mv policy.cordon x; rm -f policy.cordon; echo ran'"
	ok "$who: a policy in the workspace cannot be changed by the command" is "$out $(cmp $T/plain.cordon $T/ws/policy.cordon)" "ran "
	chmod 666 $T/ws/policy.cordon
	try as $who sh -c "cd $T/ws && $cordon run --backend bwrap --policy policy.cordon -- true"
	ok "$who: a policy that others can write is refused" has "$status $err" "125 policy.cordon:1:1: error[E077]"
done

# PATH and LD_PRELOAD change nothing outside the sandbox.
world user
mkdir $T/x
printf '#!/bin/sh\ntouch %s/outside/planted\n' $T >$T/x/bwrap
cp $T/x/bwrap $T/x/landlock-run && cp $T/x/bwrap $T/x/cordon-init && chmod 755 $T/x/*
echo '#include <unistd.h>
#include <fcntl.h>
__attribute__((constructor)) static void go(void) { creat("'$T'/outside/preloaded", 0644); }' >$T/x/p.c
gcc -shared -fPIC -o $T/x/p.so $T/x/p.c
chown -R $user:$user $T/x
for backend in bwrap landlock; do
	try as user env PATH=$T/x:$PATH LD_PRELOAD=$T/x/p.so sh -c 'true'
	ok "$backend: the control: LD_PRELOAD works outside" test -e $T/outside/preloaded
	rm -f $T/outside/preloaded
	# cordon itself is the user's own program: start it without, give the command all.
	(cd $T/ws && as user env PATH=$T/x:$PATH LD_PRELOAD=$T/x/p.so $cordon run --backend $backend --policy $T/plain.cordon -- true) >/dev/null 2>&1
	rm -f $T/outside/preloaded
	python3 - "$cordon" $backend <<'PY'
import os, sys
# A cordon whose own loader did not see the variable, in an environment that has it.
T = "/srv/t"
env = {"PATH": T + "/x:/usr/bin:/bin", "HOME": T + "/home", "CORDON_TEST": "1"}
pid = os.fork()
if pid == 0:
    os.chdir(T + "/ws"); os.setgid(1500); os.setuid(1500)
    os.execve(sys.argv[1], ["cordon", "run", "--backend", sys.argv[2], "--policy", T + "/plain.cordon",
        "--", "sh", "-c", "LD_PRELOAD=" + T + "/x/p.so /bin/true; true"], env)
os.waitpid(pid, 0)
PY
	ok "$backend: a bwrap in front of PATH is not started" test ! -e $T/outside/planted
	ok "$backend: LD_PRELOAD loads nothing outside the sandbox" test ! -e $T/outside/preloaded
done

# The race: a directory of the workspace is exchanged with a link all the time.
policy race <<E
cordon 1
policy race {
    default mode workspace-write
    require full on linux
    mode workspace-write { read \${workspace}/a/ro }
}
E
launches=${CORDON_RACE_LAUNCHES:-1000}
# The protected tree is the directory that was named a: its file must stay.
evil='for d in a l; do [ -L $d ] || echo evil > $d/ro/file; done; echo ran'
race() { # pause-in-us launches command…
	local file swapper
	world user
	mkdir -p $T/ws/b/ro && echo original >$T/ws/b/ro/file && ln -s b $T/ws/l
	chown -h -R $user:$user $T/ws
	# By descriptor: a name may be exchanged between two looks at it.
	exec {file}<$T/ws/a/ro/file
	as user $T/bin/swapper $T/ws/a $T/ws/l "$1" &
	swapper=$!
	ran=0 wrong=0
	for ((i = 0; i < $2; i++)); do
		(cd $T/ws && as user "${@:3}") >$T/race.out 2>/dev/null
		grep -q ran $T/race.out && ran=$((ran + 1))
		grep -q original /proc/self/fd/$file || wrong=$((wrong + 1))
		[ $wrong -eq 0 ] || break
	done
	kill $swapper
	wait $swapper 2>/dev/null
	exec {file}<&-
}
# The control: the profile as it was planned, without the checks from inside.
bare() {
	$cordon compile -q --host --format nul --backend bwrap --workspace . --mode workspace-write \
		$T/race-partial.cordon >args || exit 1
	# Seen as a link it would rightly protect the other tree.
	grep -qz "^$T/ws/a/ro$" args || exit 1
	mapfile -d '' args <args
	exec bwrap "${args[@]}" -- sh -c "$evil"
}
sed 's/require full on linux//; /^policy/a temp none' $T/race.cordon >$T/race-partial.cordon
chmod 644 $T/race-partial.cordon
export -f bare
export cordon T evil
race 1000 3000 bash -c bare
ok "the race: the control ends on the wrong tree (after $i launches)" test $wrong -gt 0
for pause in 1000 15000; do
	race $pause $((pause == 1000 ? launches : launches / 4)) $cordon run --backend bwrap \
		--policy $T/race.cordon -- sh -c "$evil"
	ok "the race, exchanged every $pause us: $ran of $i launches ran, none on the wrong tree" is "$wrong" 0
done
ok "the race: and some commands ran" test "$ran" -gt 0

# The same race sends no run to a weaker backend, and neither do many words.
world user
mkdir $T/ws/b && ln -s b $T/ws/l && chown -h -R $user:$user $T/ws
policy chain <<E
cordon 1
policy chain {
    default mode read-only
    mode read-only { write \${workspace}/a }
}
E
as user $T/bin/swapper $T/ws/a $T/ws/l 300 &
swapper=$!
for ((i = 0; i < 150; i++)); do
	(cd $T/ws && as user $cordon run --json --policy $T/chain.cordon -- true) 2>/dev/null
done | python3 -c '
import json, sys
for line in sys.stdin:
    r = json.loads(line)
    print(r["outcome"], r["backend"], [p["backend"] for p in r["passedOver"]])' >$T/chain.out
kill $swapper
wait $swapper 2>/dev/null
ok "the race, without --backend: bwrap failed for some" grep -q "None \['bwrap'\]" $T/chain.out
ok "the race, without --backend: landlock ran none" is "$(grep -c landlock $T/chain.out)" 0
world user
(cd $T/ws && as user $cordon run --policy $T/chain.cordon -- touch a/ran $(seq 9500)) 2>$T/err
ok "more words than bwrap takes: nothing ran" test ! -e $T/ws/a/ran
ok "more words than bwrap takes: it is said" grep -q "too many words for bwrap" $T/err
(cd $T/ws && as user $cordon run --backend landlock --policy $T/chain.cordon -- touch a/ran $(seq -f a/x%g 9500)) 2>$T/err
ok "more words than bwrap takes: --backend landlock takes them" test -e $T/ws/a/ran
finish
