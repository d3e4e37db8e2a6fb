#!/bin/sh
# What takes longer than `make test` may, before a release. The log goes to
# docs/proof/ with date and command.
set -eu
cd "$(dirname "$0")/.."
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
minutes=${FUZZ_MINUTES:-30}
mkdir -p docs/proof
log=docs/proof/$(date -u +%Y-%m-%d).log

run() {
	printf '\n$ %s\n' "$*"
	"$@"
}

fuzz=$(mktemp)
trap 'rm -f "$fuzz"' EXIT

{
	printf 'make proof, %s, %s, %s\n' "$(date -u '+%Y-%m-%d %H:%M UTC')" "$(go version)" "$(cc --version | head -1)"
	# The fuzzer's time is given, so it runs beside the rest.
	run env KGEN_FUZZ_MINUTES="$minutes" go test -tags proof -timeout 3h -v ./tests/fuzz >"$fuzz" 2>&1 &
	fuzzer=$!
	trap 'kill "$fuzzer" 2>/dev/null || true' EXIT
	run go test -tags proof -run Browser ./train/report
	run go run ./cmd/kgen check
	run go run ./cmd/kgen sim --check
	run go test -tags proof -timeout 2h ./gen/emit/msl
	run go test -tags proof -timeout 2h ./tests/parity ./tests/metalsim
	run env GOEXPERIMENT=cgocheck2 go test -run 'TestC034|TestC018' ./tests/parity
	run go test -timeout 4h -v -run TestMetal ./tests/mutation -full
	run go test -timeout 2h -skip TestMetal ./tests/mutation -full
	run go test -v -run TestKilledWriter ./checkpoint -kills 1000
	for target in safetensors:FuzzDecode dataset:FuzzEFB dataset:FuzzJSONL tokenizer:FuzzEncode tokenizer:FuzzLoad gen/sim:FuzzSource gen/sim:FuzzCheck; do
		run go test -run xxx -fuzz "^${target#*:}\$" -fuzztime 3m -fuzzminimizetime 5s -parallel 1 "./${target%:*}"
	done
	run go run ./internal/softmetal/make
	run go test -count=1 -tags softmetal ./runtime -run '/metal|Metal'
	run env SOFTMETAL_DEVICE=discrete go test -count=1 -tags softmetal ./runtime -run '/metal|Metal'
	run go test -count=1 -timeout 2h -tags softmetal,metaltest ./tests/parity
	run go test -race -count 3 ./graph/...
	run go test -tags proof -timeout 2h -v -run TestMathOfAllFloats ./tests/cpu
	failed=
	wait "$fuzzer" || failed=1
	cat "$fuzz"
	[ -z "$failed" ]
	printf '\nproof: all passed\n'
} 2>&1 | tee "$log"
grep -q '^proof: all passed$' "$log"
