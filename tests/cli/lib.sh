# SPDX-License-Identifier: Apache-2.0
#
# TAP for shell tests. `ok NAME COMMAND…` is a test; `try COMMAND…` runs one and
# leaves $status, $out and $err; `skip NAME REASON` says why something was not run.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
B=$(realpath "${B:-build}")
cordon=$B/cordon
number=0 failures=0
scratch=$(mktemp -d) || exit 2
scratch=$(realpath "$scratch")
cleanup() { rm -rf "$scratch"; }
trap cleanup EXIT

ok() {
	local name=$1
	shift
	number=$((number + 1))
	if "$@" >"$scratch/.ok" 2>&1; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		sed 's/^/# /' "$scratch/.ok"
		[ -z "${status:-}" ] || printf '# status %s\n# out: %s\n# err: %s\n' "$status" \
			"$(head -c 2000 "$scratch/.out")" "$(head -c 2000 "$scratch/.err")"
		failures=$((failures + 1))
	fi
}

skip() {
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

try() {
	"$@" >"$scratch/.out" 2>"$scratch/.err" </dev/null
	status=$?
	out=$(tr '\0' '\n' <"$scratch/.out")
	err=$(cat "$scratch/.err")
}

is() { [ "$1" = "$2" ] || { printf 'want: %s\ngot:  %s\n' "$2" "$1"; return 1; }; }
has() { case $1 in *"$2"*) ;; *) printf 'no "%s" in: %s\n' "$2" "$1"; return 1 ;; esac; }
hasnt() { case $1 in *"$2"*) printf '"%s" in: %s\n' "$2" "$1"; return 1 ;; esac; }

finish() {
	echo "1..$number"
	exit $((failures > 0))
}
