package goapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/out"
	"github.com/kernelgen/kgen/gen/spec"
)

// pointerName is the Go variable that holds the C function with the given
// symbol: kg_0123abcd_layernorm_f32 gives LayerNormF32.
func pointerName(symbol string) string {
	rest := symbol
	if parts := strings.SplitN(symbol, "_", 3); len(parts) == 3 {
		rest = parts[2] // without kg and the hash, which is the same for a package
	}
	return TypedName(rest)
}

// hashName is the Go variable that holds the hash of the spec that the C source
// of the named spec was made from.
func hashName(spec string) string { return "HashOf" + TypedName(spec) }

// sourceName is the Go variable that holds the CUDA source of the named spec.
func sourceName(spec string) string { return "CUDAOf" + TypedName(spec) }

// shaderName is the Go variable that holds the Metal source of the named spec.
func shaderName(spec string) string { return "SourceOf" + TypedName(spec) }

// KernelsCUDA returns the file that embeds the CUDA sources of some specs.
func KernelsCUDA(pkg string, specs []string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `%s
package %s

import _ "embed"

// The CUDA sources of the kernels.
var (
`, out.Marker("specs"), pkg)
	for _, s := range specs {
		fmt.Fprintf(&b, "\t//go:embed %s\n\t%s string\n", FileBase(s)+".cu", sourceName(s))
	}
	b.WriteString(")\n")
	return gofmt(b.String())
}

// CSource is the C source of one spec, as a package of kernels knows it.
type CSource struct {
	Spec    string   // name
	File    string   // name of the file with its kernels
	Alone   bool     // the file is compiled by itself, not with those of its group
	Hash    string   // symbol of the constant with the spec's hash
	Symbols []string // of its kernels
}

// TypedName is spec.GoName for names that hold storage types: gelu_bf16 gives
// GELUBF16.
func TypedName(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		if slices.Contains(dtypeWords, word) {
			word = strings.ToUpper(word)
		}
		b.WriteString(spec.GoName(word))
	}
	return b.String()
}

var dtypeWords = []string{"f32", "f16", "bf16", "i32", "u8"}

// KernelsCgo returns the file that gives the C functions with the given symbols
// to Go, and KernelsNoCgo its counterpart for builds without cgo. They make the
// package of the C sources of one group of specs: the groups compile side by
// side, and a change in one leaves the others' objects alone.
func KernelsCgo(pkg, group string, sources []CSource) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `%s
//go:build cgo

// Package %s holds the C kernels of the %s specs.
package %s

/*
#cgo CFLAGS: -O2 -g0 -std=gnu11 -Wno-psabi
#include <stdint.h>

struct kg_call;

`, out.Marker("specs"), pkg, group, pkg)
	for _, c := range sources {
		fmt.Fprintf(&b, "extern const uint64_t %s;\n", c.Hash)
		for _, s := range c.Symbols {
			fmt.Fprintf(&b, "void %s(const struct kg_call *call, int64_t lo, int64_t hi);\n", s)
		}
	}
	b.WriteString(`*/
import "C"

import "unsafe"

// The C functions.
var (
`)
	for _, c := range sources {
		for _, s := range c.Symbols {
			fmt.Fprintf(&b, "\t%s = unsafe.Pointer(C.%s)\n", pointerName(s), s)
		}
	}
	b.WriteString(")\n\n// The hashes of the specs that the C sources were made from.\nvar (\n")
	for _, c := range sources {
		fmt.Fprintf(&b, "\t%s = uint64(C.%s)\n", hashName(c.Spec), c.Hash)
	}
	b.WriteString(")\n")
	return gofmt(b.String())
}

// KernelsNoCgo returns the file that stands in for that of KernelsCgo where cgo
// is off: without C functions the reference serves.
func KernelsNoCgo(pkg, group string, sources []CSource) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `%s
//go:build !cgo

// Package %s holds the C kernels of the %s specs.
package %s

import "unsafe"

// Without cgo there are no C functions, and the Go reference serves.
var (
`, out.Marker("specs"), pkg, group, pkg)
	for _, c := range sources {
		for _, s := range c.Symbols {
			fmt.Fprintf(&b, "\t%s unsafe.Pointer\n", pointerName(s))
		}
	}
	b.WriteString(")\n\n// Nor is there a source with a hash.\nvar (\n")
	for _, c := range sources {
		fmt.Fprintf(&b, "\t%s uint64\n", hashName(c.Spec))
	}
	b.WriteString(")\n")
	return gofmt(b.String())
}

// PackageDoc returns the file with the comment of the package of operations.
func PackageDoc(pkg, module string) []byte {
	return gofmt(fmt.Sprintf(`%s
// Package %s holds the operations that the kernel specs of %s give, one file of
// Go, of C and of tests for each spec.
//
// Every operation exists in two forms. NAME runs at once and returns tensors
// that live on the device; an operand that a batch has yet to compute submits
// that batch first. NAMEDeferred records the operation in a batch and returns
// tensors that later calls of the batch may use; it reports no error itself: the
// batch holds the first one, and Sync returns it.
//
// Tensors are dense and row-major. No operation changes an operand, except that
// an updated tensor replaces the one given: the old handle is stale from then
// on. Shapes are written as lists of axes; NAME... stands for any number of
// axes, none included. An axis that occurs in several operands has one extent,
// and a call whose shapes disagree is an error that names the operation, the
// operands and the sizes.
package %s
`, out.Marker("specs"), pkg, module, pkg))
}

// Shader is the Metal source of one spec: where it lies, relative to the package that
// embeds it.
type Shader struct{ Spec, Path string }

// Shaders returns the Go file that embeds Metal sources.
func Shaders(pkg, module string, list []Shader) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `%s
// Package %s holds the Metal sources of the kernels of %s.
package %s

import "embed"

// The sources, by spec: a program holds those that it uses.
var (
`, out.Marker("specs"), pkg, module, pkg)
	for _, s := range list {
		fmt.Fprintf(&b, "\t//go:embed %s\n\t%s string\n", s.Path, shaderName(s.Spec))
	}
	b.WriteString(`)

// Files holds the sources as GROUP/NAME.metal.
//
`)
	for _, s := range list {
		fmt.Fprintf(&b, "//go:embed %s\n", s.Path)
	}
	b.WriteString(`var Files embed.FS

// Source returns the Metal source at path, such as "norm/layernorm.metal".
func Source(path string) (string, error) {
	text, err := Files.ReadFile(path)
	return string(text), err
}
`)
	return gofmt(b.String())
}
