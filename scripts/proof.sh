#!/bin/sh
# What takes longer than `make test` may, before a release. It has parts, and each keeps
# a log with date, commit and commands in docs/proof/. Arguments choose some of them;
# without any all run.
#
#	kernels   every kernel in all forms and types under the sanitizers, and against values
#	fuzz      random specs, on C and on the runner, for FUZZ_MINUTES (30)
#	math      the functions of the C kernels over all floats
#	mutants   kernels with something left out or exchanged, which tests must find
#	metal     the runtime's and the parity suite, whole, on the software Metal; all of it
#	          compiled for a Mac
#	students  the distilled encoders of the examples, beside ridge regressions, three seeds
#	files     writers that are killed, readers of hostile files, pages in a browser
set -eu
cd "$(dirname "$0")/.."
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"

run() {
	printf '\n$ %s\n' "$*"
	"$@" || exit 1
}

kernels() {
	run go run ./cmd/kgen check
	run go run ./cmd/kgen sim --check
	run go test -count=1 -tags proof -timeout 2h ./gen/emit/msl ./tests/cuda ./tests/parity ./tests/metalsim
	run env GOEXPERIMENT=cgocheck2 go test -count=1 -run 'TestC034|TestC018' ./tests/parity
}

fuzz() {
	run env KGEN_FUZZ_MINUTES="${FUZZ_MINUTES:-30}" go test -tags proof -timeout 3h -v ./tests/fuzz
}

math() {
	run go test -tags proof -timeout 2h -v -run TestMathOfAllFloats ./tests/cpu
}

mutants() {
	products='TestMetal/specs/.*(matmul|linear|lora)' # which take as long as all others
	run go test -timeout 4h -v -run "$products" ./tests/mutation -full
	run go test -timeout 4h -v -run TestMetal -skip "$products" ./tests/mutation -full
	run go test -timeout 2h -skip TestMetal ./tests/mutation -full
}

# mac compiles for a Mac by zig, whose clang has Apple's headers of C; those of the
# frameworks are the software Metal's.
mac() (
	[ -x build/zig/bin/python-zig ] || { python3 -m venv build/zig && build/zig/bin/pip install --quiet 'ziglang>=0.13'; } || exit 1
	export PATH="$PWD/build/zig/bin:$PATH" CC='python-zig cc -target aarch64-macos'
	export CGO_CFLAGS="-O2 -Werror -I$PWD/build/softmetal/include -I$PWD/internal/softmetal/src"
	run env CGO_ENABLED=1 GOOS=darwin GOARCH=arm64 go build ./runtime/... ./graph/... ./generated/...
	run env CGO_ENABLED=1 GOOS=darwin GOARCH=arm64 go vet ./...
)

metal() {
	run go run ./internal/softmetal/make
	mac || exit 1
	run go test -count=1 -tags softmetal ./runtime -run '/metal|Metal'
	run env SOFTMETAL_DEVICE=discrete go test -count=1 -tags softmetal ./runtime/internal/metal
	run env SOFTMETAL_DEVICE=discrete go test -count=1 -tags softmetal ./runtime -run '/metal|Metal'
	run go test -count=1 -timeout 2h -tags softmetal,metaltest ./tests/parity
}

students() {
	run go test -tags proof -timeout 2h -v -run TestStudents ./tests/distil
}

files() {
	run go test -count=1 -tags proof -run Browser ./train/report
	run go test -v -run TestKilledWriter ./checkpoint -kills 1000
	for target in safetensors:FuzzDecode dataset:FuzzEFB dataset:FuzzJSONL tokenizer:FuzzEncode tokenizer:FuzzLoad train/config:FuzzParse internal/tomltree:FuzzIndex gen/sim:FuzzSource gen/sim:FuzzCheck; do
		run go test -run xxx -fuzz "^${target#*:}\$" -fuzztime 3m -fuzzminimizetime 5s -parallel 1 "./${target%:*}"
	done
	run go test -race -count 3 ./graph/...
}

# lastProgress leaves of what a fuzzer says every few seconds the last line.
lastProgress='/^fuzz: / { last = $0; next } last { print last; last = "" } { print; fflush() } END { if (last) print last }'

# part runs a part and keeps its log, whose last line says whether all passed.
part() {
	mkdir -p docs/proof
	log=docs/proof/$1.log
	{
		printf 'make proof: %s, %s, %s, %s, commit %s\n' "$1" "$(date -u '+%Y-%m-%d %H:%M UTC')" \
			"$(go version)" "$(cc --version | head -1)" "$(git rev-parse --short HEAD)"
		"$1"
		printf '\nproof: %s passed, %s\n' "$1" "$(date -u '+%H:%M UTC')"
	} 2>&1 | awk "$lastProgress" | tee "$log"
	tail -1 "$log" | grep -q "^proof: $1 passed"
}

[ $# -gt 0 ] || set -- kernels fuzz math mutants metal students files
for name; do
	case $name in
	kernels | fuzz | math | mutants | metal | students | files) part "$name" ;;
	*)
		echo "proof: no part $name; there are kernels fuzz math mutants metal students files" >&2
		exit 1
		;;
	esac
done
