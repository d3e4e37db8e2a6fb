package gen

import (
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/bench"
	"github.com/kernelgen/kgen/gen/bind"
)

// TestBenchCases shows that every op of the shipped specs that has C kernels can
// be measured, and at sizes that a machine has room for.
func TestBenchCases(t *testing.T) {
	m, err := Open("..")
	if err != nil {
		t.Fatal(err)
	}
	res, mistakes, err := m.Compile()
	if err != nil || len(mistakes) > 0 {
		t.Fatal(err, mistakes)
	}
	cases, err := res.BenchCases(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range res.Rows() {
		if row.AliasOf != "" || !slices.Contains(row.Targets, string(bind.C)) {
			continue
		}
		for _, dtype := range row.DTypes {
			of := slices.DeleteFunc(slices.Clone(cases), func(c bench.Case) bool { return c.Op != row.Name || c.DType != dtype })
			checkSizes(t, row.Name+" "+dtype, of)
		}
	}
}

// checkSizes checks the cases of one kernel, whose static choices come one after
// the other with a small and a large case each.
func checkSizes(t *testing.T, name string, cases []bench.Case) {
	t.Helper()
	if len(cases) == 0 || len(cases)%2 != 0 {
		t.Errorf("%s: %d cases, want a small and a large one for each choice", name, len(cases))
		return
	}
	for i := 0; i < len(cases); i += 2 {
		small, large := cases[i], cases[i+1]
		if small.Bytes <= 0 || large.Bytes <= small.Bytes {
			t.Errorf("%s: %d bytes at %s and %d at %s", name, small.Bytes, small.Size(), large.Bytes, large.Size())
		}
		if large.Bytes > 1<<31 || small.Bytes > 16<<20 {
			t.Errorf("%s: %d bytes at %s and %d at %s: too large", name, small.Bytes, small.Size(), large.Bytes, large.Size())
		}
	}
}

func TestBenchUnknown(t *testing.T) {
	if _, err := (&Result{}).BenchCases([]string{"nothing"}); err == nil {
		t.Error("a name that no spec has is measured")
	}
}
