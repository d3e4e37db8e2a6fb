package goapi

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/kernelgen/kgen/gen/bind"
)

// descriptor is the declaration of the runtime.Op of an op of f.
func descriptor(f *File, op *Op, static string) (jen.Code, error) {
	home := Home{Name: f.Name, Kernels: f.Kernels}
	if op.Home != nil {
		home = *op.Home
	}
	d := &describer{op: op, static: static, kernels: home.Kernels}
	for _, a := range op.Bound.Axes {
		d.host.axes = append(d.host.axes, a.Name)
	}
	for _, p := range op.Bound.Params {
		d.host.params = append(d.host.params, p.Name)
	}
	axes, err := d.axes()
	if err != nil {
		return nil, err
	}
	fields := []jen.Code{
		field("Name", jen.Lit(op.Bound.Name)),
		field("Hash", jen.Op(fmt.Sprintf("%#016x", op.Bound.Hash))),
	}
	if op.hasC() {
		fields = append(fields, field("Built", jen.Qual(home.Kernels, hashName(home.Name))))
	}
	if op.CUDA {
		fields = append(fields, field("CUDA", jen.Op("&").Qual(home.Kernels, sourceName(home.Name))))
	}
	if op.Metal != "" {
		fields = append(fields, field("Metal", jen.Op("&").Qual(op.Metal, shaderName(home.Name))))
	}
	fields = append(fields,
		field("Axes", axes),
		field("Ins", args(op.Bound.Ins)),
		field("Outs", args(op.Bound.Outs)))
	if len(op.Bound.Params) > 0 {
		fields = append(fields, field("Params", params(op.Bound.Params)))
	}
	if len(op.Bound.Require) > 0 {
		require, err := d.require()
		if err != nil {
			return nil, err
		}
		fields = append(fields, field("Require", require))
	}
	fields = append(fields, field("Variants", d.variants()))
	if op.Grad != nil {
		fields = append(fields, field("Grad", gradient(op.Grad)))
	}
	if op.Fusible {
		fields = append(fields, field("Package", jen.Id(fusionsType).Values()))
	}
	if op.Accumulate != "" {
		fields = append(fields, field("Accumulate", jen.Op("&").Id(op.Accumulate)))
	}
	return jen.Var().Id(op.Var).Op("=").Add(tall(rt("Op"), fields...)), nil
}

type describer struct {
	op      *Op
	static  string
	kernels string
	host    hostExpr
}

func (d *describer) axes() (*jen.Statement, error) {
	var list []jen.Code
	for _, a := range d.op.Bound.Axes {
		fields := []jen.Code{field("Name", jen.Lit(a.Name))}
		if a.Group {
			fields = append(fields, field("Group", jen.True()))
		}
		if a.Free {
			fields = append(fields, field("Free", jen.True()))
		}
		if a.Extent != nil {
			value, err := d.host.write(a.Extent, 0)
			if err != nil {
				return nil, err
			}
			fields = append(fields, field("Extent", closure(jen.Int64(), value)))
		}
		if a.Chunk != 0 {
			fields = append(fields, field("ChunkOf", uint8Slice(a.ChunkOf)), field("Chunk", jen.Lit(int(a.Chunk))))
			if a.Blocks {
				fields = append(fields, field("Blocks", jen.True()))
			}
		}
		list = append(list, flatBody(fields...))
	}
	return tall(jen.Index().Add(rt("Axis")), list...), nil
}

// closure is a func literal over sizes and parameters.
func closure(result *jen.Statement, value jen.Code) *jen.Statement {
	return jen.Func().Params(jen.Id("size").Index().Int64(), jen.Id("param").Index().Add(rt("Scalar"))).
		Add(result).Block(jen.Return(value))
}

func args(list []bind.Arg) *jen.Statement {
	return tall(jen.Index().Add(rt("Arg")), collect(list, func(a bind.Arg) jen.Code {
		fields := []jen.Code{field("Name", jen.Lit(a.Name))}
		if len(a.Shape) > 0 {
			dims := collect(a.Shape, func(d bind.Dim) jen.Code { return flatBody(uint8s(d)...) })
			fields = append(fields, field("Shape", flat(jen.Index().Add(rt("Dim")), dims...)))
		}
		if a.InOut {
			fields = append(fields, field("InOut", jen.True()))
		}
		if a.Lazy {
			fields = append(fields, field("Lazy", jen.True()))
		}
		return flatBody(fields...)
	})...)
}

func params(list []bind.Param) *jen.Statement {
	return tall(jen.Index().Add(rt("Param")), collect(list, func(p bind.Param) jen.Code {
		return flatBody(field("Name", jen.Lit(p.Name)), field("Type", rt(paramConsts[p.Type])))
	})...)
}

func (d *describer) require() (*jen.Statement, error) {
	var list []jen.Code
	for _, r := range d.op.Bound.Require {
		cond, err := d.host.write(r.Cond, 0)
		if err != nil {
			return nil, err
		}
		list = append(list, tallBody(field("Cond", closure(jen.Bool(), cond)), field("Text", jen.Lit(r.Text))))
	}
	return flat(jen.Index().Add(rt("Require")), list...), nil
}

func (d *describer) variants() *jen.Statement {
	var list []jen.Code
	for i, v := range d.op.Bound.Variants {
		var fields []jen.Code
		if d.static != "" {
			fields = append(fields, field("Static", jen.Lit(d.static)))
		}
		fields = append(fields, field("Ins", dtypes(v.Ins)), field("Outs", dtypes(v.Outs)))
		if len(v.Temps) > 0 {
			fields = append(fields, field("Temps", flat(jen.Index().Add(rt("Temp")), collect(v.Temps, temp)...)))
		}
		if len(v.Kernels) > 0 {
			fields = append(fields, field("Kernel", flat(jen.Index().Add(rt("Kernel")), collect(v.Kernels, d.kernel)...)))
		}
		if v.Reshape > 0 {
			fields = append(fields, field("Reshape", jen.Lit(int(v.Reshape))))
		}
		fields = append(fields, field("Ref", jen.Id(d.op.Refs[i])))
		list = append(list, tallBody(fields...))
	}
	return flat(jen.Index().Add(rt("Variant")), list...)
}

func temp(t bind.Temp) jen.Code {
	return flatBody(field("Type", rt(dtypeConsts[t.Type])), field("Axes", uint8Slice(t.Axes)))
}

func (d *describer) kernel(k bind.Kernel) jen.Code {
	fields := []jen.Code{
		field("Symbol", jen.Lit(k.Symbol)),
		field("Buffers", flat(jen.Index().Add(rt("Buffer")), collect(k.Buffers, buffer)...)),
	}
	if len(k.Block) > 0 {
		fields = append(fields,
			field("Block", flat(jen.Index().Add(rt("Field")), collect(k.Block, blockField)...)),
			field("BlockBytes", jen.Lit(k.BlockBytes)))
	}
	if k.C != "" {
		fields = append(fields, field("CPU", cpuLaunch(k.CPU)), field("C", jen.Qual(d.kernels, pointerName(k.C))))
	}
	if k.GPU.Threads > 0 {
		fields = append(fields, field("GPU", gpuLaunch(k.GPU)))
	}
	if k.Wide != nil {
		fields = append(fields, field("Wide", wideForm(k.Wide)))
	}
	if k.Split != nil {
		fields = append(fields, field("Split", d.split(k.Split)))
	}
	if len(k.Flops) > 0 {
		fields = append(fields, field("Flops", flat(jen.Index().Add(rt("Term")), collect(k.Flops, func(t bind.Term) jen.Code {
			return flatBody(field("Coef", jen.Lit(int(t.Coef))), field("Axes", uint8Slice(t.Axes)))
		})...)))
	}
	if k.Product != nil {
		fields = append(fields, field("Product", product(k.Product)))
	}
	if k.Guarded {
		fields = append(fields, field("Guarded", jen.True()))
	}
	if k.Faults {
		fields = append(fields, field("Faults", jen.True()))
	}
	return tallBody(fields...)
}

func buffer(b bind.Buffer) jen.Code {
	fields := []jen.Code{field("Tensor", jen.Lit(int(b.Tensor)))}
	if b.Write {
		fields = append(fields, field("Write", jen.True()))
	}
	if len(b.InPlace) > 0 {
		fields = append(fields, field("InPlace", uint8Slice(b.InPlace)))
	}
	return flatBody(fields...)
}

func blockField(f bind.Field) jen.Code {
	if f.Size != nil {
		return flatBody(field("Offset", jen.Lit(f.Offset)), field("Size", uint8Slice(f.Size)))
	}
	if f.Wanted != 0 {
		return flatBody(field("Offset", jen.Lit(f.Offset)), field("Wanted", jen.Lit(int(f.Wanted))))
	}
	return flatBody(field("Offset", jen.Lit(f.Offset)), field("Param", jen.Lit(int(f.Param))))
}

func cpuLaunch(c bind.CPULaunch) *jen.Statement {
	fields := []jen.Code{field("Grid", grid(c.Grid))}
	if len(c.Cost) > 0 {
		fields = append(fields, field("Cost", uint8Slice(c.Cost)))
	}
	fields = append(fields, field("CostPer", jen.Lit(int(c.CostPer))))
	if c.Scratch > 0 {
		fields = append(fields, field("Scratch", jen.Lit(int(c.Scratch))))
	}
	return flat(rt("CPULaunch"), fields...)
}

func gpuLaunch(g bind.GPULaunch) *jen.Statement {
	fields := []jen.Code{field("Grid", grid(g.Grid)), field("Threads", jen.Lit(g.Threads))}
	if len(g.Row.Axes) > 0 {
		fields = append(fields, field("Row", flat(rt("GridDim"), gridDim(g.Row)...)))
	}
	if g.Small != nil {
		fields = append(fields, field("Small", jen.Op("&").Add(gpuLaunch(*g.Small))))
	}
	return flat(rt("GPULaunch"), fields...)
}

func wideForm(w *bind.WideForm) *jen.Statement {
	fields := []jen.Code{field("Symbol", jen.Lit(w.Symbol)), field("Aligned", uint8Slice(w.Aligned))}
	if len(w.Multiple) > 0 {
		fields = append(fields, field("Multiple", grid(w.Multiple)))
	}
	return jen.Op("&").Add(flat(rt("WideForm"), fields...))
}

func (d *describer) split(s *bind.SplitForm) *jen.Statement {
	return jen.Op("&").Add(flat(rt("SplitForm"),
		field("Depth", uint8Slice(s.Depth)), field("Sums", uint8Slice(s.Sums)),
		field("Parts", rt("Kernel").Add(d.kernel(s.Parts))), field("Join", rt("Kernel").Add(d.kernel(s.Join)))))
}

func product(p *bind.MatrixProduct) *jen.Statement {
	number := func(name string, n uint8) jen.Code { return field(name, jen.Lit(int(n))) }
	fields := []jen.Code{field("Type", rt(dtypeConsts[p.Type])), number("A", p.A), number("B", p.B), number("C", p.C)}
	if p.Bias > 0 {
		fields = append(fields, number("Bias", p.Bias))
	}
	if len(p.Batch) > 0 {
		fields = append(fields, field("Batch", uint8Slice(p.Batch)))
	}
	fields = append(fields, field("M", uint8Slice(p.M)), field("N", uint8Slice(p.N)), field("K", uint8Slice(p.K)))
	for _, flag := range []struct {
		name string
		on   bool
	}{{"TransA", p.TransA}, {"TransB", p.TransB}, {"GELU", p.GELU}} {
		if flag.on {
			fields = append(fields, field(flag.name, jen.True()))
		}
	}
	return jen.Op("&").Add(flat(rt("Product"), fields...))
}

func grid(dims []bind.GridDim) *jen.Statement {
	return flat(jen.Index().Add(rt("GridDim")), collect(dims, func(g bind.GridDim) jen.Code {
		return flatBody(gridDim(g)...)
	})...)
}

func gridDim(g bind.GridDim) []jen.Code {
	return []jen.Code{field("Axes", uint8Slice(g.Axes)), field("Tile", jen.Lit(int(g.Tile)))}
}

func gradient(g *Grad) *jen.Statement {
	froms := [...]string{FromIn: "FromIn", FromOut: "FromOut", FromCotangent: "FromCotangent"}
	ins := collect(g.Ins, func(in GradIn) jen.Code {
		return flatBody(field("From", rt(froms[in.From])), field("Index", jen.Lit(int(in.Index))))
	})
	fields := []jen.Code{
		field("Op", jen.Op("&").Id(g.Op)),
		field("Ins", flat(jen.Index().Add(rt("GradIn")), ins...)),
	}
	if len(g.Params) > 0 {
		fields = append(fields, field("Params", uint8Slice(g.Params)))
	}
	fields = append(fields, field("Outs", uint8Slice(g.Outs)))
	return jen.Op("&").Add(tall(rt("Grad"), fields...))
}
