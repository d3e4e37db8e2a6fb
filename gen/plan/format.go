package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/expr"
)

// Format prints the kernel sequence of p: what each kernel reads, computes and
// writes, with bytes and flops.
func Format(p *Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", p.Program.Name, count(len(p.Kernels), "kernel"))
	for _, t := range p.Temps {
		fmt.Fprintf(&b, "workspace %s %s[%s]\n", t.Name, t.Type, axisList(t.Axes))
	}
	for i, k := range p.Kernels {
		fmt.Fprintf(&b, "\n%d. %s", i+1, familyOf(k))
		if len(k.Par) > 0 {
			fmt.Fprintf(&b, " over %s", axisList(k.Par))
		}
		if len(k.Red) > 0 {
			fmt.Fprintf(&b, ", reducing %s", axisList(k.Red))
		}
		b.WriteByte('\n')
		if q := k.Prod; q != nil {
			fmt.Fprintf(&b, "   %s = sum over %s of (%s) * (%s)\n", q.Acc.Name, axisList(k.Red), expr.Format(q.A), expr.Format(q.B))
		}
		if s := k.Place; s != nil {
			fmt.Fprintf(&b, "   %s[%s] += %s\n", s.Acc.Name, expr.Format(s.ID), expr.Format(s.Value))
		}
		for _, s := range k.Stages {
			fmt.Fprintf(&b, "   %s = %s of %s\n", s.Let.Name, s.Reduce, expr.Format(s.Expr))
		}
		for _, s := range k.Sums {
			fmt.Fprintf(&b, "   %s[%s] = sum over %s of %s\n", s.Let.Name, k.Chunk.Axis.Name, axisList(k.Par), expr.Format(s.Expr))
		}
		for _, s := range k.Stores {
			fmt.Fprintf(&b, "   store %s = %s", s.T.Name, expr.Format(s.Expr))
			if s.Lazy {
				b.WriteString(", where a gradient reads it")
			}
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "   reads %s bytes, writes %s bytes, %s flops\n", k.BytesRead(), k.BytesWritten(), k.Flops())
	}
	var read, written Cost
	for _, k := range p.Kernels {
		read, written = read.Plus(k.BytesRead()), written.Plus(k.BytesWritten())
	}
	fmt.Fprintf(&b, "\ntogether:       reads %s bytes, writes %s bytes\n", read, written)
	read, written = p.Least()
	fmt.Fprintf(&b, "least possible: reads %s bytes, writes %s bytes\n", read, written)
	return b.String()
}

// Least is the traffic of a single perfect kernel: each argument that is read or
// written, once.
func (p *Plan) Least() (read, written Cost) {
	for _, t := range p.Program.Ins {
		var spaces [][]*expr.Axis
		for _, k := range p.Kernels {
			if slices.Contains(k.Reads(), t) {
				for _, space := range k.readSpaces(t) {
					spaces = addSpace(spaces, space)
				}
			}
		}
		for _, space := range spaces {
			read = read.add(int64(t.Type.Bytes()), space)
		}
		if t.Role == expr.InOut {
			written = written.add(int64(t.Type.Bytes()), t.Axes)
		}
	}
	for _, t := range p.Program.Outs {
		if !t.Lazy {
			written = written.add(int64(t.Type.Bytes()), t.Axes)
		}
	}
	return read, written
}

func axisList(axes []*expr.Axis) string {
	var names []string
	for _, a := range axes {
		names = append(names, a.Name)
	}
	return strings.Join(names, " ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
