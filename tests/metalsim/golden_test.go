package metalsim_test

import (
	"testing"

	"github.com/kernelgen/kgen/gen"
	"github.com/kernelgen/kgen/tests/golden"
	"github.com/kernelgen/kgen/tests/golden/exact"
)

// TestGolden runs the kernels of every spec, in each choice and type, and those
// of its gradient, with golden inputs and compares what they give with PyTorch's
// values.
func TestGolden(t *testing.T) {
	m := compile(t)
	for _, s := range m.Specs {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			file, err := golden.Load(s.Name)
			if err != nil {
				t.Fatalf("%v: add golden values for it to tests/golden", err)
			}
			for _, op := range s.Ops {
				for v := range op.Programs {
					m.runShapes(t, s, op, v, file)
				}
			}
		})
	}
}

func (m *module) runShapes(t *testing.T, s *gen.Spec, op *gen.Op, variant int, file *golden.File) {
	t.Helper()
	ran := ""
	for _, elements := range shapes {
		c, err := exact.Nearest(file.Cases, op.Programs[variant], elements)
		if err != nil {
			t.Fatal(err)
		}
		if c.Name == ran {
			continue
		}
		ran = c.Name
		values, err := exact.Run(s.Spec, op.Programs[variant], c)
		if err != nil {
			t.Fatal(err)
		}
		m.check(t, run{spec: s, op: op, variant: variant, Case: exact.Complete(c, values), linear: file.Linear})
	}
}
