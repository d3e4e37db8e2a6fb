package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train/metrics"
	"github.com/kernelgen/kgen/train/optim"
	"github.com/kernelgen/kgen/train/schedule"
)

// Config says how long, and in what steps, models are trained.
type Config struct {
	Schedule   schedule.Cosine // of all steps of the run; groups of parameters may have a factor
	Accumulate int             // micro-batches of a step; 0 is 1
}

// Trainer is the loop that all trainers share. It is for one goroutine at a time. After a
// step that has failed it is not to be used, since data were read that no weight has seen:
// a new one goes on from the last checkpoint.
type Trainer struct {
	config Config
	batch  *runtime.Batch
	phases []*phase
	done   int // steps
}

// phase is a loss with the optimiser of all parameters that it depends on.
type phase struct {
	name  string // "" where it is the only one
	steps int    // in a turn
	objective
	data      Batches
	config    optim.Config
	optimizer *optim.Optimizer
	micro     []dataset.Batch // of the present step
}

// newTrainer completes phases to a trainer.
func newTrainer(c Config, phases ...*phase) (*Trainer, error) {
	if c.Accumulate == 0 {
		c.Accumulate = 1
	}
	errs := []error{c.check()}
	for _, p := range phases {
		errs = append(errs, p.check())
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	t := &Trainer{config: c}
	for _, p := range phases {
		var err error
		if p.optimizer, err = optim.New(p.params(), p.config); err != nil {
			return nil, errors.Join(fmt.Errorf("train: %w", err), t.Close())
		}
		p.micro = make([]dataset.Batch, c.Accumulate)
		t.phases = append(t.phases, p)
	}
	t.batch = device(phases[0]).Batch("micro-batch")
	return t, nil
}

func (c *Config) check() error {
	err := c.Schedule.Check()
	if c.Accumulate < 1 {
		err = errors.Join(err, fmt.Errorf("a step of %d micro-batches: must be positive", c.Accumulate))
	}
	return err
}

func (p *phase) check() error {
	err := p.objective.check()
	if p.steps < 1 {
		err = errors.Join(err, fmt.Errorf("phase %s has %d steps in a turn, must be positive", p.name, p.steps))
	}
	if p.data == nil {
		err = errors.Join(err, errors.New("there is no data: set Data"))
	}
	return err
}

// Done returns the number of steps taken, those before Resume included.
func (t *Trainer) Done() int { return t.done }

// phase returns that of a step, from 1.
func (t *Trainer) phase(step int) *phase {
	turn := 0
	for _, p := range t.phases {
		turn += p.steps
	}
	at, i := (step-1)%turn, 0
	for ; at >= t.phases[i].steps; i++ {
		at -= t.phases[i].steps
	}
	return t.phases[i]
}

// Step takes one step and returns what it measured: the losses before the step, rate,
// gradient_norm (before clipping), tokens_per_second, with loss scaling loss_scale, and
// the phase where there are several. If ctx has ended it returns its error and does
// nothing; a step that has begun is ended.
func (t *Trainer) Step(ctx context.Context) (metrics.Record, error) {
	if err := ctx.Err(); err != nil {
		return metrics.Record{}, err
	}
	return t.step(context.WithoutCancel(ctx))
}

func (t *Trainer) step(ctx context.Context) (metrics.Record, error) {
	n := t.done + 1
	p, rate := t.phase(n), t.config.Schedule.Rate(n)
	start := time.Now()
	values, err := p.step(ctx, t.batch, rate)
	if err != nil {
		t.batch.Discard()
		return metrics.Record{}, fmt.Errorf("train: step %d: %w", n, err)
	}
	values["rate"] = float64(rate)
	values["tokens_per_second"] = float64(p.tokens()) / time.Since(start).Seconds()
	t.done = n
	r := metrics.Record{Step: n, Values: values}
	if p.name != "" {
		r.Texts = map[string]string{"phase": p.name}
	}
	return r, nil
}

// step reads the micro-batches of a step and runs them, each as one program.
func (p *phase) step(ctx context.Context, b *runtime.Batch, rate float32) (map[string]float64, error) {
	total := 0
	for i := range p.micro {
		if err := next(p.data, p, &p.micro[i]); err != nil {
			return nil, err
		}
		total += p.terms(&p.micro[i])
	}
	values := map[string]float64{}
	var report *optim.Report
	for i := range p.micro {
		share := float64(p.terms(&p.micro[i])) / float64(total)
		r, err := withDropout(p, b, &p.micro[i])
		if err != nil {
			return nil, err
		}
		report, err = p.descend(b, r.loss, share, rate, i == len(p.micro)-1)
		if err == nil {
			err = b.Sync(ctx)
		}
		if err = errors.Join(err, r.close()); err != nil {
			return nil, err
		}
		if err := r.addTo(values, share); err != nil {
			return nil, err
		}
	}
	return values, p.measure(report, values)
}

// descend records what a loss with its share of the step's does to the parameters: it is
// accumulated, or the last of the step.
func (p *phase) descend(b *runtime.Batch, loss runtime.Tensor[float32], share float64, rate float32, last bool) (*optim.Report, error) {
	if len(p.micro) > 1 {
		loss = ops.ScaleDeferred(b, loss, float32(share))
	}
	if last {
		return p.optimizer.Step(b, loss, rate)
	}
	return nil, p.optimizer.Accumulate(b, loss)
}

// measure adds what the optimiser says of a step.
func (p *phase) measure(r *optim.Report, values map[string]float64) error {
	if err := r.Err(); err != nil {
		return err
	}
	norm, err := r.Norm.Scalar()
	if err != nil {
		return err
	}
	values["gradient_norm"] = float64(norm)
	if p.config.Scaling == nil {
		return nil
	}
	scale, err := r.Scale.Scalar()
	values["loss_scale"] = float64(scale)
	return err
}

// tokens is the number of ids of the present step that are not padding.
func (p *phase) tokens() int {
	n := 0
	for i := range p.micro {
		n += counted(p.micro[i].Mask)
	}
	return n
}

// Close releases what the optimisers keep. Models are left as they are.
func (t *Trainer) Close() error {
	var errs []error
	for _, p := range t.phases {
		errs = append(errs, p.optimizer.Close())
	}
	return errors.Join(errs...)
}
