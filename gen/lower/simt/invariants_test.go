package simt_test

import (
	"os"
	"reflect"
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/grad"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/lower/simt"
	"github.com/kernelgen/kgen/gen/plan"
	"github.com/kernelgen/kgen/gen/spec"
)

// programs are all instances of the project's specs, and their gradients.
func programs(t *testing.T) []*expr.Program {
	t.Helper()
	set, list := spec.Load(os.DirFS("../../.."), "specs")
	specs, wrong := expr.Check(set)
	if list = append(list, wrong...); len(list) > 0 {
		t.Fatal(list[0])
	}
	var all []*expr.Program
	for _, s := range specs {
		if s.Raw != nil {
			continue // written by hand: nothing to lower
		}
		for _, p := range s.Instances {
			all = append(all, p)
			if s.Grad == nil {
				continue
			}
			r, list := grad.Derive(p, grad.Decl{Name: s.Grad.Name, Wrt: s.Grad.Wrt, From: s.Grad.From})
			if len(list) > 0 {
				t.Fatal(list[0])
			}
			all = append(all, r.Program)
		}
	}
	return all
}

// TestKernelsAreWellFormed lowers every kernel of every spec and holds it to what
// emitters rely on.
func TestKernelsAreWellFormed(t *testing.T) {
	seen, wides := map[plan.Shape]int{}, map[plan.Shape]int{}
	for _, p := range programs(t) {
		pl, err := plan.New(p)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, k := range pl.Kernels {
			out, err := simt.Lower(pl, k, p.Name, &lower.Block{})
			if err != nil {
				t.Error(err)
				continue
			}
			seen[k.Shape]++
			check(t, out)
			if out.Small != nil {
				check(t, out.Small)
				s := k.Split()
				with := pl.WithSplit(s)
				parts, err := simt.LowerSmall(with, s.Parts, p.Name, &lower.Block{})
				if err != nil {
					t.Error(err)
					continue
				}
				check(t, parts)
				join, err := simt.Lower(with, s.Join, p.Name, &lower.Block{})
				if err != nil {
					t.Error(err)
					continue
				}
				check(t, join)
			}
			wide, err := simt.LowerWide(pl, k, p.Name, &lower.Block{})
			if err != nil {
				t.Error(err)
				continue
			}
			if wide != nil {
				wides[k.Shape]++
				check(t, wide)
				if !reflect.DeepEqual(wide.Grid, out.Grid) || wide.Threads != out.Threads {
					t.Errorf("%s: the wide form is launched in another way", p.Name)
				}
			}
		}
	}
	if wides[plan.Map] == 0 || wides[plan.Rows] == 0 {
		t.Errorf("wide forms by shape: %v", wides)
	}
	for s := plan.Map; s <= plan.Scatter; s++ {
		if seen[s] == 0 {
			t.Errorf("no %s kernel among the specs", s)
		}
	}
}

func check(t *testing.T, k *simt.Kernel) {
	t.Helper()
	if f := k.Func.Plain; f != nil {
		if f.Threads != k.Threads || len(f.Buffers) != len(k.Func.Buffers) {
			t.Errorf("%s: the plain form is launched in another way", f.Symbol)
		}
		plain := *k
		plain.Func = f
		defer check(t, &plain)
	}
	if len(k.Grid) > 3 || k.Threads != k.Func.Threads || k.Threads < 64 || k.Threads > 512 || k.Threads%32 != 0 {
		t.Errorf("%s: grid of %d dimensions, %d threads", k.Func.Symbol, len(k.Grid), k.Threads)
	}
	c := &checker{t: t, f: k.Func, visible: map[*ir.Var]bool{}, alike: map[*ir.Var]bool{}, names: map[string]bool{}}
	for _, b := range k.Func.Buffers {
		c.take(b.Name)
	}
	for _, a := range k.Func.Arrays {
		c.take(a.Name)
	}
	for _, m := range k.Func.Blocks {
		c.take(m.Name)
	}
	c.block(k.Func.Body, true)
	some := map[string]bool{} // extents that are not 0 where the kernel runs
	for _, d := range k.Grid {
		for _, a := range d.Axes {
			some["size_"+a.Name] = true
		}
	}
	ir.WalkExprs(k.Func.Body, func(e ir.Expr) {
		if b, ok := e.(*ir.Bin); ok && b.Op == ir.Lt {
			zero, isLit := b.X.(*ir.Lit)
			size, isGet := b.Y.(*ir.Get)
			if isLit && isGet && zero.I == 0 && some[size.F.Name] {
				t.Errorf("%s: asks whether %s is 0, along which its grid goes", k.Func.Symbol, size.F.Name)
			}
		}
	})
}

// checker walks a kernel with the variables that are visible.
type checker struct {
	t       *testing.T
	f       *ir.Func
	visible map[*ir.Var]bool
	alike   map[*ir.Var]bool // the same in all threads of a group
	names   map[string]bool
}

// take notes a name, which nothing else that is visible may have.
func (c *checker) take(name string) {
	if c.names[name] {
		c.t.Errorf("%s: two things are called %s", c.f.Symbol, name)
	}
	c.names[name] = true
}

func (c *checker) declare(v *ir.Var) func() {
	c.take(v.Name)
	c.visible[v] = true
	return func() {
		delete(c.visible, v)
		delete(c.names, v.Name)
	}
}

// block checks statements; uniform says that all threads of a group run them
// together, as barriers and SIMD operations need.
func (c *checker) block(body []ir.Stmt, uniform bool) {
	for _, s := range body {
		for _, e := range ir.Exprs(s) {
			c.expr(e, uniform)
		}
		switch s := s.(type) {
		case *ir.Decl:
			c.alike[s.V] = !s.V.Mut && c.same(s.X)
			defer c.declare(s.V)()
		case *ir.Assign:
			if !c.visible[s.V] || !s.V.Mut {
				c.t.Errorf("%s: %s is assigned, visible: %t, mutable: %t", c.f.Symbol, s.V.Name, c.visible[s.V], s.V.Mut)
			}
		case *ir.Barrier:
			if !uniform {
				c.t.Errorf("%s: a barrier that not all threads may reach", c.f.Symbol)
			}
		case *ir.For:
			done := c.declare(s.V)
			together := c.same(s.From) && c.same(s.To) && c.same(s.Step)
			c.alike[s.V] = together
			c.block(s.Body, uniform && together)
			done()
		case *ir.If:
			c.block(s.Then, uniform && c.same(s.C))
			c.block(s.Else, uniform && c.same(s.C))
		case *ir.MatrixClear, *ir.MatrixLoad, *ir.MatrixMultiply:
			if !uniform {
				c.t.Errorf("%s: a matrix operation that not all threads may reach", c.f.Symbol)
			}
		}
	}
}

func (c *checker) expr(e ir.Expr, uniform bool) {
	ir.WalkExpr(e, func(e ir.Expr) {
		switch e := e.(type) {
		case *ir.Ref:
			if !c.visible[e.V] {
				c.t.Errorf("%s: %s is used where it is not visible", c.f.Symbol, e.V.Name)
			}
		case *ir.Horizontal, *ir.Shuffle:
			if !uniform {
				c.t.Errorf("%s: a SIMD operation that not all threads may reach", c.f.Symbol)
			}
		}
		if e.Type().Vec {
			c.t.Errorf("%s: a vector value", c.f.Symbol)
		}
	})
}

// same reports whether e is the same in all threads of a group: it is made of
// constants, extents, the group's place and names of such values.
func (c *checker) same(e ir.Expr) bool {
	ok := true
	ir.WalkExpr(e, func(e ir.Expr) {
		switch e := e.(type) {
		case *ir.Ref:
			ok = ok && c.alike[e.V]
		case *ir.Here:
			ok = ok && (e.ID == ir.GroupX || e.ID == ir.GroupY || e.ID == ir.GroupZ)
		case *ir.Load, *ir.At, *ir.Horizontal, *ir.Shuffle:
			ok = false
		}
	})
	return ok
}
