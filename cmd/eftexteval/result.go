package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// result is what was measured, as JSON has it.
type result struct {
	Run        string     `json:"run"`
	Kind       string     `json:"kind"`
	Checkpoint string     `json:"checkpoint"`
	Precision  string     `json:"precision"`
	Parameters int        `json:"parameters"`
	Data       string     `json:"data"`
	Holdout    float64    `json:"holdout,omitzero"` // the last part of data, 0: all of it
	Samples    int        `json:"samples"`
	IDs        int        `json:"ids"`
	Lengths    *lengthsOf `json:"lengths,omitzero"` // of samples; pieces of text have one length
	KD         *kd        `json:"kd,omitzero"`
	CE         *ce        `json:"ce,omitzero"`
}

// lengthsOf are percentiles of the ids of samples.
type lengthsOf struct {
	Least int `json:"least"`
	P5    int `json:"p5"`
	P25   int `json:"p25"`
	P50   int `json:"p50"`
	P75   int `json:"p75"`
	P95   int `json:"p95"`
	P99   int `json:"p99"`
	Most  int `json:"most"`
}

// kd is how near vectors are to the teacher's.
type kd struct {
	Loss      float64            `json:"loss"`
	Cosine    float64            `json:"cosine"` // mean
	P5        float64            `json:"cosine_p5"`
	P50       float64            `json:"cosine_p50"`
	P95       float64            `json:"cosine_p95"`
	MSE       float64            `json:"mse"`
	Retrieval map[string]float64 `json:"retrieval"` // by k

	ks []int
}

// ce is how well ids are foretold.
type ce struct {
	Loss             float64 `json:"loss"` // nats for an id
	Perplexity       float64 `json:"perplexity"`
	IDs              int     `json:"ids"`                         // that were foretold
	NatsPerCharacter float64 `json:"nats_per_character,omitzero"` // with a tokenizer only
	BitsPerByte      float64 `json:"bits_per_byte,omitzero"`
}

func (r *result) writeJSON(w io.Writer) error {
	if err := json.MarshalWrite(w, r, jsontext.WithIndent("  "), json.Deterministic(true)); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// writeTable prints the result for people.
func (r *result) writeTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row("model", "%s of %.2f million weights, %s in %s", r.Kind, float64(r.Parameters)/1e6, r.Checkpoint, r.Precision)
	part := ""
	if r.Holdout > 0 {
		part = fmt.Sprintf(", the last %v of it", r.Holdout)
	}
	row("data", "%s%s: %d samples, %d ids", r.Data, part, r.Samples, r.IDs)
	if l := r.Lengths; l != nil {
		row("ids of a sample", "least %d, 5 %% %d, 25 %% %d, 50 %% %d, 75 %% %d, 95 %% %d, 99 %% %d, most %d", l.Least, l.P5, l.P25, l.P50, l.P75, l.P95, l.P99, l.Most)
	}
	if r.KD != nil {
		r.KD.rows(row)
	}
	if r.CE != nil {
		r.CE.rows(row)
	}
	return t.Flush()
}

func (r *kd) rows(row func(name, format string, args ...any)) {
	row("distillation loss", "%.4f", r.Loss)
	row("cosine", "%.4f (5 %% %.4f, 50 %% %.4f, 95 %% %.4f)", r.Cosine, r.P5, r.P50, r.P95)
	row("mean squared error", "%.3g", r.MSE)
	for _, k := range r.ks {
		row(fmt.Sprintf("retrieval@%d", k), "%.4f", r.Retrieval[strconv.Itoa(k)])
	}
}

func (r *ce) rows(row func(name, format string, args ...any)) {
	row("cross entropy", "%.4f nats for an id, %d ids", r.Loss, r.IDs)
	row("perplexity", "%.3f", r.Perplexity)
	if r.NatsPerCharacter > 0 {
		row("of the text", "%.4f nats for a character, %.4f bits for a byte", r.NatsPerCharacter, r.BitsPerByte)
	}
}
