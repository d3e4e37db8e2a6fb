// Package fuzz compares every compiler stage with the oracle on specs that
// nobody wrote. Bytes come in and decide what a spec looks like; its TOML text
// goes through the real front end, is planned, lowered and emitted for each
// target, and the C kernels (each instruction set of the machine) and the Metal
// kernels (the simulated GPU) run on drawn arguments. Out come the spec, the
// call, the result and the result wanted of everything that differs, reduced to
// the smallest spec that still does. It must not know how any stage works.
//
// # What counts as a difference
//
// A tolerance chosen by hand is either too wide to see a fault or raises false
// alarms, so none is: an evaluator of its own (span_test.go) runs the checked
// program with an interval for each value, which holds every result that f32
// arithmetic can give. An operation of + - * / adds one unit in the last place
// at both ends, an intrinsic sixteen; a sum of n terms adds n units of the sum
// of magnitudes, which covers every order of summation; a condition that the
// intervals leave open takes both branches. Storing to f16, bf16 or f32 rounds
// the ends, which is monotone, so the narrow types need no tolerance at all. A
// result must lie in its interval. So must the oracle's, which makes oracle and
// evaluator check each other. How many intervals are narrow enough to mean
// something is counted and held above a limit.
//
// # How to run it
//
//	go test -tags proof ./tests/fuzz                  fixed seeds, kept seeds, mended faults
//	KGEN_FUZZ_MINUTES=30 go test -tags proof -timeout 2h -run TestLong -v ./tests/fuzz
//	go test -tags proof -fuzz FuzzSpecs ./tests/fuzz  coverage-guided
//
// It is part of make proof, not of make test. The spec of a fault that is mended
// goes to testdata/mended.
package fuzz
