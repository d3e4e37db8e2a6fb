package mutation

import (
	"flag"
	"testing"

	"github.com/kernelgen/kgen/gen"
)

var full = flag.Bool("full", false, "change every operator of every kernel, one after another")

func TestMutants(t *testing.T) {
	m := newModule(t)
	m.sameSources(t, m.compile(t))
	intact := m.build(t, m.compile(t), "intact")
	all := intact.all(t)
	t.Log(all)
	list := mutants(m.compile(t))
	for round := range 100 {
		res := m.compile(t)
		any := false
		var did []string
		vs := variants(res)
		for i, v := range vs {
			if round < len(list[i]) {
				any = true
				did = append(did, v.corrupt(t, list[i][round]))
			} else {
				did = append(did, "")
			}
		}
		if !any {
			break
		}
		bin := m.build(t, res, "mutant")
		for i, v := range vs {
			if did[i] != "" && bin.passes(t, v.test) {
				t.Errorf("%s passes: %v %s", v.test, list[i][round], did[i])
			}
		}
		t.Log("round", round)
	}
}

var _ gen.Module
