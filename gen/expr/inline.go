package expr

import (
	"fmt"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/spec"
)

// inline puts the formula of an elementwise spec in place of its call. What
// the formula names more than once becomes a let of the caller.
func (e *env) inline(a *astCall) Expr {
	c := e.in.c
	u := c.byName[a.name]
	if u == nil {
		if c.broken[a.name] {
			return nil
		}
		return e.failHint(a.at, e.callHint(a.name), "unknown function %q", a.name)
	}
	if e.host != "" {
		return e.fail(a.at, "%s is computed by the host, it cannot call the spec %s", e.host, a.name)
	}
	if why := u.notElementwise(); why != "" {
		return e.fail(a.at, "the spec %s cannot be called in an expression: %s", a.name, why)
	}
	if u.cyclic {
		return nil
	}
	f := &env{in: e.in, list: &diag.List{}, step: e.step, callee: u, bound: map[string]Expr{}}
	if !e.bindArgs(a, f) {
		return nil
	}
	return f.body(a.at)
}

func (e *env) callHint(name string) string {
	if hint := e.in.c.similar(name); hint != "" {
		return hint
	}
	lower := strings.ToLower(name)
	if _, ok := intrinsics[lower]; ok && lower != name {
		return "did you mean " + lower + "?"
	}
	return ""
}

// notElementwise returns why a spec cannot be inlined, "" if it can.
func (u *unit) notElementwise() string {
	switch {
	case u.spec.Raw != nil:
		return "its sources are written by hand"
	case len(u.spec.Statics) > 0:
		return "it has static choices"
	case len(u.axes) > 0:
		return "it has axes of its own"
	case len(u.require) > 0:
		return "it has conditions to check on the host"
	}
	outs := 0
	for _, d := range u.tensors {
		switch {
		case d.Kind == spec.InOut:
			return "it has the inout " + d.name
		case d.List.IsSet():
			return "its input " + d.name + " is a list"
		case d.Optional:
			return d.name + " is optional"
		case d.Bounds.IsSet():
			return "its input " + d.name + " has bounds"
		case len(d.over) > 0:
			return d.name + " is a reduction"
		case d.Kind == spec.Out:
			outs++
		}
		if why := u.notPointwise(d.expr); why != "" {
			return why
		}
	}
	if outs != 1 {
		return fmt.Sprintf("it has %d outputs", outs)
	}
	return ""
}

// notPointwise returns why an expression depends on its place.
func (u *unit) notPointwise(a ast) string {
	why := ""
	walkAST(a, func(a ast) {
		switch a := a.(type) {
		case *astIndex:
			why = "it reads " + a.name + " at another place"
		case *astName:
			if u.names[a.name].what == "axis" {
				why = "it uses the axis " + a.name
			}
		case *astCall:
			if a.name == "flat" || u.isTypeVar(a.name) {
				why = "it uses " + a.name + "(...)"
			}
		}
	})
	return why
}

func (u *unit) isTypeVar(name string) bool {
	for _, v := range u.spec.Types {
		if v.Name.Value == name {
			return true
		}
	}
	return false
}

// formal is an argument of an inlined spec.
type formal struct {
	name string
	kind Kind
	def  *Const
}

// formals returns the arguments of a call of u: its inputs, then its
// parameters, both in the order of the file.
func (u *unit) formals() []formal {
	var fs []formal
	for _, d := range u.tensors {
		if d.Kind == spec.In {
			k := Int
			if u.isFloat(d) {
				k = Float
			}
			fs = append(fs, formal{d.name, k, nil})
		}
	}
	for i := range u.spec.Params {
		p := &u.spec.Params[i]
		if !p.Type.IsSet() {
			continue
		}
		t := paramTypes[p.Type.Value]
		f := formal{name: p.Name.Value, kind: t.kind()}
		if p.Default != nil {
			f.def = paramDefault(t, p.Default)
		}
		fs = append(fs, f)
	}
	return fs
}

// bindArgs checks the arguments of a call and binds the names of f to them.
// Trailing parameters with a default may be left out.
func (e *env) bindArgs(a *astCall, f *env) bool {
	formals := f.callee.formals()
	ok := true
	if len(a.args) > len(formals) {
		e.fail(a.at, "%s has %s, not %d", a.name, listFormals(formals), len(a.args))
		return false
	}
	for i, p := range formals {
		switch {
		case i < len(a.args):
			x := e.want(a.args[i], p.kind)
			if x == nil {
				ok = false
				continue
			}
			f.bind(p.name, x, a.at)
		case p.def != nil:
			f.bound[p.name] = p.def
		default:
			e.fail(a.at, "%s has %s, not %d", a.name, listFormals(formals), len(a.args))
			return false
		}
	}
	return ok
}

func listFormals(fs []formal) string {
	var names []string
	for _, f := range fs {
		names = append(names, f.name)
	}
	s := fmt.Sprintf("%d operands (%s)", len(fs), strings.Join(names, ", "))
	return strings.Replace(s, "1 operands", "1 operand", 1)
}

// bind gives a name of the inlined spec a value: the expression itself if it
// is short or used once, else a let that holds it.
func (e *env) bind(name string, x Expr, at diag.Pos) {
	if e.callee.uses[name] > 1 && !isShort(x) {
		x = e.hoist(name, x, at)
	}
	e.bound[name] = x
}

// isShort reports whether an expression is as good as a name.
func isShort(x Expr) bool {
	switch x := x.(type) {
	case *Const, *ParamRef, *Index, *Size:
		return true
	case *Read:
		return x.Idx == nil
	case *Convert:
		return x.Round == InvalidDType && isShort(x.X)
	}
	return false
}

// hoist stores x in a new let before the current step and returns a read of it.
func (e *env) hoist(name string, x Expr, at diag.Pos) Expr {
	if letTypes[x.Kind()] == InvalidDType {
		return x
	}
	in := e.in
	s := &Step{Expr: x, Pos: at}
	s.Result = in.let(in.freshName(e.step+"_"+e.callee.spec.Name+"_"+name), x.Kind(), in.freeAxes(s), at)
	in.tensors[s.Result.Name] = s.Result
	in.prog.Steps = append(in.prog.Steps, s)
	return &Read{Node{x.Kind(), at}, s.Result, nil}
}

// body returns the value of the inlined spec. Mistakes in it are reported where
// it is checked for itself.
func (e *env) body(at diag.Pos) Expr {
	for _, d := range e.callee.tensors {
		if d.Kind == spec.In {
			continue
		}
		x := e.check(d.expr)
		if d.Kind == spec.Out {
			if e.callee.isFloat(d) {
				x = e.convert(x, Float)
			}
			return x
		}
		if x == nil {
			return nil
		}
		e.bind(d.name, x, at)
	}
	return nil
}

// findCycles marks and reports the specs that call themselves.
func (c *checker) findCycles() {
	for _, u := range c.units {
		u.eachCall(func(a *astCall) {
			if path := c.pathTo(a.name, u, map[*unit]bool{}); path != nil {
				u.cyclic = true
				u.list.Add(a.at, "%s calls itself: %s", u.spec.Name, strings.Join(append([]string{u.spec.Name}, path...), " calls "))
			}
		})
	}
	for _, u := range c.units {
		u.cyclic = u.cyclic || c.callsCyclic(u, map[*unit]bool{})
	}
}

// callsCyclic reports whether inlining u would enter a cycle.
func (c *checker) callsCyclic(u *unit, seen map[*unit]bool) bool {
	if u.cyclic || seen[u] {
		return u.cyclic
	}
	seen[u] = true
	found := false
	u.eachCall(func(a *astCall) {
		if v := c.callee(a.name); v != nil && c.callsCyclic(v, seen) {
			found = true
		}
	})
	return found
}

// eachCall calls f for every call in the steps of u.
func (u *unit) eachCall(f func(*astCall)) {
	for _, d := range u.tensors {
		walkAST(d.expr, func(a ast) {
			if call, ok := a.(*astCall); ok {
				f(call)
			}
		})
	}
}

// callee returns the spec that a call inlines, nil for everything else.
func (c *checker) callee(name string) *unit {
	if isBuiltin(name) {
		return nil
	}
	return c.byName[name]
}

// isBuiltin reports whether a call of the name never means a spec.
func isBuiltin(name string) bool {
	switch name {
	case "where", "size", "flat", "has", "stop", "inf", "nan":
		return true
	}
	_, cast := castKinds[name]
	_, fn := intrinsics[name]
	return cast || fn
}

// pathTo returns the names on the way from the spec name to the unit to.
func (c *checker) pathTo(name string, to *unit, seen map[*unit]bool) []string {
	u := c.callee(name)
	if u == nil || seen[u] {
		return nil
	}
	if u == to {
		return []string{name}
	}
	seen[u] = true
	var path []string
	u.eachCall(func(a *astCall) {
		if path == nil {
			if rest := c.pathTo(a.name, to, seen); rest != nil {
				path = append([]string{name}, rest...)
			}
		}
	})
	return path
}
