// Package schedule gives the learning rate of each step of a training run. A rate
// depends on nothing but the number of the step, so a run that is continued needs no
// other state.
package schedule

import (
	"errors"
	"fmt"
	"math"
)

// Cosine is a linear warm-up and half a wave of a cosine after it (Loshchilov and
// Hutter, SGDR: Stochastic Gradient Descent with Warm Restarts, 2017, equation 5,
// without restarts). With t the step, from 1:
//
//	Peak*t/Warmup                                            up to t = Warmup
//	Floor + (Peak-Floor)*(1+cos(π*(t-Warmup)/(Steps-Warmup)))/2    up to t = Steps
//	Floor                                                    after it
//
// A run that is warm-up alone stays at the peak.
type Cosine struct {
	Peak   float64 // at the end of the warm-up
	Floor  float64 // at the end of the run and after it
	Warmup int     // steps; 0 for none
	Steps  int     // of the whole run, the warm-up included
}

// Check returns what is wrong with a schedule.
func (c Cosine) Check() error {
	var errs []error
	if !(c.Peak > 0) || math.IsInf(c.Peak, 0) {
		errs = append(errs, fmt.Errorf("schedule: the peak is %v, must be positive", c.Peak))
	}
	if !(c.Floor >= 0 && c.Floor <= c.Peak) {
		errs = append(errs, fmt.Errorf("schedule: the floor is %v, must be in [0, %v], the peak", c.Floor, c.Peak))
	}
	if c.Steps < 1 {
		errs = append(errs, fmt.Errorf("schedule: there are %d steps, must be 1 at least", c.Steps))
	}
	if c.Warmup < 0 || c.Warmup > c.Steps {
		errs = append(errs, fmt.Errorf("schedule: the warm-up has %d steps, must be in [0, %d]", c.Warmup, c.Steps))
	}
	return errors.Join(errs...)
}

// Rate returns the rate of a step, from 1.
func (c Cosine) Rate(step int) float32 {
	switch {
	case step < c.Warmup:
		return float32(c.Peak * float64(step) / float64(c.Warmup))
	case c.Warmup >= c.Steps:
		return float32(c.Peak)
	case step >= c.Steps:
		return float32(c.Floor)
	}
	x := float64(step-c.Warmup) / float64(c.Steps-c.Warmup)
	return float32(c.Floor + (c.Peak-c.Floor)*(1+math.Cos(math.Pi*x))/2)
}
