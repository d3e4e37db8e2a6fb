package gen

import (
	"context"
	"fmt"
	"slices"

	"github.com/kernelgen/kgen/gen/bench"
	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/emit/goapi"
)

// BenchCases returns what to measure of the specs and derived gradients of the
// given names, or of all: every variant, at each size. An op that takes a list is
// measured with two tensors in it, if it can have two.
func (r *Result) BenchCases(names []string) ([]bench.Case, error) {
	groups, err := r.benchGroups(names)
	if err != nil {
		return nil, err
	}
	var list []bench.Case
	for _, ops := range groups {
		for _, op := range ops {
			err := op.Bound.Unlowered[bind.C]
			if err != nil && len(names) > 0 {
				return nil, fmt.Errorf("%s has no C kernels: %w", op.Name, err)
			}
			if err != nil || op.longList(ops) {
				continue
			}
			cases, err := op.benchCases()
			if err != nil {
				return nil, err
			}
			list = append(list, cases...)
		}
	}
	return list, nil
}

// benchGroups returns the ops of each name.
func (r *Result) benchGroups(names []string) ([][]*Op, error) {
	var groups [][]*Op
	for _, name := range names {
		_, ops := r.find(name)
		if ops == nil {
			return nil, unknownName(name)
		}
		groups = append(groups, ops)
	}
	if len(names) == 0 {
		for _, s := range r.Specs {
			groups = append(groups, s.Ops, s.gradients())
		}
	}
	return groups, nil
}

// longList reports whether op has other than two tensors in a list and one of
// ops has two.
func (op *Op) longList(ops []*Op) bool {
	pair := func(op *Op) bool {
		return !slices.ContainsFunc(op.Choices, func(c Choice) bool { return c.Kind == List && c.Value != "2" })
	}
	return !pair(op) && slices.ContainsFunc(ops, pair)
}

func (op *Op) benchCases() ([]bench.Case, error) {
	var list []bench.Case
	for i, p := range op.Programs {
		cases, err := bench.Cases(bench.Variant{
			Op: op.Name, Plan: op.Bound.Plans[i], DType: DTypeName(p), Static: StaticName(op.Choices), Var: op.ident() + "Op",
		})
		if err != nil {
			return nil, err
		}
		list = append(list, cases...)
	}
	return list, nil
}

// Bench measures cases on the CPU and hands each result to report. The files on
// disk must be those that r gives.
func (m *Module) Bench(ctx context.Context, r *Result, cases []bench.Case, o bench.Options, report func(bench.Measurement) error) error {
	changes, err := m.Tree().Compare(r.Files())
	if err != nil {
		return err
	}
	if len(changes) > 0 {
		return fmt.Errorf("bench: %s is not as the specs give it: run %s first", changes[0].Path, m.Command("generate"))
	}
	return bench.Run(ctx, bench.Module{Root: m.Root, Path: m.Path, Runtime: goapi.RuntimePath, OpsDir: opsDir}, cases, o, report)
}
