package spec

import (
	"math"

	"github.com/kernelgen/kgen/gen/diag"
)

// Raw is the [raw] table: a kernel whose sources are written by hand.
type Raw struct {
	Pos      diag.Pos
	Launches []Launch
	// The sources, which lie beside the spec; nil where there is no such file.
	C, Metal, Go *RawSource
}

// RawSource is a source file beside a spec, as positions count it: without byte
// order mark and with LF line ends.
type RawSource struct {
	File string // slash-separated, relative to the module root
	Text string
}

// Launch is a table of [raw]: a function of the sources and how it is launched.
// Tiles are texts such as "R" or "P D/4096".
type Launch struct {
	Name    Text
	Items   []Text // C: work items
	Cost    Text   // C: axes
	CostPS  *Value // C: picoseconds
	Scratch *Value // C: bytes for each worker
	Groups  []Text // Metal: threadgroups
	Threads *Value // Metal: threads of a group
	Shared  []Entry
}

// The limits of a launch.
const (
	maxGroupDims = 3
	maxThreads   = 1024
)

// raw reads [raw], and refuses it in company that it cannot have.
func (d *decoder) raw(n, root *node) {
	if n == nil {
		if temp := root.child("temp"); temp != nil {
			d.list.AddHint(temp.key.Pos(), "the planner makes the workspaces of other specs", "[temp] is for kernels with [raw]")
		}
		return
	}
	if !d.isTable(n, "raw") {
		return
	}
	r := &Raw{Pos: n.key.Pos()}
	refuseCases(&d.list, n)
	for _, k := range n.kids {
		if d.ident(k.key) && d.isTable(k, k.key.Value) {
			r.Launches = append(r.Launches, d.launch(k))
		}
	}
	if len(n.kids) == 0 {
		d.list.AddHint(r.Pos, "such as [raw.NAME]", "[raw] has no launch")
	}
	d.spec.Raw = r
	d.notWithRaw(root)
	d.checkRawNames()
}

func (d *decoder) launch(n *node) Launch {
	t := d.table(n, "[raw."+n.key.Value+"]")
	l := Launch{Name: n.key, Cost: t.text("cost")}
	if n.child("items") == nil {
		d.list.Add(t.pos(), "%s lacks the key items", t.name)
	}
	l.Items = d.tiles(t, "items")
	l.CostPS = d.whole(t, "cost_ps", 1, math.MaxInt32)
	l.Scratch = d.whole(t, "scratch", 0, 1<<30)
	l.Groups = d.tiles(t, "groups")
	l.Threads = d.whole(t, "threads", 1, maxThreads)
	d.together(t, "groups", "threads")
	d.together(t, "threads", "groups")
	d.together(t, "shared", "groups")
	if len(l.Groups) > maxGroupDims {
		d.list.Add(l.Groups[maxGroupDims].Pos(), "%s has %d dimensions of groups, at most %d are possible", t.name, len(l.Groups), maxGroupDims)
	}
	l.Shared = d.entries(t, "shared")
	t.finish()
	return l
}

// tiles reads a list of texts of which several may be the same.
func (d *decoder) tiles(t *table, key string) []Text {
	n := t.get(key)
	if n == nil {
		return nil
	}
	if n.kind != arrayNode || len(n.kids) == 0 {
		d.list.AddHint(n.val.Pos(), `such as ["R", "D/64"]`, "%s must be a list of axes", key)
		return nil
	}
	var texts []Text
	for _, k := range n.kids {
		if v := stringOf(&d.list, k, "an element of "+key); v.IsSet() {
			texts = append(texts, v)
		}
	}
	return texts
}

// whole reads an optional integer of [lo, hi].
func (d *decoder) whole(t *table, key string, lo, hi int64) *Value {
	v := t.value(key)
	if v == nil {
		return nil
	}
	if _, err := v.AsInt(lo, hi); err != nil {
		d.list.Add(v.Pos(), "%s: %v", key, err)
		return nil
	}
	return v
}

// notWithRaw reports what a spec with [raw] cannot have: its meaning is that of
// its sources.
func (d *decoder) notWithRaw(root *node) {
	s := d.spec
	if s.Family.IsSet() {
		d.list.Add(s.Family.Pos(), "a kernel with [raw] is of no other family")
	}
	for _, key := range []string{"let", "save"} {
		if n := root.child(key); n != nil {
			d.list.Add(n.key.Pos(), "a kernel with [raw] has no [%s]: its sources say what it computes", key)
		}
	}
	for _, x := range s.Tensors {
		for _, t := range []Text{x.Expr, x.Over, x.Reduce} {
			if t.IsSet() {
				d.list.Add(t.Pos(), "[%s.%s] has an expression, but [raw] says that the sources compute it", x.Kind, x.Name.Value)
				break
			}
		}
		if x.List.IsSet() {
			d.list.Add(x.List.Pos(), "a kernel with [raw] takes no list")
		}
		if x.Fill != nil {
			d.list.Add(x.Fill.Pos(), "a kernel with [raw] says itself what a read outside %s gives", x.Name.Value)
		}
	}
	if s.Grad != nil && len(s.Grad.Wrt) > 0 {
		d.list.AddHint(s.Grad.Pos, `[grad] kernel = "NAME" names the spec that computes it`, "no gradient can be derived of a kernel with [raw]")
	}
}

// gradKernel reads the part of [grad] for a gradient written as a spec of its
// own.
func (d *decoder) gradKernel(t *table, g *Grad) {
	g.Kernel = t.text("kernel")
	for _, key := range []string{"static", "in", "out"} {
		d.together(t, key, "kernel")
	}
	g.Static = d.cases(t, "static")
	g.In = d.entries(t, "in")
	g.Out = d.entries(t, "out")
	kernel, wrt := t.n.child("kernel"), t.n.child("wrt")
	switch {
	case kernel == nil && wrt == nil:
		d.list.AddHint(t.pos(), "or kernel, the spec that computes it", "[grad] lacks the key wrt")
	case kernel != nil && wrt != nil:
		d.list.Add(kernel.key.Pos(), "[grad] has both wrt and kernel: a gradient is derived, or it is a spec")
	case kernel != nil && len(g.From) > 0:
		d.list.Add(g.From[0].Pos(), "from goes with wrt: what the kernel reads says which outputs carry a cotangent")
	}
}

// cases reads a table from conditions on static choices to others.
func (d *decoder) cases(t *table, key string) []Entry {
	n := t.get(key)
	if n == nil || !d.isTable(n, key) {
		return nil
	}
	refuseCases(&d.list, n)
	var es []Entry
	for _, k := range n.kids {
		v := stringOf(&d.list, k, key)
		if v.IsSet() && d.condition(k.key) && d.condition(v) {
			es = append(es, Entry{k.key, v})
		}
	}
	return es
}
