package optim

import (
	"errors"
	"fmt"
	"math"
	"path"

	"github.com/kernelgen/kgen/nn"
)

// Group says how some of the parameters are trained.
type Group struct {
	// Names are the parameters: patterns of path.Match, where * stands for any
	// characters, as in "*.bias". A parameter is of the first group that names it.
	Names []string

	Rate        float32 // factor of the learning rate
	WeightDecay float32 // see the methods
}

// all is the group where none is given.
var all = Group{Names: []string{"*"}, Rate: 1}

func (g *Group) check() error {
	var errs []error
	if !(g.Rate > 0) || math.IsInf(float64(g.Rate), 0) {
		errs = append(errs, fmt.Errorf("the factor of its rate is %v, must be positive: leave parameters that are not to be trained out of New", g.Rate))
	}
	if !(g.WeightDecay >= 0) || math.IsInf(float64(g.WeightDecay), 0) {
		errs = append(errs, fmt.Errorf("its weight decay is %v, must not be negative", g.WeightDecay))
	}
	for _, pattern := range g.Names {
		if _, err := path.Match(pattern, ""); err != nil {
			errs = append(errs, fmt.Errorf("%q is no pattern: %w", pattern, err))
		}
	}
	return errors.Join(errs...)
}

// has reports whether the group names a parameter.
func (g *Group) has(name string) bool {
	for _, pattern := range g.Names {
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
	}
	return false
}

// assign returns the group of each parameter. Each must have one, and each group a
// parameter.
func assign(params []nn.Named, groups []Group) ([]*Group, error) {
	if len(groups) == 0 {
		groups = []Group{all}
	}
	var errs []error
	for i := range groups {
		if err := groups[i].check(); err != nil {
			errs = append(errs, fmt.Errorf("optim: group %d, %q: %w", i, groups[i].Names, err))
		}
	}
	used := make([]bool, len(groups))
	of := make([]*Group, len(params))
	for i, p := range params {
		for j := range groups {
			if groups[j].has(p.Name) {
				of[i], used[j] = &groups[j], true
				break
			}
		}
		if of[i] == nil {
			errs = append(errs, fmt.Errorf("optim: %s is in no group: add a last one with the name \"*\"", p.Name))
		}
	}
	for j, ok := range used {
		if !ok {
			errs = append(errs, fmt.Errorf("optim: group %d, %q, has no parameter: groups before it have them, or the names are others", j, groups[j].Names))
		}
	}
	return of, errors.Join(errs...)
}
