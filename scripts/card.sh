#!/bin/sh
# Builds what runs on a machine with an NVIDIA card into bin/card: the tests of the
# backend, of the runtime and of graphs, the parity suite, the example and the
# measurements. It needs neither Go nor a network there. Arguments choose some of the
# programs; without any it builds all but graph.test, nn.test and charlm, 94 MiB together
# (xz takes them to a sixth).
#
#	(cd runtime/internal/cuda && ../../../bin/card/backend.test)
#	(cd runtime && ../bin/card/runtime.test)
#	(cd tests/parity && ../../bin/card/parity.test)
#	scripts/sanitize.sh memcheck
#	(cd tests/programs && ../../bin/card/programs.test -test.v -test.run Card -soak 8m)
#	(cd examples/charlm && ../../bin/card/charlm.test -test.v -test.run Card)
#
# scripts/card.sh graph.test nn.test card charlm builds the rest:
#
#	(cd graph && ../bin/card/graph.test)
#	(cd tests/nn && ../../bin/card/nn.test)
#	python3 tests/bench/card/beside.py bin/card/card
#
# runtime.test runs its tests on the CPU, the reference device and the card; with
# -test.run '/cuda|Card' what has a part for each device runs on the card alone.
# beside.py trains the character model, too, where charlm lies beside card.
set -eu
cd "$(dirname "$0")/.."
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"

# package prints the package of a program.
package() {
	case $1 in
	backend.test) echo ./runtime/internal/cuda ;;
	runtime.test) echo ./runtime ;;
	graph.test) echo ./graph ;;
	nn.test) echo ./tests/nn ;;
	parity.test) echo ./tests/parity ;;
	programs.test) echo ./tests/programs ;;
	charlm.test | charlm) echo ./examples/charlm ;;
	card) echo ./tests/bench/card ;;
	*)
		echo "card: no program $1" >&2
		return 1
		;;
	esac
}

rm -rf bin/card
mkdir -p bin/card
[ $# -gt 0 ] || set -- backend.test runtime.test parity.test programs.test charlm.test card
for name; do
	pkg=$(package "$name")
	case $name in
	*.test) go test -c -tags cudatest -ldflags='-s -w' -o "bin/card/$name" "$pkg" ;;
	*) go build -ldflags='-s -w' -o "bin/card/$name" "$pkg" ;;
	esac
done
du -sh bin/card
