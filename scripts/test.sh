#!/bin/sh
# The whole suite. Fails on the first stage that fails, and when a test was
# skipped.
set -eu
cd "$(dirname "$0")/.."
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

stage() { printf '\n== %s\n' "$1"; }

# run prints the results of `go test`, and fails on a failure or a skipped test. What it
# is given has been vetted whole.
run() {
	log=$(mktemp "$logs/XXXXXX")
	if ! go test -v -vet=off "$@" >"$log" 2>&1; then
		grep -v '^=== \|^ *--- PASS' "$log" || true
		exit 1
	fi
	if grep -E '^ *--- SKIP' "$log"; then
		echo "test: tests were skipped, see above: run make tools" >&2
		exit 1
	fi
	grep -E '^(ok|FAIL|panic)' "$log"
}

stage "gofmt"
unformatted=$(git ls-files '*.go' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
	echo "test: gofmt -w would change:" >&2
	echo "$unformatted" >&2
	exit 1
fi

stage "go build, go vet"
go build ./...
go vet ./...

stage "kgenvet"
go build -o bin/kgenvet ./cmd/kgenvet
go vet -vettool="$PWD/bin/kgenvet" ./...

stage "kgen check"
go build -o bin/kgen ./cmd/kgen
bin/kgen check

stage "go test"
run ./...

if [ "$(uname)" = Linux ]; then
	stage "go test on the software Metal"
	go run ./internal/softmetal/make
	# ten steps take a minute of one core, in which the other has the rest to do
	run -count=1 -tags softmetal ./examples/charlm -run Metal &
	model=$!
	go vet -tags softmetal,metaltest ./runtime/... ./tests/parity ./examples/charlm
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 go vet ./runtime/... ./graph/... ./generated/...
	run -count=1 -tags softmetal ./runtime/internal/metal
	run -count=1 -short -tags softmetal ./runtime -run '/metal|Metal'
	run -count=1 -tags softmetal,metaltest ./tests/parity \
		-run 'TestGolden/ops/^(gelu|layernorm|softmax|embedding|adamw|sum|transpose|cumsum)$|TestC013'
	wait $model
fi
if [ "$(uname)" = Darwin ]; then
	stage "go test on Metal" # the runtime's suite and the example have run on it above
	go vet -tags metaltest ./tests/parity
	MTL_DEBUG_LAYER=1 MTL_SHADER_VALIDATION=1 run -count=1 -tags metaltest ./tests/parity
fi

stage "go test -race: runtime"
run -race -short ./runtime/...

stage "go test without cgo"
CGO_ENABLED=0 go vet ./...
CGO_ENABLED=0 run -short ./runtime/... ./generated/... ./graph/...
