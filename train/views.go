package train

import (
	"errors"
	"fmt"

	"github.com/kernelgen/kgen/checkpoint"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/runtime"
)

// views are masters of parameters in the shapes that files have.
type views []runtime.Tensor[float32]

// add puts the masters of parameters into a state.
func (v *views) add(state checkpoint.State, params []nn.Named) error {
	for _, p := range params {
		view, err := p.View()
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		*v = append(*v, view)
		state[p.Name] = view.Untyped()
	}
	return nil
}

// close releases the views, not the masters.
func (v *views) close() error {
	var errs []error
	for _, view := range *v {
		errs = append(errs, view.Close())
	}
	return errors.Join(errs...)
}
