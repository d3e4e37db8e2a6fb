#!/bin/sh
# Builds what runs on a machine with an NVIDIA card into bin/card: the tests of the
# backend, the parity suite and the measurements. It needs neither Go nor a network
# there:
#
#	(cd runtime/internal/cuda && ../../../bin/card/backend.test)
#	(cd tests/parity && ../../bin/card/parity.test)
#	python3 tests/bench/card/beside.py bin/card/card
set -eu
cd "$(dirname "$0")/.."
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
mkdir -p bin/card
go test -c -tags cudatest -ldflags='-s -w' -o bin/card/backend.test ./runtime/internal/cuda
go test -c -tags cudatest -ldflags='-s -w' -o bin/card/parity.test ./tests/parity
go build -ldflags='-s -w' -o bin/card/card ./tests/bench/card
du -sh bin/card
