package msl_test

import (
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/emit/msl"
	"github.com/kernelgen/kgen/gen/ir"
)

func TestEmitRefusesWhatIsNotSIMT(t *testing.T) {
	vec := &ir.Func{Symbol: "f", Body: []ir.Stmt{&ir.Multiply{}}}
	gap := &ir.Func{Symbol: "g", SIMT: true, Fields: []*ir.Field{{Name: "a", Type: ir.F32, Offset: 4}}}
	for text, f := range map[string]*ir.Func{"f: is not in SIMT form": vec, "field a is at 4": gap, "statement *ir.Multiply": vec} {
		_, err := msl.Emit(&msl.File{Spec: "specs/a/b.toml", Kernels: []*ir.Func{f}})
		if err == nil || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), "specs/a/b.toml") {
			t.Errorf("error %v, want one with %q", err, text)
		}
	}
}
