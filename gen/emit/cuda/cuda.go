// Package cuda writes kernels as CUDA C++ for NVRTC. The IR of the kernels of one spec
// comes in; the bytes of its .cu file go out, with those helpers of the prelude that
// they use.
//
// bf16 and half tensors are unsigned short, widened and rounded (to nearest even) by
// their bits; all arithmetic is float. Index arithmetic is int, or long long where the
// source is compiled with KG_INDEX_64. A SIMD group is a warp.
//
// # Calling convention
//
// A kernel takes the table of its tensors' addresses in slot order, its parameter block
// (laid out as for the C kernels), the program's fault word and the number of the call
// that it belongs to. All but the last lie in device memory, so that a program runs
// again with other addresses and parameters after one copy. A kernel that finds a bad
// value sets the fault word: the first call wins, and of its values the first. Guarded
// kernels do nothing while set is not 0.
package cuda

import (
	_ "embed"
	"fmt"

	"github.com/kernelgen/kgen/gen/emit/gpu"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/ir"
)

// File is what one .cu file holds.
type File = gpu.File

// RawFile is the .cu file of a spec whose kernels are written by hand.
type RawFile = gpu.RawFile

// Emit renders f. The error names the kernel and what it holds that CUDA cannot
// express.
func Emit(f *File) ([]byte, error) { return gpu.Emit(dialect, f) }

// EmitRaw renders f.
func EmitRaw(f *RawFile) ([]byte, error) { return gpu.EmitRaw(dialect, f) }

// preamble is what NVRTC has no header for, and the hash.
const preamble = `
typedef unsigned long long kg_ulong;
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)

extern "C" __constant__ kg_ulong kg_spec_hash = %#016xull;

// What positions and offsets are computed in.
#ifdef KG_INDEX_64
typedef long long kg_index;
#else
typedef int kg_index;
#endif
`

//go:embed prelude/prelude.cu
var prelude string

var dialect = &gpu.Dialect{
	Name:      "cuda",
	Elem:      [...]string{ir.F32: "float", ir.I32: "int", ir.I64: "kg_index", ir.U32: "unsigned", ir.U64: "kg_ulong", ir.Bool: "bool", ir.F16: "unsigned short", ir.BF16: "unsigned short"},
	Storage:   storage,
	FieldType: fieldType,
	U64Suffix: "ull",
	Shared:    "__shared__",
	Wide:      "alignas(16) ",
	Pairs:     true,
	Args:      "args->",
	Positions: map[ir.ID]string{
		ir.GroupX: "blockIdx.x", ir.GroupY: "blockIdx.y", ir.GroupZ: "blockIdx.z",
		ir.Thread: "threadIdx.x", ir.Lane: "threadIdx.x & 31u", ir.SIMDGroup: "threadIdx.x >> 5",
		ir.Threads:   "blockDim.x",
		ir.MatrixRow: "threadIdx.x >> 2 & 7u", ir.MatrixColumn: "(threadIdx.x & 3u) * 2u",
	},
	Barrier: func(device bool) string {
		if device {
			return "__threadfence_block(), __syncthreads();"
		}
		return "__syncthreads();"
	},
	Shuffle:   "__shfl_xor_sync(0xffffffffu, %s, %d)",
	FaultArgs: "fault, op",
	FromF16:   "kg_from_f16",
	ToF16:     "kg_to_f16",
	Byte:      "(unsigned char)",
	OwnFolds:  true,
	Library: map[expr.Fn]string{
		expr.FnExp: "expf", expr.FnLog: "logf", expr.FnLog1p: "log1pf", expr.FnExpm1: "expm1f", expr.FnTanh: "tanhf",
		expr.FnErf: "erff", expr.FnPow: "powf", expr.FnSqrt: "sqrtf", expr.FnAbs: "abs", expr.FnFMA: "fmaf",
		expr.FnFloor: "floorf", expr.FnCeil: "ceilf", expr.FnRound: "rintf", expr.FnIsNaN: "isnan", expr.FnIsInf: "isinf",
	},
	Ours: map[expr.Fn]string{
		expr.FnSigmoid: "kg_sigmoid", expr.FnRsqrt: "kg_rsqrt", expr.FnSign: "kg_sign",
		expr.FnPhilox: "kg_philox", expr.FnUniform: "kg_uniform",
	},
	Rough:    map[expr.Fn]string{expr.FnExp: "kg_rough_exp", expr.FnSigmoid: "kg_rough_sigmoid"},
	RoughDiv: "kg_rough_div",
	Await:    "kg_await",
	Prefetch: "kg_prefetch",
	Choose:   "kg_choose",
	Early:    "kg_extent",
	Head:     entry,
	Prelude:  prelude,
	Preamble: preamble,
	Given:    []gpu.Member{{Type: "int ", Name: "op", Value: "op"}},
}

// storage is the element type of a buffer.
func storage(t expr.DType) string {
	switch t {
	case expr.F16, expr.BF16:
		return "unsigned short"
	case expr.I32:
		return "int"
	case expr.U8:
		return "unsigned char"
	}
	return "float"
}

func fieldType(e ir.Elem) (string, int) {
	switch e {
	case ir.I64:
		return "long long", 8
	case ir.U64:
		return "kg_ulong", 8
	case ir.F32:
		return "float", 4
	case ir.U32:
		return "unsigned", 4
	}
	return "int", 4
}

// entry writes the entry point up to the tensors' addresses.
func entry(p *gpu.Printer) {
	p.Need("kg_fault")
	p.Uses()
	args := "void"
	if len(p.F.Fields) > 0 {
		args = p.F.Symbol + "_args"
	}
	bounds := fmt.Sprint(p.F.Threads)
	if p.F.Resident > 0 {
		bounds += fmt.Sprintf(", %d", p.F.Resident)
	}
	p.Line("extern \"C\" __global__ void __launch_bounds__(%s) %s(", bounds, p.F.Symbol)
	p.Line("\t\tvoid *const *__restrict__ buf, const %s *__restrict__ args, kg_fault *fault, int op) {", args)
	for _, b := range p.F.Buffers {
		qual, address := "const ", "kg_tensor"
		if b.Write {
			qual, address = "", "kg_result"
		}
		p.Need(address)
		p.Line("\t%s%s *__restrict__ %s = (%s%s *)%s(buf + %d);", qual, storage(b.Type), gpu.Mangle(b.Name), qual, storage(b.Type), address, b.Slot)
	}
}
