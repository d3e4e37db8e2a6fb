package metalsim_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/kernelgen/kgen/gen"
	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/out"
	"github.com/kernelgen/kgen/gen/sim"
	"github.com/kernelgen/kgen/gen/sim/simtest"
)

// module is the module's specs, compiled, with the programs that their Metal
// sources are built to.
type module struct {
	*gen.Result
	dir     string // of programs
	shaders []out.File

	mu       sync.Mutex
	programs map[built]func() (*sim.Program, error)
}

// built is a source, by its path, with what it is built with.
type built struct {
	path string
	san  sim.Sanitizer
}

func compile(t testing.TB) *module {
	t.Helper()
	simtest.Need(t)
	m, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// compiled is the module of all tests. Its programs lie where `kgen sim` keeps its own, so
// that a source is built once only.
var compiled = sync.OnceValues(func() (*module, error) {
	dir, err := sim.CacheDir()
	if err != nil {
		return nil, err
	}
	m, err := gen.Open("../..")
	if err != nil {
		return nil, err
	}
	res, list, err := m.Compile()
	if err == nil {
		err = list.Err()
	}
	if err != nil {
		return nil, err
	}
	return &module{Result: res, dir: dir, shaders: res.Shaders(), programs: map[built]func() (*sim.Program, error){}}, nil
})

// program returns the built source that holds the kernels of an op, which run on few
// elements each.
func (m *module) program(t testing.TB, op *gen.Op) *sim.Program {
	return m.programBuilt(t, op, sim.Quick)
}

// programBuilt is program with a sanitizer.
func (m *module) programBuilt(t testing.TB, op *gen.Op, san sim.Sanitizer) *sim.Program {
	t.Helper()
	if err := op.Bound.Unlowered[bind.MSL]; err != nil {
		t.Fatalf("%s has no Metal kernels: %v", op.Name, err)
	}
	symbol := op.Bound.Op.Variants[0].Kernels[0].Symbol
	for _, f := range m.shaders {
		if !bytes.Contains(f.Data, []byte(symbol)) {
			continue
		}
		m.mu.Lock()
		key := built{f.Path, san}
		build := m.programs[key]
		if build == nil {
			build = sync.OnceValues(func() (*sim.Program, error) { return sim.Build(context.Background(), m.dir, f.Path, f.Data, san) })
			m.programs[key] = build
		}
		m.mu.Unlock()
		p, err := build()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	t.Fatalf("%s: no Metal source holds %s", op.Name, symbol)
	return nil
}

// label names a variant of an op in messages.
func label(op *gen.Op, variant int) string {
	return strings.Join(strings.Fields(op.Name+" "+gen.StaticName(op.Choices)+" "+gen.DTypeName(op.Programs[variant])), " ")
}
