package parity_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/tests/rules"
)

// The rules of tests/rules, each by its name, on every device and in every type
// that it is for.

func TestC001LayerNormVariance(t *testing.T)        { verify(t, "C001LayerNormVariance") }
func TestC002ConstantRows(t *testing.T)             { verify(t, "C002ConstantRows") }
func TestC003ActivationsDoNotOverflow(t *testing.T) { verify(t, "C003ActivationsDoNotOverflow") }
func TestC004ActivationsAtInfinity(t *testing.T)    { verify(t, "C004ActivationsAtInfinity") }
func TestC006SoftmaxOfMaskedRows(t *testing.T)      { verify(t, "C006SoftmaxOfMaskedRows") }
func TestC007NarrowSums(t *testing.T)               { verify(t, "C007NarrowSums") }
func TestC008NaNWins(t *testing.T)                  { verify(t, "C008NaNWins") }
func TestC012EveryTargetIgnored(t *testing.T)       { verify(t, "C012EveryTargetIgnored") }
func TestC013Targets(t *testing.T)                  { verify(t, "C013Targets") }
func TestC014MaskedMean(t *testing.T)               { verify(t, "C014MaskedMean") }
func TestC015NonfiniteChecksSurvive(t *testing.T)   { verify(t, "C015NonfiniteChecksSurvive") }
func TestC017BiasCorrection(t *testing.T)           { verify(t, "C017BiasCorrection") }
func TestC019RepeatedIDs(t *testing.T)              { verify(t, "C019RepeatedIDs") }
func TestC023ZeroSizes(t *testing.T)                { verify(t, "C023ZeroSizes") }
func TestC024EmptyProducts(t *testing.T)            { verify(t, "C024EmptyProducts") }
func TestOptimiserSteps(t *testing.T)               { verify(t, "OptimiserSteps") }
func TestCastRoundsToNearestEven(t *testing.T)      { verify(t, "CastRoundsToNearestEven") }
func TestArgmaxLowestIndex(t *testing.T)            { verify(t, "ArgmaxLowestIndex") }
func TestZeroRows(t *testing.T)                     { verify(t, "ZeroRows") }
func TestCrossEntropyIgnoredRows(t *testing.T)      { verify(t, "CrossEntropyIgnoredRows") }
func TestDistillation(t *testing.T)                 { verify(t, "Distillation") }
func TestKullbackLeibler(t *testing.T)              { verify(t, "KullbackLeibler") }
func TestWindows(t *testing.T)                      { verify(t, "Windows") }
func TestSliceAndPadAreAdjoint(t *testing.T)        { verify(t, "SliceAndPadAreAdjoint") }
func TestLoRAScale(t *testing.T)                    { verify(t, "LoRAScale") }
func TestLinearLayer(t *testing.T)                  { verify(t, "LinearLayer") }
func TestLogSoftmaxOfMaskedRows(t *testing.T)       { verify(t, "LogSoftmaxOfMaskedRows") }
func TestLongRowsOfSoftmax(t *testing.T)            { verify(t, "LongRowsOfSoftmax") }
func TestBatchedProducts(t *testing.T)              { verify(t, "BatchedProducts") }
func TestDropoutEnds(t *testing.T)                  { verify(t, "DropoutEnds") }
func TestMetrics(t *testing.T)                      { verify(t, "Metrics") }

// TestEveryRuleHasATest: a rule that is added to tests/rules is added here.
func TestEveryRuleHasATest(t *testing.T) {
	source, err := os.ReadFile("rules_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules.All() {
		if !strings.Contains(string(source), `verify(t, "`+r.Name+`")`) {
			t.Errorf("add func Test%s to rules_test.go", r.Name)
		}
	}
}

// verify runs the cases of a rule.
func verify(t *testing.T, name string) {
	devices := everywhere(t)
	for _, c := range rules.Find(name) {
		t.Run(c.Name, func(t *testing.T) {
			programs := c.Programs(specs()[c.Spec])
			if len(programs) == 0 {
				t.Fatalf("%s has no program for %v", c.Spec, c.Static)
			}
			for _, p := range programs {
				g := newGoldenCase(t, p, c.Case)
				for _, d := range devices {
					g.verify(t, d, &c)
				}
			}
		})
	}
}

// verify compares results and gradients by what the rule allows.
func (g *goldenCase) verify(t *testing.T, d device, c *rules.Case) {
	t.Helper()
	p := g.call.form.program
	outs, grads, err := g.call.run(t, d.Device, g.cotangents, g.wrt)
	if err != nil {
		t.Errorf("%s on %s: %v", programName(p), d.name, err)
		return
	}
	names, want := g.wanted()
	for i, got := range slices.Concat(outs, grads) {
		if names[i] == "" {
			continue
		}
		if !slices.Equal(got.shape, want[i].shape) {
			t.Errorf("%s on %s: %s is %v, want %v", programName(p), d.name, names[i], got, want[i])
			continue
		}
		if msg := c.Differ(storage(got.dtype), got.data, want[i].data); msg != "" {
			t.Errorf("%s on %s: %s: %s", programName(p), d.name, names[i], msg)
		}
	}
}
