package vet

import (
	"go/types"
	"strings"
)

// runtimePath is the package whose uses are checked.
const runtimePath = "github.com/kernelgen/kgen/runtime"

// An effect is what a call does with one of its arguments. None means that it
// looks at the argument, and no more.
type effect uint8

const (
	records effect = 1 << iota // into a batch
	ends                       // a batch with Sync, Submit or Discard, another value with Close
	takes                      // the value of a read-back
	keeps                      // a tensor beyond its batch
	escapes                    // it goes where it is not followed
)

// api says what the functions and methods of package runtime do, as far as they
// have to do with devices, batches, tensors and read-backs. A receiver is the
// first argument.
var api = map[string]*summary{
	"Open": {},

	"Device.Name":         {},
	"Device.Reference":    {},
	"Device.Workers":      {},
	"Device.Stats":        {},
	"Device.Trim":         {},
	"Device.Lost":         {},
	"Device.StartTrace":   {},
	"Device.BeginCapture": {},
	"Device.EndCapture":   {},
	"Device.Batch":        {},
	"Device.Immediate":    {},
	"Device.Close":        {Args: []effect{ends}},
	"FromSlice":           {},
	"Zeros":               {},

	"Batch.Name":       {},
	"Batch.Device":     {},
	"Batch.Err":        {},
	"Batch.Keep":       {Args: []effect{records, keeps}},
	"Batch.Grad":       {Args: []effect{records}, Pure: true},
	"Batch.GradOrNone": {Args: []effect{records}, Pure: true},
	"Batch.Sync":       {Args: []effect{ends}, Runs: true},
	"Batch.Submit":     {Args: []effect{ends}, Runs: true},
	"Batch.Explain":    {},
	"Batch.Checkpoint": {},
	"Batch.Discard":    {Args: []effect{ends}, Runs: true},
	"GradOf":           {Args: []effect{records}, Pure: true},
	"StopGradient":     {Args: []effect{records}, Pure: true},
	"Read":             {Args: []effect{records}},
	"Immediate":        {Runs: true},
	"Finish":           {Args: []effect{ends}, Runs: true},

	"Readback.Value":  {Args: []effect{takes}},
	"Readback.Scalar": {Args: []effect{takes}},

	"As":        {Same: true, Pure: true},
	"Handles":   {Same: true, Pure: true},
	"OutHandle": {Pure: true},
	"Out":       {Pure: true},
	"InOut":     {},

	"Call.Begin":   {Args: []effect{0, records}, Pure: true},
	"Call.In":      {Pure: true},
	"Call.F32":     {Pure: true},
	"Call.I32":     {Pure: true},
	"Call.U32":     {Pure: true},
	"Call.U64":     {Pure: true},
	"Call.Bool":    {Pure: true},
	"Call.Free":    {Pure: true},
	"Call.OutType": {Pure: true},
	"Call.Record":  {Pure: true},

	"SketchOf":       {Pure: true},
	"Sketch.Device":  {Pure: true},
	"Sketch.Batch":   {},
	"Sketch.Declare": {},
	"Sketch.Outside": {},
	"Sketch.Part":    {},
	"Part.Inputs":    {},
	"Part.Made":      {},
	"Part.Record":    {Args: []effect{0, records}},

	"Tensor.Untyped":    {Same: true, Pure: true},
	"Tensor.Device":     {Pure: true},
	"Tensor.Err":        {Pure: true},
	"Tensor.Shape":      {Pure: true},
	"Tensor.Rank":       {Pure: true},
	"Tensor.Dim":        {Pure: true},
	"Tensor.Len":        {Pure: true},
	"Tensor.Read":       {},
	"Tensor.ReadInto":   {},
	"Tensor.Write":      {},
	"Tensor.View":       {},
	"Tensor.Close":      {Args: []effect{ends}},
	"Handle.Untyped":    {Same: true, Pure: true},
	"Handle.DType":      {Pure: true},
	"Handle.IsZero":     {Pure: true},
	"Handle.Device":     {Pure: true},
	"Handle.Err":        {Pure: true},
	"Handle.Shape":      {Pure: true},
	"Handle.Rank":       {Pure: true},
	"Handle.Dim":        {Pure: true},
	"Handle.Len":        {Pure: true},
	"Handle.View":       {},
	"Handle.CopyTo":     {},
	"Handle.ReadBytes":  {},
	"Handle.WriteBytes": {},
	"Handle.Close":      {Args: []effect{ends}},
}

// path returns the import path of a package, without what the go command adds
// to that of a package that is built for a test.
func path(p *types.Package) string {
	path, _, _ := strings.Cut(p.Path(), " ")
	return path
}

// apiName returns the name of a function or method of package runtime as it
// stands in api, "" for other functions.
func apiName(f *types.Func) string {
	if f == nil || f.Pkg() == nil || path(f.Pkg()) != runtimePath {
		return ""
	}
	recv := f.Signature().Recv()
	if recv == nil {
		return f.Name()
	}
	return apiType(recv.Type()) + "." + f.Name()
}

// apiType returns the name of a type of package runtime, or of what a pointer to
// one points to; "" for other types.
func apiType(t types.Type) string {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, ok := t.(*types.Named)
	if !ok || n.Obj().Pkg() == nil || path(n.Obj().Pkg()) != runtimePath {
		return ""
	}
	return n.Obj().Name()
}

// usesRuntime reports whether a package depends on package runtime.
func usesRuntime(p *types.Package, seen map[*types.Package]bool) bool {
	if path(p) == runtimePath {
		return true
	}
	if seen[p] {
		return false
	}
	seen[p] = true
	for _, q := range p.Imports() {
		if usesRuntime(q, seen) {
			return true
		}
	}
	return false
}

// tensors reports whether a type is a tensor, a handle, or a slice of them.
func tensors(t types.Type) bool {
	if s, ok := types.Unalias(t).(*types.Slice); ok {
		t = s.Elem()
	}
	if _, ok := types.Unalias(t).(*types.Pointer); ok {
		return false
	}
	name := apiType(t)
	return name == "Tensor" || name == "Handle"
}

// holds reports whether a value of a type can hold a batch or a tensor, through
// which a batch can be run.
func holds(t types.Type, seen map[types.Type]bool) bool {
	t = types.Unalias(t)
	if seen[t] {
		return false
	}
	seen[t] = true
	switch apiType(t) {
	case "Batch", "Tensor", "Handle", "Operand":
		return true
	case "":
	default:
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return holds(u.Elem(), seen)
	case *types.Slice:
		return holds(u.Elem(), seen)
	case *types.Array:
		return holds(u.Elem(), seen)
	case *types.Chan:
		return holds(u.Elem(), seen)
	case *types.Map:
		return holds(u.Key(), seen) || holds(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if holds(f.Type(), seen) {
				return true
			}
		}
	case *types.Interface:
		// Of an interface of the standard library, such as error, it is not
		// expected.
		n, ok := t.(*types.Named)
		return ok && n.Obj().Pkg() != nil && usesRuntime(n.Obj().Pkg(), map[*types.Package]bool{})
	case *types.Signature:
		return true
	}
	return false
}
