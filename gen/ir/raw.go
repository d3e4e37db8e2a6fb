package ir

import "github.com/kernelgen/kgen/gen/expr"

// Raw is one instance of sources that are written by hand: what they are
// compiled with. Its functions have no bodies: those are in the sources.
type Raw struct {
	ID       string // begins the names of the instance
	Program  *expr.Program
	Launches []RawLaunch
	Types    []RawType // of the type variables
	Words    []RawWord // that stand for numbers
}

// RawLaunch is a function of the sources in both execution models. SIMT is nil
// where there is no source for it.
type RawLaunch struct {
	Name      string
	Vec, SIMT *Func
}

// RawType is a type variable with its storage type.
type RawType struct {
	Name string
	Type expr.DType
}

// RawWord is a word of the sources that stands for a number: STATIC_VALUE and
// has_TENSOR are 0 or 1, tensor_TENSOR is by which a fault names an input.
type RawWord struct {
	Name  string
	Value int
}
