package oracle_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
	"github.com/kernelgen/kgen/gen/oracle/sample"
	"github.com/kernelgen/kgen/gen/spec"
)

// checked loads and checks the shipped specs, once.
var checked = sync.OnceValues(func() (map[string]*expr.Spec, []string) {
	set, list := spec.Load(os.DirFS("../.."), "specs")
	specs, more := expr.Check(set)
	byName := map[string]*expr.Spec{}
	for _, s := range specs {
		byName[s.Name] = s
	}
	var mistakes []string
	for _, d := range append(list, more...) {
		mistakes = append(mistakes, d.Pos.String()+": "+d.Msg)
	}
	return byName, mistakes
})

// program returns the first instance of a shipped spec that has the given
// choices, in pairs of name and value.
func program(t *testing.T, name string, choices ...string) *expr.Program {
	t.Helper()
	specs, mistakes := checked()
	for _, m := range mistakes {
		t.Error(m)
	}
	s := specs[name]
	if s == nil {
		t.Fatalf("no spec %s", name)
	}
	for _, p := range s.Instances {
		if hasChoices(p, choices) {
			return p
		}
	}
	t.Fatalf("%s has no instance with %v", name, choices)
	return nil
}

func hasChoices(p *expr.Program, choices []string) bool {
	for i := 0; i < len(choices); i += 2 {
		found := false
		for _, c := range p.Static {
			found = found || c.Name == choices[i] && c.Value == choices[i+1]
		}
		if !found {
			return false
		}
	}
	return true
}

func TestEverySpecRuns(t *testing.T) {
	specs, mistakes := checked()
	for _, m := range mistakes {
		t.Error(m)
	}
	if len(specs) < 75 {
		t.Errorf("%d specs, the catalogue has more", len(specs))
	}
	for _, s := range specs {
		if s.Raw != nil {
			continue // its reference is written by hand
		}
		for _, p := range s.Instances {
			for seed := range uint64(8) {
				runSample(t, p, seed)
			}
		}
	}
}

func runSample(t *testing.T, p *expr.Program, seed uint64) {
	t.Helper()
	call, err := sample.Call(p, seed)
	if err != nil {
		t.Error(err)
		return
	}
	res, err := oracle.Run(p, call)
	if err != nil {
		t.Error(err)
		return
	}
	for i, o := range res.Outs {
		n := 1
		for _, d := range o.Shape {
			n *= d
		}
		if n != len(o.Data) {
			t.Errorf("%s: output %s has %d elements in shape %v", p.Name, p.Outs[i].Name, len(o.Data), o.Shape)
		}
	}
}

// catalogue lists the kernels that ship: specs, and the
// derived gradients that have a public name.
const catalogue = `
add sub mul div maximum minimum scale add_scalar neg abs exp log sqrt rsqrt square tanh sigmoid silu relu erf
pow clamp cast fill copy transpose concat slice pad residual_add add_broadcast_2d_3d bias_add fill_bias
mask_zero gelu gelu_erf swiglu dropout softmax log_softmax layernorm rmsnorm l2_normalize row_sum row_mean
row_max argmax cosine_similarity cross_entropy kd_loss kl_distill bias_grad masked_mean sum mean max sum_sq dot
count_nonfinite kd_metrics_mean cross_entropy_mean accuracy perplexity embedding embedding_backward im2col col2im
pack_w_to_col unpack_dw_col matmul matmul_bias matmul_bias_gelu matmul_bias_residual gelu_matmul_bias
layernorm_gelu_matmul_bias lora linear sgd adam adamw global_norm_sq`

func TestCatalogue(t *testing.T) {
	specs, _ := checked()
	names := map[string]bool{}
	for name, s := range specs {
		names[name] = true
		if s.Grad != nil {
			names[s.Grad.Name] = true
		}
	}
	for _, name := range strings.Fields(catalogue) {
		if !names[name] {
			t.Errorf("no spec or gradient %s", name)
		}
	}
}

func TestSpecsAreDocumented(t *testing.T) {
	specs, _ := checked()
	for _, s := range specs {
		if !strings.HasPrefix(s.Doc, s.GoName+" ") || !strings.HasSuffix(s.Doc, ".") {
			t.Errorf("%s: the doc is no sentence that starts with %s", s.File, s.GoName)
		}
		if s.Source == "" {
			t.Errorf("%s: no source", s.File)
		}
		for _, p := range s.Instances {
			for _, x := range append(p.Ins[:len(p.Ins):len(p.Ins)], p.Outs...) {
				if x.Doc == "" && !x.Save {
					t.Errorf("%s: %s has no doc", s.File, x.Name)
				}
			}
			for _, x := range p.Params {
				if x.Doc == "" {
					t.Errorf("%s: parameter %s has no doc", s.File, x.Name)
				}
			}
		}
	}
}
