package spec

import (
	"github.com/kernelgen/kgen/gen/diag"

	"github.com/kernelgen/kgen/internal/tomltree"
)

// Raw is the [raw] table: a kernel whose sources are written by hand.
type Raw struct {
	Pos      diag.Pos
	Launches []Launch
	// The sources, which lie beside the spec; nil where there is no such file.
	C, Metal, CUDA, Go *RawSource
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
	Groups  []Text // GPU: threadgroups
	Threads *Value // GPU: threads of a group
	Shared  []Entry
}

// raw reads [raw], and refuses it in company that it cannot have.
func (d *decoder) raw(t *table) {
	n, _ := t.get("raw", tablesKind)
	if n == nil {
		if temp := t.n.Child("temp"); temp != nil {
			d.list.AddHint(temp.Key.Pos(), "the planner makes the workspaces of other specs", "[temp] is for kernels with [raw]")
		}
		return
	}
	r := &Raw{Pos: n.Key.Pos()}
	d.tables(t, "raw", func(t *table) { r.Launches = append(r.Launches, d.launch(t)) })
	if n.Kind != tomltree.Table {
		return
	}
	if len(n.Kids) == 0 {
		d.list.AddHint(r.Pos, "such as [raw.NAME]", "[raw] has no launch")
	}
	d.spec.Raw = r
	d.notWithRaw(t.n)
	d.checkRawNames()
}

func (d *decoder) launch(t *table) Launch {
	return Launch{
		Name: t.n.Key, Cost: t.text("cost"),
		Items: t.tiles("items"), CostPS: t.whole("cost_ps"), Scratch: t.whole("scratch"),
		Groups: t.tiles("groups"), Threads: t.whole("threads"), Shared: d.entries(t, "shared"),
	}
}

// tiles reads a list of texts of which several may be the same.
func (t *table) tiles(name string) []Text {
	n, k := t.get(name, tilesKind)
	if n == nil {
		return nil
	}
	if n.Kind != tomltree.Array || len(n.Kids) == 0 {
		t.list.AddHint(n.Val.Pos(), `such as ["R", "D/64"]`, "%s must be a list of axes", name)
		return nil
	}
	var texts []Text
	for _, kid := range n.Kids {
		if v := stringOf(t.list, kid, "an element of "+name); v.IsSet() {
			texts = append(texts, v)
		}
	}
	if k.most > 0 && len(texts) > k.most {
		t.list.Add(texts[k.most].Pos(), "%s has %d dimensions of %s, at most %d are possible", t.name, len(texts), name, k.most)
	}
	return texts
}

// notWithRaw reports what a spec with [raw] cannot have: its meaning is that of
// its sources.
func (d *decoder) notWithRaw(root *tomltree.Node) {
	s := d.spec
	if s.Family.IsSet() {
		d.list.Add(s.Family.Pos(), "a kernel with [raw] is of no other family")
	}
	for _, key := range []string{"let", "save"} {
		if n := root.Child(key); n != nil {
			d.list.Add(n.Key.Pos(), "a kernel with [raw] has no [%s]: its sources say what it computes", key)
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
	g.Static = d.cases(t, "static")
	g.In = d.entries(t, "in")
	g.Out = d.entries(t, "out")
	kernel, wrt := t.n.Child("kernel"), t.n.Child("wrt")
	switch {
	case kernel == nil && wrt == nil:
		d.list.AddHint(t.pos(), "or kernel, the spec that computes it", "[grad] lacks the key wrt")
	case kernel != nil && wrt != nil:
		d.list.Add(kernel.Key.Pos(), "[grad] has both wrt and kernel: a gradient is derived, or it is a spec")
	case kernel != nil && len(g.From) > 0:
		d.list.Add(g.From[0].Pos(), "from goes with wrt: what the kernel reads says which outputs carry a cotangent")
	}
}

// cases reads a table from conditions on static choices to others.
func (d *decoder) cases(t *table, name string) []Entry {
	n, _ := t.get(name, casesKind)
	if n == nil || !d.isTable(n, name) {
		return nil
	}
	n.RefuseCases(&d.list)
	var es []Entry
	for _, k := range n.Kids {
		v := stringOf(&d.list, k, name)
		if v.IsSet() && d.condition(k.Key) && d.condition(v) {
			es = append(es, Entry{k.Key, v})
		}
	}
	return es
}
