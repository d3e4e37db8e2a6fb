package train

import (
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/cheggaaa/pb/v3"

	"github.com/kernelgen/kgen/train/metrics"
)

// progress is a bar over the steps that are left. The nil progress shows nothing.
type progress struct {
	bar    *pb.ProgressBar
	start  time.Time
	from   int // step at the start
	latest map[string]float64
}

const template = `{{string . "prefix"}} {{bar . }} {{percent . }} {{rtime . "%s left" "in %s" "? left"}}`

func (t *Trainer) progress(w io.Writer) *progress {
	if w == nil {
		return nil
	}
	bar := pb.New(t.config.Schedule.Steps - t.done).SetWriter(w).SetTemplateString(template)
	return &progress{bar: bar.Start(), start: time.Now(), from: t.done, latest: map[string]float64{}}
}

// add shows a step.
func (p *progress) add(t *Trainer, r metrics.Record) {
	if p == nil {
		return
	}
	maps.Copy(p.latest, r.Values)
	text := fmt.Sprintf("step %d of %d", t.done, t.config.Schedule.Steps)
	for _, name := range []string{"kd_loss", "ce_loss"} {
		if v, ok := p.latest[name]; ok {
			text += fmt.Sprintf(", %s %.4f", name, v)
		}
	}
	rate := float64(t.done-p.from) / time.Since(p.start).Seconds()
	p.bar.Set("prefix", fmt.Sprintf("%s, %.1f steps/s", text, rate))
	p.bar.Increment()
}

func (p *progress) finish() {
	if p != nil {
		p.bar.Finish()
	}
}
