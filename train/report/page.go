package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kernelgen/kgen/train/metrics"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
	//go:embed uplot/uPlot.iife.min.js
	uplotJS string
	//go:embed uplot/uPlot.min.css
	uplotCSS string
	//go:embed uplot/LICENSE
	uplotLicense string
)

// page escapes all that a run brings, each for the place where it stands. What is not
// escaped is constant: the style and the script of this folder.
var page = template.Must(template.New("page").Parse(pageHTML))

// shownSamples is how many texts of one name are shown at most.
const shownSamples = 20

// A view is what the page shows.
type view struct {
	Name    string
	Extent  string
	Policy  string
	Style   template.CSS
	Script  template.JS
	Summary []summary
	Charts  []chartView
	Data    []chartData
	Ops     []opView
	Samples []sampleView
	Config  string
}

type summary struct {
	Quantity, Curve, Last, Least, LeastStep, Greatest, GreatestStep string
}

type chartView struct {
	Title string
	Notes []string
}

type opView struct {
	Name, Seconds, Share, Bar, PerCall string
	Calls                              int
}

type sampleView struct {
	Name    string
	Last    sample
	Before  string
	Earlier []sample
}

type sample struct {
	Step int
	Text string
}

// chartData and curveData are what the script draws.
type chartData struct {
	Curves      []curveData `json:"curves"`
	Logarithmic bool        `json:"logarithmic"`
}

type curveData struct {
	Label     string   `json:"label"`
	Validated bool     `json:"validated"`
	Steps     []int    `json:"steps"`
	Values    []number `json:"values"`
	Smooth    []number `json:"smooth"` // null without
}

// A number is drawn, so six digits are enough. One that is not finite is a gap.
type number float64

// MarshalJSON writes the number, or null for a gap.
func (n number) MarshalJSON() ([]byte, error) {
	if !finite(float64(n)) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(n), 'g', 6, 64), nil
}

func (run Run) view() view {
	style := uplotCSS + "\n" + pageCSS
	script := "/*\n" + uplotLicense + "*/\n" + uplotJS + "\n" + pageJS
	v := view{
		Name:    valid(run.Name),
		Extent:  extent(run.Records),
		Policy:  fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'", hash(style), hash(script)),
		Style:   template.CSS(style),
		Script:  template.JS(script),
		Data:    []chartData{},
		Ops:     opViews(run.Ops),
		Samples: sampleViews(run.Records),
		Config:  valid(run.Config),
	}
	for _, c := range chartsOf(run.Records) {
		v.Charts = append(v.Charts, chartView{Title: c.title(), Notes: c.notes()})
		v.Data = append(v.Data, c.data())
		for _, curve := range c.curves {
			v.Summary = append(v.Summary, curve.summary(c.title()))
		}
	}
	return v
}

// hash is the name of an inline script or style in a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// valid returns a text with U+FFFD for what is not UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func extent(records []metrics.Record) string {
	return fmt.Sprintf("steps %d to %d, %d records", records[0].Step, records[len(records)-1].Step, len(records))
}

func (c *chart) data() chartData {
	d := chartData{Logarithmic: c.logarithmic()}
	for _, curve := range c.curves {
		d.Curves = append(d.Curves, curve.data())
	}
	return d
}

func (c *curve) data() curveData {
	d := curveData{Label: valid(c.label), Validated: c.validated}
	for _, i := range thinned(c.steps, c.values) {
		d.Steps = append(d.Steps, c.steps[i])
		d.Values = append(d.Values, number(c.values[i]))
		if c.smooth != nil {
			d.Smooth = append(d.Smooth, number(c.smooth[i]))
		}
	}
	return d
}

// notes are what a chart does not show by itself.
func (c *chart) notes() []string {
	var notes []string
	if c.logarithmic() {
		notes = append(notes, "The scale is logarithmic.")
	}
	for _, curve := range c.curves {
		count, first := 0, 0
		for i, v := range curve.values {
			if !finite(v) {
				if count == 0 {
					first = curve.steps[i]
				}
				count++
			}
		}
		if count > 0 {
			notes = append(notes, fmt.Sprintf("%s is not finite at %d of %d steps, first at %d.", valid(curve.label), count, len(curve.values), first))
		}
	}
	return notes
}

func (c *curve) summary(quantity string) summary {
	least, greatest := -1, -1
	for i, v := range c.values {
		if !finite(v) {
			continue
		}
		if least < 0 || v < c.values[least] {
			least = i
		}
		if greatest < 0 || v > c.values[greatest] {
			greatest = i
		}
	}
	s := summary{Quantity: quantity, Curve: valid(c.label), Last: digits(c.values[len(c.values)-1])}
	if least >= 0 {
		s.Least, s.LeastStep = digits(c.values[least]), strconv.Itoa(c.steps[least])
		s.Greatest, s.GreatestStep = digits(c.values[greatest]), strconv.Itoa(c.steps[greatest])
	}
	return s
}

// digits shows a value.
func digits(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }

// opViews returns the rows of the table of operations, those that took longest first.
func opViews(ops []Op) []opView {
	ops = slices.Clone(ops)
	slices.SortStableFunc(ops, func(a, b Op) int {
		switch {
		case a.Seconds > b.Seconds:
			return -1
		case a.Seconds < b.Seconds:
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	total := 0.0
	for _, op := range ops {
		total += op.Seconds
	}
	var rows []opView
	for _, op := range ops {
		row := opView{Name: valid(op.Name), Seconds: fmt.Sprintf("%.3f", op.Seconds), Calls: op.Calls}
		if total > 0 {
			share := 100 * op.Seconds / total
			row.Share = fmt.Sprintf("%.1f %%", share)
			row.Bar = fmt.Sprintf("%.2f", 100*op.Seconds/ops[0].Seconds)
		}
		if op.Calls > 0 {
			row.PerCall = fmt.Sprintf("%.2f", 1e6*op.Seconds/float64(op.Calls))
		}
		rows = append(rows, row)
	}
	return rows
}

// sampleViews returns the texts of records by name: the last of each, and others
// spread evenly from the first on.
func sampleViews(records []metrics.Record) []sampleView {
	texts := map[string][]sample{}
	var names []string
	for _, r := range records {
		for name, text := range r.Texts {
			if name == phaseText {
				continue
			}
			if texts[name] == nil {
				names = append(names, name)
			}
			texts[name] = append(texts[name], sample{r.Step, valid(text)})
		}
	}
	slices.Sort(names)
	var views []sampleView
	for _, name := range names {
		all := texts[name]
		v := sampleView{Name: valid(name), Last: all[len(all)-1]}
		v.Earlier = spread(all[:len(all)-1], shownSamples-1)
		v.Before = fmt.Sprintf("%d earlier ones", len(all)-1)
		if len(v.Earlier) < len(all)-1 {
			v.Before = fmt.Sprintf("%d of %d earlier ones", len(v.Earlier), len(all)-1)
		}
		views = append(views, v)
	}
	return views
}

// spread returns at most n elements of a list, evenly spaced from the first on.
func spread(list []sample, n int) []sample {
	if len(list) <= n {
		return list
	}
	out := make([]sample, n)
	for i := range out {
		out[i] = list[int(math.Floor(float64(i)*float64(len(list))/float64(n)))]
	}
	return out
}
