package metalsim_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen"
	"github.com/kernelgen/kgen/tests/rules"
)

// TestRules runs the cases of every rule of tests/rules.
func TestRules(t *testing.T) {
	m := compile(t)
	for _, rule := range rules.All() {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			for _, c := range rule.Cases {
				t.Run(c.Name, func(t *testing.T) { m.verify(t, &c) })
			}
		})
	}
}

func (m *module) verify(t *testing.T, c *rules.Case) {
	i := slices.IndexFunc(m.Specs, func(s *gen.Spec) bool { return s.Name == c.Spec })
	if i < 0 {
		t.Fatalf("no spec %s", c.Spec)
	}
	s, ran := m.Specs[i], 0
	programs := c.Programs(s.Spec)
	for _, op := range s.Ops {
		for v, p := range op.Programs {
			if slices.Contains(programs, p) {
				m.check(t, run{spec: s, op: op, variant: v, Case: c.Case, near: c.Differ})
				ran++
			}
		}
	}
	if ran == 0 {
		t.Fatalf("%s has no program for %v", c.Spec, c.Static)
	}
}

// TestNoFloatAtomics: the order of a sum is fixed, so no kernel adds floats
// atomically.
func TestNoFloatAtomics(t *testing.T) {
	float := regexp.MustCompile(`atomic_(float|half)|atomic<\s*(float|half|bfloat)`)
	for _, f := range compile(t).Shaders() {
		if text := float.Find(f.Data); text != nil {
			t.Errorf("%s has %s", f.Path, text)
		}
	}
}
