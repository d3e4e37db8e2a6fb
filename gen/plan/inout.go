package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kernelgen/kgen/gen/expr"
)

// Reads of an inout give its old value, whatever the order of the steps. So
// whatever reads it comes before the kernel that writes it, or reads it in that
// kernel at the place that is written.

var (
	errInOutElsewhere = errors.New("an inout's new value may read its old value at its own place only")
	errOverwritten    = errors.New("the new values of inouts that read each other's old values do not fit one kernel: compute one of them as an output")
)

// place places the steps, in the order given.
func place(p *expr.Program, steps []*expr.Step) (*builder, error) {
	b := &builder{
		plan:   &Plan{Program: p},
		where:  map[*expr.Tensor]int{},
		inline: map[*expr.Tensor]expr.Expr{},
	}
	for _, s := range steps {
		if err := b.step(s); err != nil {
			return nil, fmt.Errorf("%s: step %s: %w", p.Name, s.Result.Name, err)
		}
	}
	b.materialise()
	return b, nil
}

// readsOverwritten reports whether a kernel reads an inout that it or a kernel
// before it has overwritten there.
func (b *builder) readsOverwritten() bool {
	written := map[*expr.Tensor]bool{}
	for _, k := range b.plan.Kernels {
		for _, t := range k.Reads() {
			if written[t] {
				return true
			}
		}
		for _, w := range k.Writes() {
			if w.Role != expr.InOut {
				continue
			}
			written[w] = true
			if readsElsewhere(k, w) {
				return true
			}
		}
	}
	return false
}

// readsElsewhere reports whether k reads t at another place than its own.
func readsElsewhere(k *Kernel, t *expr.Tensor) bool {
	return slices.ContainsFunc(k.Exprs(), func(e expr.Expr) bool { return !ownPlace(e, t) })
}

// inOutsLast returns the steps of p with those of inouts at the end, an inout
// whose new value reads another one's old value before that other one.
func inOutsLast(p *expr.Program) []*expr.Step {
	var first, last []*expr.Step
	reads := map[*expr.Tensor][]*expr.Tensor{} // of a step's result, through lets
	for _, s := range p.Steps {
		for _, t := range expr.Reads(s.Expr) {
			reads[s.Result] = append(append(reads[s.Result], t), reads[t]...)
		}
		if s.Result.Role == expr.InOut {
			last = append(last, s)
		} else {
			first = append(first, s)
		}
	}
	for len(last) > 0 {
		i := slices.IndexFunc(last, func(s *expr.Step) bool {
			return !slices.ContainsFunc(last, func(o *expr.Step) bool {
				return o != s && slices.Contains(reads[o.Result], s.Result)
			})
		})
		i = max(i, 0) // each of the rest is read by another one
		first = append(first, last[i])
		last = slices.Delete(last, i, i+1)
	}
	return first
}
