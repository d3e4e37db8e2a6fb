package goapi

import "github.com/dave/jennifer/jen"

// Fusion says which calls one of an op does the work of, as in package runtime,
// with the descriptors' variables in place of the Ops.
type Fusion struct {
	Op     string
	Calls  []FusedCall
	Params []FusedArg // for each parameter of Op, that of a call
	Outs   []FusedArg // for each output of Op, that of a call
	Again  bool       // the kernel computes an operand of a product for each of its tiles
}

// FusedCall is a call of a Fusion.
type FusedCall struct {
	Op  string
	Ins []FusedArg
}

// FusedArg is an argument of a call; where Call is negative, one of the fused op.
type FusedArg struct{ Call, Index int }

// fusionsType is the type by which the ops of a package know its fusions.
const fusionsType = "fusions"

// Fusions returns the Go file with the fusions of a package. It is the methods of
// a type, not a variable, that lead to the descriptors: these refer to the type,
// and variables whose initialisers refer to each other do not compile.
func Fusions(pkg string, list []*Fusion) ([]byte, error) {
	file := newFile(pkg, "specs")
	comments(file, wrap("fusions tells the runtime which operations do the work of several others: what [fuses] says in the specs."))
	file.Type().Id(fusionsType).Struct()
	file.Line()
	file.Comment("Fusions implements runtime.Package.")
	file.Func().Params(jen.Id(fusionsType)).Id("Fusions").Params().Index().Op("*").Add(rt("Fusion")).Block(
		jen.Return(jen.Id(fusionsType + "Table").Index(jen.Op(":"))))
	file.Line()
	file.Var().Id(fusionsType + "Table").Op("=").Add(tall(jen.Index(jen.Op("...")).Op("*").Add(rt("Fusion")), collect(list, fusion)...))
	return render(file)
}

func fusion(f *Fusion) jen.Code {
	fields := []jen.Code{
		field("Op", jen.Op("&").Id(f.Op)),
		field("Calls", tall(jen.Index().Add(rt("FusedCall")), collect(f.Calls, func(c FusedCall) jen.Code {
			return flatBody(field("Op", jen.Op("&").Id(c.Op)), field("Ins", fusedArgs("FusedIn", c.Ins)))
		})...)),
	}
	if len(f.Params) > 0 {
		fields = append(fields, field("Params", fusedArgs("FusedParam", f.Params)))
	}
	fields = append(fields, field("Outs", fusedArgs("FusedOut", f.Outs)))
	if f.Again {
		fields = append(fields, field("Again", jen.True()))
	}
	return tallBody(fields...)
}

func fusedArgs(typ string, list []FusedArg) *jen.Statement {
	return flat(jen.Index().Add(rt(typ)), collect(list, func(a FusedArg) jen.Code {
		return flatBody(field("Call", jen.Lit(a.Call)), field("Index", jen.Lit(a.Index)))
	})...)
}
