package nn

import (
	"errors"
	"fmt"

	"github.com/kernelgen/kgen/runtime"
)

// Named is a parameter with its place in a model: "blocks.0.conv1.weight".
type Named struct {
	Name string
	*Param
}

// Module is a layer or a model.
type Module interface {
	// Params returns a new list of the parameters, always in the same order.
	Params() []Named
}

// Layer is a module of one input and one output.
type Layer[T Float] interface {
	Module
	// ForwardDeferred records the layer in b.
	ForwardDeferred(b *runtime.Batch, x runtime.Tensor[T]) runtime.Tensor[T]
}

// Under lists the parameters of a part of a module, with the name of the part and a dot
// before theirs.
func Under(part string, m Module) []Named {
	list := m.Params()
	for i := range list {
		list[i].Name = part + "." + list[i].Name
	}
	return list
}

// Distinct drops parameters that occur earlier under another name, as those of a layer
// that two models share.
func Distinct(list []Named) []Named {
	seen := map[*Param]bool{}
	var distinct []Named
	for _, p := range list {
		if !seen[p.Param] {
			seen[p.Param] = true
			distinct = append(distinct, p)
		}
	}
	return distinct
}

// Close releases the memory of a module's parameters.
func Close(m Module) error {
	var errs []error
	for _, p := range m.Params() {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// Immediate makes the immediate form of a module from its deferred one: it runs what
// record records as one program. operands are what that reads beside parameters; where
// one is a pending result of another batch, that batch is run first.
func Immediate[T Float](record func(b *runtime.Batch) runtime.Tensor[T], operands ...runtime.Operand) (runtime.Tensor[T], error) {
	handles := make([]runtime.Handle, len(operands))
	for i, o := range operands {
		handles[i] = o.Untyped()
	}
	b := runtime.Immediate(handles...)
	y := record(b)
	return y, runtime.Finish(b, y.Untyped())
}

// extent is a size that a constructor is given.
type extent struct {
	name string
	size int
}

// positive returns an error for sizes that are not, with the name of the layer.
func positive(layer string, extents ...extent) error {
	var errs []error
	for _, e := range extents {
		if e.size <= 0 {
			errs = append(errs, fmt.Errorf("%s: %s is %d, must be at least 1", layer, e.name, e.size))
		}
	}
	return errors.Join(errs...)
}

// named pairs parameters with their names, leaving out those that are nil.
func named(list ...Named) []Named {
	kept := list[:0]
	for _, p := range list {
		if p.Param != nil {
			kept = append(kept, p)
		}
	}
	return kept
}
