#!/bin/sh
# Runs what scripts/card.sh has built, as run.sh in its folder, on a machine with an NVIDIA
# card: its driver, NVRTC (the CUDA toolkit has it, and PyTorch brings it), python3 with
# PyTorch for the comparison, compute-sanitizer for the sanitizers; neither Go nor a
# network. It has parts; arguments choose some of them, and without any all run.
#
#	tests      the backend, the runtime, graphs, layers, the parity suite with and without
#	           cuBLASLt, 200 steps of the character model beside the CPU's, and beside
#	           them sixteen goroutines for eight minutes
#	figures    the operations and the character model beside PyTorch, alone on the card
#	memcheck   the parity suite under compute-sanitizer
#	racecheck  the same for races in shared memory; an hour or more on sixteen processors
#
# What each says lies in logs/, and all together in card.log with a short table last.
set -eu
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- tests figures memcheck racecheck
for part; do
	case $part in
	tests | figures | memcheck | racecheck) ;;
	*)
		echo "run: no part $part: give some of tests, figures, memcheck and racecheck" >&2
		exit 2
		;;
	esac
done
card=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader) || {
	echo "run: no NVIDIA card: nvidia-smi, which comes with its driver, does not find one" >&2
	exit 1
}
tree=$PWD/files logs=$PWD/logs
if [ ! -e files ]; then
	mkdir files
	tar -C files -xf files.tar.xz 2>/dev/null || python3 -m tarfile -e files.tar.xz files
	chmod +x files/bin/card/*
fi
rm -rf logs
mkdir logs
export PATH="$PATH:/usr/local/cuda/bin" # compute-sanitizer
# The backend looks for NVRTC and cuBLASLt here, where the Python on the path has them.
export VIRTUAL_ENV="${VIRTUAL_ENV:-$(python3 -c 'import sys; print(sys.prefix)')}"

passed='^--- PASS'

# run runs a command in a folder of the files, keeps what it says as logs/NAME and its row
# of the table, the last line that matches a pattern at its end.
run() {
	name=$1 folder=$2 last=$3
	shift 3
	start=$(date +%s)
	outcome=pass
	(cd "$tree/$folder" && "$@") >"$logs/$name" 2>&1 || outcome=FAIL
	said=$(grep -E "$last" "$logs/$name" | tail -1 | sed 's/^ *[a-z_]*\.go:[0-9]*: //')
	if [ "$last" = "$passed" ]; then
		said="$(grep -c "$passed" "$logs/$name") tests, $(grep -c '^ *--- SKIP' "$logs/$name") skipped" || true
	fi
	printf '%-15s %s %5d s  %s\n' "$name" $outcome $(($(date +%s) - start)) "$said" >>"$logs/table"
}

tests() {
	bin=$tree/bin/card
	run programs.test . ' programs, ' "$bin/programs.test" -test.v -test.run Card -soak 8m &
	run backend.test . "$passed" "$bin/backend.test" -test.v
	run runtime.test . "$passed" "$bin/runtime.test" -test.v -test.run '/cuda|Card'
	run graph.test . "$passed" "$bin/graph.test" -test.v
	run nn.test . "$passed" "$bin/nn.test" -test.v
	run charlm.test tests/bench '^ *[a-z_]*.go:.*losses' "$bin/charlm.test" -test.v -test.run Card
	run parity.test tests/parity "$passed" "$bin/parity.test" -test.v
	wait
}

memcheck() { run memcheck . '^memcheck: ' sh scripts/sanitize.sh memcheck; }

racecheck() { run racecheck . '^racecheck: ' sh scripts/sanitize.sh racecheck; }

figures() {
	run figures . '^copy: ' python3 -W ignore tests/bench/card/beside.py bin/card/bench data/moby-dick.txt
}

for part; do "$part"; done
{
	printf 'run.sh %s: %s, commit %s\n' "$*" "$(date -u '+%Y-%m-%d %H:%M UTC')" "$(cut -c1-7 files/bin/card/commit)"
	echo "$card"
	[ ! -e logs/figures ] || cat logs/figures
	echo
	cat logs/table
} | tee card.log
! grep -q FAIL logs/table
