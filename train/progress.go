package train

import (
	"fmt"
	"io"
	"time"

	"github.com/cheggaaa/pb/v3"

	"github.com/kernelgen/kgen/train/metrics"
)

// progress is a bar over the steps that are left. The nil progress shows nothing.
type progress struct {
	bar    *pb.ProgressBar
	start  time.Time
	from   int // step at the start
	tokens float64
}

const template = `{{string . "prefix"}} {{bar . }} {{percent . }} {{rtime . "%s left" "in %s" "? left"}}`

func (t *Trainer) progress(w io.Writer) *progress {
	if w == nil {
		return nil
	}
	bar := pb.New(t.config.Schedule.Steps - t.done).SetWriter(w).SetTemplateString(template)
	return &progress{bar: bar.Start(), start: time.Now(), from: t.done}
}

// add shows a step.
func (p *progress) add(t *Trainer, r metrics.Record) {
	if p == nil {
		return
	}
	loss := "ce_loss"
	if _, ok := r.Values[loss]; !ok {
		loss = "kd_loss"
	}
	rate := float64(t.done-p.from) / time.Since(p.start).Seconds()
	p.bar.Set("prefix", fmt.Sprintf("step %d of %d, %s %.4f, %.1f steps/s", t.done, t.config.Schedule.Steps, loss, r.Values[loss], rate))
	p.bar.Increment()
}

func (p *progress) finish() {
	if p != nil {
		p.bar.Finish()
	}
}
