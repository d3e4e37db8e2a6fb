package msl

import (
	_ "embed"
	"fmt"

	"github.com/kernelgen/kgen/gen/emit/gpu"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
)

//go:embed prelude/prelude.metal
var prelude string

var dialect = &gpu.Dialect{
	Name:      "msl",
	Elem:      [...]string{ir.F32: "float", ir.I32: "int", ir.I64: "kg_index", ir.U32: "uint", ir.U64: "ulong", ir.Bool: "bool", ir.F16: "half", ir.BF16: "bfloat"},
	Storage:   storage,
	FieldType: fieldType,
	U64Suffix: "ul",
	Shared:    "threadgroup",
	Args:      "args.",
	Positions: map[ir.ID]string{
		ir.GroupX: "group.x", ir.GroupY: "group.y", ir.GroupZ: "group.z",
		ir.Thread: "tid", ir.Lane: "lane", ir.SIMDGroup: "simd", ir.Threads: "threads.x",
		ir.MatrixRow: "(lane >> 2 & 4u) + (lane >> 1 & 3u)", ir.MatrixColumn: "(lane >> 1 & 4u) + (lane & 1u) * 2u",
	},
	Barrier: func(device bool) string {
		if device {
			return "threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);"
		}
		return "threadgroup_barrier(mem_flags::mem_threadgroup);"
	},
	Shuffle:     "simd_shuffle_xor(%s, ushort(%d))",
	FaultArgs:   "fault",
	FromF16:     "float",
	ToF16:       "half",
	Byte:        "uchar",
	FloatBlocks: true,
	Library:     library,
	Ours:        ours,
	Head:        head,
	Prelude:     prelude,
	Preamble:    preamble,
	Device:      "device ",
	Group:       "threadgroup ",
	Given:       given(),
}

const preamble = `
#include <metal_stdlib>
#pragma METAL fp math_mode(safe)
using namespace metal;

constant ulong kg_spec_hash = %#016xul;

// What positions and offsets are computed in.
#ifdef KG_INDEX_64
typedef long kg_index;
#else
typedef int kg_index;
#endif
`

// given are the positions of a thread.
func given() []gpu.Member {
	var list []gpu.Member
	for _, in := range builtins {
		if in.id != ir.Threads { // the spec says how many
			list = append(list, gpu.Member{Type: in.typ + " ", Name: in.name, Value: in.name})
		}
	}
	return list
}

// storage is the element type of a buffer.
func storage(t expr.DType) string {
	switch t {
	case expr.F16:
		return "half"
	case expr.BF16:
		return "ushort"
	case expr.I32:
		return "int"
	case expr.U8:
		return "uchar"
	}
	return "float"
}

func fieldType(e ir.Elem) (string, int) {
	switch e {
	case ir.I64:
		return "long", 8
	case ir.U64:
		return "ulong", 8
	case ir.F32:
		return "float", 4
	case ir.U32:
		return "uint", 4
	}
	return "int", 4
}

// library are the intrinsics that MSL's own functions compute for every value.
var library = map[expr.Fn]string{
	expr.FnExp:   "precise::exp",
	expr.FnLog:   "precise::log",
	expr.FnSqrt:  "precise::sqrt",
	expr.FnRsqrt: "precise::rsqrt",
	expr.FnAbs:   "abs",
	expr.FnFMA:   "fma",
	expr.FnFloor: "floor",
	expr.FnCeil:  "ceil",
	expr.FnRound: "rint",
	expr.FnIsNaN: "isnan",
	expr.FnIsInf: "isinf",
}

// ours are those that the prelude has.
var ours = map[expr.Fn]string{
	expr.FnLog1p:   "kg_log1p",
	expr.FnExpm1:   "kg_expm1",
	expr.FnTanh:    "kg_tanh",
	expr.FnErf:     "kg_erf",
	expr.FnSigmoid: "kg_sigmoid",
	expr.FnPow:     "kg_pow",
	expr.FnSign:    "kg_sign",
	expr.FnPhilox:  "kg_philox",
	expr.FnUniform: "kg_uniform",
}

// head writes the entry point up to its opening brace.
func head(p *gpu.Printer) {
	p.Need("kg_fault")
	var args []string
	slots := len(p.F.Buffers)
	for _, b := range p.F.Buffers {
		qual := "device const"
		if b.Write {
			qual = "device"
		}
		args = append(args, fmt.Sprintf("%s %s *%s [[buffer(%d)]]", qual, storage(b.Type), gpu.Mangle(b.Name), b.Slot))
	}
	if len(p.F.Fields) > 0 {
		args = append(args, fmt.Sprintf("constant %s_args &args [[buffer(%d)]]", p.F.Symbol, slots))
	}
	args = append(args, fmt.Sprintf("device kg_fault *fault [[buffer(%d)]]", slots+1))
	here := p.Uses()
	for _, in := range builtins {
		if here[in.id] || p.Raw && in.id != ir.Threads || in.id == ir.GroupX && (here[ir.GroupY] || here[ir.GroupZ]) {
			args = append(args, fmt.Sprintf("%s %s [[%s]]", in.typ, in.name, in.attr))
		}
	}
	p.Line("[[max_total_threads_per_threadgroup(%d)]]", p.F.Threads)
	p.Line("kernel void %s(", p.F.Symbol)
	for i, a := range args {
		end := ","
		if i == len(args)-1 {
			end = ") {"
		}
		p.Line("\t\t%s%s", a, end)
	}
}

// builtin is a position that the hardware gives to a kernel.
type builtin struct {
	id              ir.ID
	typ, name, attr string
}

var builtins = [...]builtin{
	{ir.GroupX, "uint3", "group", "threadgroup_position_in_grid"},
	{ir.Thread, "uint", "tid", "thread_index_in_threadgroup"},
	{ir.Lane, "uint", "lane", "thread_index_in_simdgroup"},
	{ir.SIMDGroup, "uint", "simd", "simdgroup_index_in_threadgroup"},
	{ir.Threads, "uint3", "threads", "threads_per_threadgroup"},
}
