#!/bin/sh
# Runs the parity suite on a card under a tool of compute-sanitizer, memcheck or
# racecheck: each operation, those with many golden values in eight parts, and each other
# test in a process of its own, as many side by side as there are processors. Prints what
# each gave, and last how many were clean; some tests use no card.
# Fails if one was not clean. Seconds, if given, end the processes that have not ended by
# then. It runs in the files of scripts/card.sh.
#
#	scripts/sanitize.sh racecheck 600
set -eu
here=$(realpath "$0")
cd "$(dirname "$0")/../tests/parity"
tool=$1
end=$(($(date +%s) + ${2:-86400}))
out=$(mktemp -d)

# one runs the tests of a pattern, or a part of them, and prints its verdict.
one() {
	pattern=${1% *} part=
	[ "$pattern" = "$1" ] || part=${1#* }
	left=$((end - $(date +%s)))
	if [ "$left" -lt 5 ]; then
		echo "not begun: $1"
		return
	fi
	log=$out/$(echo "$1" | tr -c 'A-Za-z0-9_\n' _)
	if timeout "$left" compute-sanitizer --tool "$tool" --error-exitcode 9 ../../bin/card/parity.test -test.run "$pattern" ${part:+-part "$part"} >"$log" 2>&1; then
		echo "clean: $1"
	elif grep -q 'before first instrumented API call' "$log" && grep -q '^PASS$' "$log"; then
		echo "no card: $1"
	elif [ "$(date +%s)" -ge "$end" ]; then
		echo "not ended: $1"
	else
		echo "FAILED: $1"
		grep -m 20 -E '=========|FAIL|panic|_test.go' "$log"
	fi
}

if [ "${3:-}" ]; then
	out=$4
	one "$3"
	exit
fi
{
	# The shortest first: where seconds are given, most come to their end.
	ls -Sr ../golden/*.json | while read -r file; do
		name="^TestGolden\$/^ops\$/^$(basename "$file" .json)\$"
		if [ "$(wc -c <"$file")" -lt 20000 ]; then
			echo "$name"
		else
			for k in 1 2 3 4 5 6 7 8; do echo "$name $k/8"; done
		fi
	done
	../../bin/card/parity.test -test.list . | grep '^Test' | grep -v '^TestGolden$' | sed 's/.*/^&$/'
} | xargs -P "$(nproc)" -I{} sh "$here" "$tool" "$((end - $(date +%s)))" '{}' "$out" | tee "$out/all"
printf '%s: %d clean, %d without a card, %d failed, %d not run to the end\n' "$tool" \
	"$(grep -c ^clean "$out/all")" "$(grep -c '^no card' "$out/all")" "$(grep -c ^FAILED "$out/all")" "$(grep -c ^not "$out/all")"
! grep -q ^FAILED "$out/all"
