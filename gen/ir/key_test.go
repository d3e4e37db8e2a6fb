package ir

import (
	"testing"

	"github.com/kernelgen/kgen/gen/expr"
)

// A function that copies one buffer into another, with the given names.
func copying(in, out, v string, change func(*Func)) *Func {
	size := &Field{Name: "n" + v, Type: I64}
	from, to := &Buffer{Name: in, Type: expr.F32}, &Buffer{Name: out, Slot: 1, Arg: 1, Type: expr.F32, Write: true}
	i := &Var{Name: v, Type: Scalar(I64)}
	zero, one := &Lit{T: Scalar(I64)}, &Lit{T: Scalar(I64), I: 1}
	f := &Func{
		Symbol: "copy_" + in, Doc: "copies " + in, Buffers: []*Buffer{from, to}, Fields: []*Field{size},
		Body: []Stmt{
			&Note{Text: "from " + in},
			&For{V: i, From: zero, To: &Get{F: size}, Step: one, Body: []Stmt{
				&Store{B: to, Off: &Ref{V: i}, X: &Load{B: from, Off: &Ref{V: i}}},
			}},
		},
	}
	if change != nil {
		change(f)
	}
	return f
}

// Names and comments are no part of a key, all else is.
func TestKey(t *testing.T) {
	key := Key(copying("x", "y", "i", nil))
	if Key(copying("a", "b", "k", nil)) != key {
		t.Error("other names give another key")
	}
	loop := func(f *Func) *For { return f.Body[1].(*For) }
	store := func(f *Func) *Store { return loop(f).Body[0].(*Store) }
	for what, change := range map[string]func(*Func){
		"a storage type":    func(f *Func) { f.Buffers[0].Type = expr.F16 },
		"a slot":            func(f *Func) { f.Buffers[0].Slot = 2 },
		"an offset":         func(f *Func) { f.Fields[0].Offset = 8 },
		"a guard":           func(f *Func) { f.Guarded = true },
		"unrolling":         func(f *Func) { loop(f).Unroll = true },
		"a constant":        func(f *Func) { loop(f).From.(*Lit).I = 1 },
		"the type of one":   func(f *Func) { loop(f).From.(*Lit).T = Scalar(I32) },
		"which buffer":      func(f *Func) { store(f).X.(*Load).B = f.Buffers[1] },
		"an operand more":   func(f *Func) { store(f).N = &Lit{T: Scalar(I64), I: 1} },
		"the operand's use": func(f *Func) { store(f).Stride = &Lit{T: Scalar(I64), I: 1} },
		"a kind of node":    func(f *Func) { store(f).Off = &Un{X: store(f).Off} },
		"a fault's tensor": func(f *Func) {
			f.Body = append(f.Body, &Fault{B: f.Buffers[0], Pos: &Lit{}, Value: &Lit{}, Bound: &Lit{}})
		},
	} {
		if Key(copying("x", "y", "i", change)) == key {
			t.Errorf("%s does not count", what)
		}
	}
	fault := func(f *Func) {
		f.Body = append(f.Body, &Fault{B: f.Buffers[0], Pos: &Lit{}, Value: &Lit{}, Bound: &Lit{}})
	}
	other := func(f *Func) { fault(f); f.Buffers[0].Arg = 4 }
	if Key(copying("x", "y", "i", fault)) == Key(copying("x", "y", "i", other)) {
		t.Error("the tensor that a fault names does not count")
	}
}
