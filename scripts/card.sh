#!/bin/sh
# Builds what runs on a machine with an NVIDIA card into the folder bin/card: the tests of
# the backend, of the runtime, of graphs and of layers, the parity suite, the soak, the
# character model and the measurements, with the files that they read. That machine needs
# neither Go nor a network; scripts/oncard.sh says what it has to have. There,
#
#	card/run.sh
#
# runs all of it and prints a short table last.
set -eu
cd "$(dirname "$0")/.."
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
limit=60 # MiB that the folder may have

rm -rf bin/card
mkdir -p bin/card

# built builds a program of a package, or its tests if its name ends in .test.
built() {
	programs="${programs:-} bin/card/$1"
	case $1 in
	*.test) go test -c -tags cudatest -ldflags='-s -w' -o "bin/card/$1" "$2" ;;
	*) go build -ldflags='-s -w' -o "bin/card/$1" "$2" ;;
	esac
}

built backend.test ./runtime/internal/cuda
built runtime.test ./runtime
built graph.test ./graph
built nn.test ./tests/nn
built parity.test ./tests/parity
built programs.test ./tests/programs
built charlm.test ./examples/charlm
built charlm ./examples/charlm
built bench ./tests/bench

cp scripts/oncard.sh bin/card/run.sh
git rev-parse HEAD >bin/card/commit
# Most of a program is what all of them have; the window of xz reaches over three.
# shellcheck disable=SC2086 # a list of names
tar -c $programs bin/card/commit scripts/sanitize.sh specs generated/ops/internal tests/golden \
	tests/parity/rules_test.go tests/bench/card data/moby-dick.txt |
	xz -T1 --lzma2=preset=3,dict=64MiB >bin/card/files.tar.xz
# shellcheck disable=SC2086
rm $programs bin/card/commit
du -sh bin/card
[ "$(du -sm bin/card | cut -f1)" -lt $limit ] || {
	echo "card: bin/card has $limit MiB or more: leave something out" >&2
	exit 1
}
