#!/bin/sh
# Builds what runs on a machine with an NVIDIA card into bin/card: the tests of the
# backend, the parity suite, the example and the measurements. It needs neither Go nor a network
# there:
#
#	(cd runtime/internal/cuda && ../../../bin/card/backend.test)
#	(cd runtime && ../bin/card/runtime.test -test.run 'Card|CUDA')
#	(cd tests/parity && ../../bin/card/parity.test)
#	(cd tests/programs && ../../bin/card/programs.test -test.v -test.run Card -soak 8m)
#	(cd examples/charlm && ../../bin/card/charlm.test -test.v -test.run Card)
#	python3 tests/bench/card/beside.py bin/card/card
set -eu
cd "$(dirname "$0")/.."
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
mkdir -p bin/card
go test -c -tags cudatest -ldflags='-s -w' -o bin/card/backend.test ./runtime/internal/cuda
go test -c -tags cudatest -ldflags='-s -w' -o bin/card/runtime.test ./runtime
go test -c -tags cudatest -ldflags='-s -w' -o bin/card/parity.test ./tests/parity
go test -c -tags cudatest -ldflags='-s -w' -o bin/card/programs.test ./tests/programs
go test -c -tags cudatest -ldflags='-s -w' -o bin/card/charlm.test ./examples/charlm
go build -ldflags='-s -w' -o bin/card/card ./tests/bench/card
du -sh bin/card
