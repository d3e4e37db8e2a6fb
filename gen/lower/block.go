package lower

import (
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
)

// Block is the parameter block of one kernel: the extents and parameters that
// any of its forms reads. All forms share its layout.
type Block struct {
	Sizes  []SizeField
	Params []ParamField
	Wanted []WantedField
	Bytes  int // set by Layout, a multiple of 8
}

// SizeField is a block field that holds the extent of an axis.
type SizeField struct {
	Field *ir.Field
	Axis  *expr.Axis
}

// ParamField is a block field that holds a parameter.
type ParamField struct {
	Field *ir.Field
	Param *expr.Param
}

// WantedField is a block field that is not 0 where the program reads a lazy
// output, which then has memory.
type WantedField struct {
	Field  *ir.Field
	Tensor *expr.Tensor
}

// BlockOf is the block that holds the extents and parameters given.
func BlockOf(axes []*expr.Axis, params []*expr.Param) *Block {
	b := &Block{}
	for _, a := range axes {
		b.size(a)
	}
	for _, p := range params {
		b.param(p)
	}
	return b
}

// Layout orders the fields (8-byte ones first) and gives each its offset.
func (b *Block) Layout() []*ir.Field {
	var fields []*ir.Field
	for _, s := range b.Sizes {
		fields = append(fields, s.Field)
	}
	for _, p := range b.Params {
		fields = append(fields, p.Field)
	}
	for _, w := range b.Wanted {
		fields = append(fields, w.Field)
	}
	slices.SortStableFunc(fields, func(x, y *ir.Field) int { return width(y.Type) - width(x.Type) })
	b.Bytes = 0
	for _, f := range fields {
		f.Offset = b.Bytes
		b.Bytes += width(f.Type)
	}
	b.Bytes = (b.Bytes + 7) &^ 7
	return fields
}

func width(e ir.Elem) int {
	if e == ir.I64 || e == ir.U64 {
		return 8
	}
	return 4
}

func (b *Block) size(a *expr.Axis) *ir.Field {
	for _, s := range b.Sizes {
		if s.Axis == a {
			return s.Field
		}
	}
	f := &ir.Field{Name: "size_" + a.Name, Type: ir.I64}
	b.Sizes = append(b.Sizes, SizeField{f, a})
	return f
}

func (b *Block) param(p *expr.Param) *ir.Field {
	for _, q := range b.Params {
		if q.Param == p {
			return q.Field
		}
	}
	f := &ir.Field{Name: p.Name, Type: paramElem(p.Type)}
	b.Params = append(b.Params, ParamField{f, p})
	return f
}

func (b *Block) wanted(t *expr.Tensor) *ir.Field {
	for _, w := range b.Wanted {
		if w.Tensor == t {
			return w.Field
		}
	}
	f := &ir.Field{Name: "wanted_" + t.Name, Type: ir.I32}
	b.Wanted = append(b.Wanted, WantedField{f, t})
	return f
}

func paramElem(t expr.ParamType) ir.Elem {
	switch t {
	case expr.ParamF32:
		return ir.F32
	case expr.ParamU32:
		return ir.U32
	case expr.ParamU64:
		return ir.U64
	}
	return ir.I32
}

// Size returns the extent of an axis.
func (b *Builder) Size(a *expr.Axis) ir.Expr { return &ir.Get{F: b.Block.size(a)} }

// Wanted tells whether the program reads a lazy output.
func (b *Builder) Wanted(t *expr.Tensor) ir.Expr {
	return &ir.Bin{Op: ir.Ne, X: &ir.Get{F: b.Block.wanted(t)}, Y: &ir.Lit{T: ir.Scalar(ir.I32)}}
}

// Param returns the value of a parameter.
func (b *Builder) Param(p *expr.Param) ir.Expr {
	x := &ir.Get{F: b.Block.param(p)}
	switch p.Type {
	case expr.ParamBool:
		return &ir.Bin{Op: ir.Ne, X: x, Y: &ir.Lit{T: ir.Scalar(ir.I32)}}
	case expr.ParamI32:
		return &ir.Conv{T: ir.Scalar(ir.I64), X: x}
	}
	return x
}
