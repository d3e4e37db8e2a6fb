package msl

import "github.com/kernelgen/kgen/gen/emit/gpu"

// File is what one .metal file holds.
type File = gpu.File

// RawFile is the .metal file of a spec whose kernels are written by hand.
type RawFile = gpu.RawFile

// Emit renders f. The error names the kernel and what it holds that MSL cannot
// express.
func Emit(f *File) ([]byte, error) { return gpu.Emit(dialect, f) }

// EmitRaw renders f.
func EmitRaw(f *RawFile) ([]byte, error) { return gpu.EmitRaw(dialect, f) }
