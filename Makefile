# make demo: build kgen, show one spec and what comes of it, train a language model
# make test: everything that must hold
# make proof: what takes longer, before a release; logs go to docs/proof/, see scripts/proof.sh
# make bench: the figures, as ratios to something outside the project

GO ?= go

.PHONY: demo test proof bench generate tools

demo:
	$(GO) build -o bin/kgen ./cmd/kgen
	bin/kgen generate
	@scripts/show.sh elementwise/gelu
	$(GO) run ./examples/charlm $(if $(filter Darwin,$(shell uname)),-metal)

generate:
	$(GO) generate ./...

tools:
	@scripts/tools.sh
	@scripts/python.sh

test: tools
	@scripts/test.sh

proof: tools
	@scripts/proof.sh

bench: tools
	@scripts/bench.sh
