package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/train/metrics"
)

// Names that the package comment gives a meaning.
const (
	phaseText  = "phase"
	validation = "validation_"
	rateName   = "rate"
	throughput = "_per_second"
)

// A curve is the values of one name in one phase.
type curve struct {
	label     string
	phase     string
	validated bool
	steps     []int // rising
	values    []float64
	smooth    []float64 // the values smoothed, nil if they are not
}

// A chart is the curves of a quantity, the measured before the validated.
type chart struct {
	name   string
	curves []*curve
}

// chartsOf sorts the values of records into curves and charts: quantities by name,
// then the learning rate, then throughput.
func chartsOf(records []metrics.Record) []*chart {
	type key struct{ name, phase string }
	curves := map[key]*curve{}
	for _, r := range records {
		for name, v := range r.Values {
			k := key{name, r.Texts[phaseText]}
			if curves[k] == nil {
				curves[k] = newCurve(name, k.phase)
			}
			curves[k].add(r.Step, v)
		}
	}
	byName := map[string]*chart{}
	for k, c := range curves {
		quantity := strings.TrimPrefix(k.name, validation)
		if byName[quantity] == nil {
			byName[quantity] = &chart{name: quantity}
		}
		if !c.validated && quantity != rateName {
			c.smooth = smoothed(c.values)
		}
		byName[quantity].curves = append(byName[quantity].curves, c)
	}
	var charts []*chart
	for _, c := range byName {
		slices.SortFunc(c.curves, compareCurves)
		charts = append(charts, c)
	}
	slices.SortFunc(charts, compareCharts)
	return charts
}

func newCurve(name, phase string) *curve {
	c := &curve{label: "training", phase: phase, validated: strings.HasPrefix(name, validation)}
	switch {
	case c.validated && phase != "":
		c.label = "validation, " + phase
	case c.validated:
		c.label = "validation"
	case phase != "":
		c.label = phase
	}
	return c
}

// add appends a value. Of several for one step the last counts.
func (c *curve) add(step int, v float64) {
	if n := len(c.steps); n > 0 && c.steps[n-1] == step {
		c.values[n-1] = v
		return
	}
	c.steps = append(c.steps, step)
	c.values = append(c.values, v)
}

func compareCurves(a, b *curve) int {
	if a.validated != b.validated {
		if b.validated {
			return -1
		}
		return 1
	}
	// A phase may be called what a curve without one is labelled.
	return cmp.Or(strings.Compare(a.label, b.label), strings.Compare(a.phase, b.phase))
}

func compareCharts(a, b *chart) int {
	if x, y := a.rank(), b.rank(); x != y {
		return x - y
	}
	return strings.Compare(a.name, b.name)
}

// rank is where a chart comes: first the losses, then other quantities.
func (c *chart) rank() int {
	switch {
	case strings.Contains(c.name, "loss"):
		return 0
	case c.name == rateName:
		return 2
	case strings.HasSuffix(c.name, throughput):
		return 3
	}
	return 1
}

// title is the name of a chart as it is shown.
func (c *chart) title() string {
	if c.name == rateName {
		return "learning rate"
	}
	return valid(strings.ReplaceAll(c.name, "_", " "))
}

// logarithmic is whether the values need a logarithmic scale: all are positive, and
// the greatest would press half of them into the lowest hundredth.
func (c *chart) logarithmic() bool {
	var all []float64
	for _, c := range c.curves {
		for _, v := range c.values {
			if finite(v) {
				all = append(all, v)
			}
		}
	}
	if len(all) == 0 || c.name == rateName {
		return false
	}
	slices.Sort(all)
	return all[0] > 0 && all[len(all)-1] > 100*all[len(all)/2]
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
