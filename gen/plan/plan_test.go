package plan_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/grad"
	"github.com/kernelgen/kgen/gen/plan"
	"github.com/kernelgen/kgen/gen/spec"
)

var update = flag.Bool("update", false, "rewrite testdata")

// programs returns the first instance of every choice of every spec, and its
// gradient.
func programs(t *testing.T) []*expr.Program {
	t.Helper()
	set, list := spec.Load(os.DirFS("../.."), "specs")
	if len(list) > 0 {
		t.Fatal(list)
	}
	specs, list := expr.Check(set)
	if len(list) > 0 {
		t.Fatal(list)
	}
	var ps []*expr.Program
	for _, s := range specs {
		if s.Raw != nil {
			continue // written by hand: nothing to plan
		}
		seen := map[string]bool{}
		for _, p := range s.Instances {
			if seen[fmt.Sprint(p.Static)] {
				continue
			}
			seen[fmt.Sprint(p.Static)] = true
			ps = append(ps, p)
			if s.Grad == nil {
				continue
			}
			g, list := grad.Derive(p, grad.Decl{Name: s.Grad.Name, Wrt: s.Grad.Wrt, From: s.Grad.From})
			if len(list) > 0 {
				t.Fatal(list)
			}
			ps = append(ps, g.Program)
		}
	}
	return ps
}

// TestKernels holds the kernel sequence of every shipped spec and gradient.
func TestKernels(t *testing.T) {
	var b strings.Builder
	for _, p := range programs(t) {
		pl, err := plan.New(p)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		fmt.Fprintf(&b, "%s", p.Name)
		for _, c := range p.Static {
			fmt.Fprintf(&b, " %s=%s", c.Name, c.Value)
		}
		b.WriteString(":")
		for _, k := range pl.Kernels {
			fmt.Fprintf(&b, " %s", k.Shape)
		}
		b.WriteString("\n")
	}
	golden(t, "testdata/kernels.txt", b.String())
}

// TestFormat holds the printed plan of one spec of each kind, bytes and flops
// included.
func TestFormat(t *testing.T) {
	want := []string{"gelu", "layernorm", "layernorm_grad", "cross_entropy", "masked_mean", "mean", "matmul_bias_gelu", "embedding_backward"}
	var b strings.Builder
	for _, p := range programs(t) {
		for i, name := range want {
			if p.Name != name {
				continue
			}
			want[i] = ""
			pl, err := plan.New(p)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(plan.Format(pl) + "\n")
		}
	}
	golden(t, "testdata/format.txt", b.String())
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}
