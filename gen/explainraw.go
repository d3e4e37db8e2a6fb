package gen

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
)

// explainRaw says how variant i of an op is launched whose kernels are written
// by hand, and where its sources are.
func (s *Spec) explainRaw(op *Op, i int) []byte {
	var b bytes.Buffer
	p := op.Programs[i]
	label := strings.Fields(op.Name + " " + StaticName(op.Choices) + " " + DTypeName(p))
	fmt.Fprintf(&b, "%s: written by hand\n", strings.Join(label, " "))
	for _, t := range p.Raw.Temps {
		fmt.Fprintf(&b, "workspace %s %s [%s]\n", t.Name, t.Type, axisList(t.Axes))
	}
	for n, l := range p.Raw.Launches {
		fmt.Fprintf(&b, "%d. %s\n", n+1, l.Name)
		fmt.Fprintf(&b, "   c: an item for each of %s, of %d ps", tileList(l.Items), l.CostPS)
		if len(l.Cost) > 0 {
			fmt.Fprintf(&b, " for each of %s", axisList(l.Cost))
		}
		if l.Scratch > 0 {
			fmt.Fprintf(&b, ", %d bytes of scratch memory", l.Scratch)
		}
		b.WriteByte('\n')
		if len(l.Groups) == 0 {
			continue
		}
		fmt.Fprintf(&b, "   msl: a threadgroup of %d for each of %s", l.Threads, tileList(l.Groups))
		for _, a := range l.Shared {
			fmt.Fprintf(&b, ", shared %s %s", a.Name, a)
		}
		b.WriteByte('\n')
	}
	metal, cuda := "none", "none"
	if s.Raw.Metal != nil {
		metal = s.Raw.Metal.File
	}
	if s.Raw.CUDA != nil {
		cuda = s.Raw.CUDA.File
	}
	fmt.Fprintf(&b, "sources: c %s, msl %s, cuda %s, reference %s\n", s.Raw.C.File, metal, cuda, s.Raw.Go.File)
	return b.Bytes()
}

func axisList(axes []*expr.Axis) string {
	return strings.Join(collect(axes, func(a *expr.Axis) string { return a.Name }), " ")
}

// tileList writes tiles as a spec does.
func tileList(tiles []expr.Tile) string { return strings.Join(collect(tiles, expr.Tile.String), ", ") }
