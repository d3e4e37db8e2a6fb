package grad_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/grad"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// shippedGradient derives the gradient of a shipped spec in the given type.
func shippedGradient(t *testing.T, name string, d expr.DType) (*expr.Program, *grad.Result) {
	t.Helper()
	s := shipped(t, name)
	for _, p := range s.Instances {
		if p.Types[0] == d {
			return p, derive(t, p, declOf(s))
		}
	}
	t.Fatalf("%s has no instance in %s", name, d)
	return nil, nil
}

func inputNames(r *grad.Result) string {
	var names []string
	for _, t := range r.Program.Ins {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// TestInputs: a gradient reads no more than it needs. Softmax and cross-entropy
// have no use for maximum and sum again, saved values are not computed again,
// an output narrower than f32 is not read where the inputs do as well, and what
// is read for its shape alone is listed once.
func TestInputs(t *testing.T) {
	for _, c := range []struct {
		name string
		typ  expr.DType
		want string
		lets string // recomputed or made reductions
	}{
		{"softmax", expr.F32, "y d_y", "sum"},
		{"softmax", expr.F16, "y d_y", "sum"},
		{"log_softmax", expr.F32, "y d_y", "sum"},
		{"cross_entropy", expr.F32, "logits target lse d_loss", ""},
		{"layernorm", expr.BF16, "x gamma rstd rest d_y", "sum sum sum sum"}, // the mean as a distance from the first element: from the mean itself its rounding would show
		{"rmsnorm", expr.F32, "x gamma rstd d_y", "sum sum"},
		{"tanh", expr.F32, "y d_y", ""},
		{"tanh", expr.F16, "x d_y", ""},
		{"embedding", expr.F32, "ids W d_y", "sum"},
		{"add", expr.F32, "b d_y", "sum"},
		{"masked_mean", expr.F32, "mask d_y", "sum"},
		{"mean", expr.F32, "x d_y", ""},
	} {
		_, r := shippedGradient(t, c.name, c.typ)
		if got := inputNames(r); got != c.want {
			t.Errorf("%s in %s reads %q, want %q\n%s", c.name, c.typ, got, c.want, r.Program.Format())
		}
		var reductions []string
		for _, s := range r.Program.Steps {
			if s.Reduce != expr.NoReduce {
				reductions = append(reductions, s.Reduce.String())
			}
		}
		if got := strings.Join(reductions, " "); got != c.lets {
			t.Errorf("%s in %s has the reductions %q, want %q\n%s", c.name, c.typ, got, c.lets, r.Program.Format())
		}
	}
}

// TestPlainProducts: the gradients of matrix products are sums of a product of
// two reads, whatever comes before and after.
func TestPlainProducts(t *testing.T) {
	for name, want := range map[string]int{
		"matmul": 2, "matmul_bias": 2, "matmul_bias_gelu": 2, "gelu_matmul_bias": 2, "linear": 2, "lora": 6, "layernorm_gelu_matmul_bias": 2,
	} {
		_, r := shippedGradient(t, name, expr.F32)
		plain := 0
		for _, s := range r.Program.Steps {
			m, ok := s.Expr.(*expr.Binary)
			if s.Reduce != expr.Sum || !ok || m.Op != expr.Mul {
				continue
			}
			x, xRead := m.X.(*expr.Read)
			y, yRead := m.Y.(*expr.Read)
			if xRead && yRead && apart(x.T.Axes, y.T.Axes) && apart(y.T.Axes, x.T.Axes) {
				plain++
			}
		}
		if plain != want {
			t.Errorf("%s has %d plain products, want %d\n%s", name, plain, want, r.Program.Format())
		}
	}
}

// apart reports whether a has an axis that b lacks.
func apart(a, b []*expr.Axis) bool {
	return slices.ContainsFunc(a, func(x *expr.Axis) bool { return !slices.Contains(b, x) })
}

// TestScatterForm: the gradient of a read through ids is the sum over the ids of
// where(id == row, cotangent, 0).
func TestScatterForm(t *testing.T) {
	_, r := shippedGradient(t, "embedding", expr.F32)
	if r.Program.Name != "embedding_backward" {
		t.Errorf("name is %s", r.Program.Name)
	}
	s := r.Program.Steps[0]
	if got := expr.Format(s.Expr); got != "where(ids == V, d_y, 0)" {
		t.Errorf("embedding scatters %s", got)
	}
}

// TestSources: every input and parameter of a gradient is traced to the forward
// program.
func TestSources(t *testing.T) {
	specs, err := catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range specs {
		if s.Grad == nil {
			continue
		}
		for _, p := range s.Instances {
			r := derive(t, p, declOf(s))
			for i, in := range r.Program.Ins {
				checkSource(t, p, in, r.In[i])
			}
			for i, q := range r.Program.Params {
				if p.Params[r.Params[i]] != q {
					t.Errorf("%s: parameter %s comes from %s", p.Name, q.Name, p.Params[r.Params[i]].Name)
				}
			}
			for i, out := range r.Program.Outs {
				in := p.Ins[r.Outs[i]]
				if out.Name != "d_"+in.Name || out.Type != in.Type || !slices.Equal(out.Axes, in.Axes) {
					t.Errorf("%s: output %s is the cotangent of %s", p.Name, out.Name, in.Name)
				}
			}
		}
	}
}

func checkSource(t *testing.T, p *expr.Program, in *expr.Tensor, src grad.Source) {
	t.Helper()
	from, name := p.Ins, in.Name
	switch src.Kind {
	case grad.FromOut:
		from = p.Outs
	case grad.FromCotangent:
		from, name = p.Outs, strings.TrimPrefix(in.Name, "d_")
	}
	if f := from[src.Index]; f.Name != name || f.Type != in.Type || !slices.Equal(f.Axes, in.Axes) {
		t.Errorf("%s: input %s comes from %s", p.Name, in.Name, f.Name)
	}
}

// TestDeterministic: the same program gives the same gradient.
func TestDeterministic(t *testing.T) {
	for _, name := range []string{"layernorm_gelu_matmul_bias", "kl_distill", "im2col", "lora"} {
		_, first := shippedGradient(t, name, expr.F32)
		for range 20 {
			if _, r := shippedGradient(t, name, expr.F32); r.Program.Format() != first.Program.Format() {
				t.Errorf("%s differs from call to call", name)
			}
		}
	}
}

// TestForwardIsUntouched: deriving does not change the forward program.
func TestForwardIsUntouched(t *testing.T) {
	for _, name := range []string{"layernorm", "cross_entropy", "im2col"} {
		p := shipped(t, name).Instances[0]
		before := p.Format()
		derive(t, p, declOf(shipped(t, name)))
		if p.Format() != before {
			t.Errorf("%s has changed", name)
		}
	}
}

// TestGolden shows gradients as text, of specs that stand beside them.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := written(t, string(src))
		var b strings.Builder
		for _, p := range s.Instances {
			b.WriteString(derive(t, p, declOf(s)).Program.Format())
		}
		golden := strings.TrimSuffix(file, ".toml") + ".expected"
		if *update {
			if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s differs; if that is right, run go test ./gen/grad -update\n%s", golden, b.String())
		}
	}
}
