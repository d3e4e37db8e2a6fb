package plan_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/plan"
	"github.com/kernelgen/kgen/gen/spec"
)

// The sums of s read w before its new value is written: a later row program must
// not take them over.
const sumsBeforeUpdate = `doc = "Probe."
source = "None."
dtypes = ["f32"]
[in.x]
shape = "R D"
[out.s]
shape = "D"
over = "R"
reduce = "sum"
expr = "x * w"
[inout.w]
shape = "R D"
expr = "w + x"
[let.total]
over = "D"
reduce = "sum"
expr = "x"
[out.y]
shape = "R D"
expr = "x * total"
`

func TestColumnsAreSummedBeforeAnUpdate(t *testing.T) {
	set, list := spec.Load(fstest.MapFS{"specs/g/probe.toml": {Data: []byte(sumsBeforeUpdate)}}, "specs")
	if len(list) > 0 {
		t.Fatal(list)
	}
	specs, list := expr.Check(set)
	if len(list) > 0 {
		t.Fatal(list)
	}
	pl, err := plan.New(specs[0].Instances[0])
	if err != nil {
		t.Fatal(err)
	}
	written := false
	for _, k := range pl.Kernels {
		reads := func(name string) bool {
			return slices.ContainsFunc(k.Reads(), func(t *expr.Tensor) bool { return t.Name == name })
		}
		writes := func(name string) bool {
			return slices.ContainsFunc(k.Writes(), func(t *expr.Tensor) bool { return t.Name == name })
		}
		if written && reads("w") {
			t.Errorf("w is read after it is written:\n%s", plan.Format(pl))
		}
		written = written || writes("w")
	}
	if !written {
		t.Error("nothing writes w")
	}
}
