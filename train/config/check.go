package config

import (
	"math/bits"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/diag"
)

// missing reports keys that must be given.
func (r *reader) missing(file string) {
	for _, k := range r.keys {
		if _, given := r.c.places[k.path()]; k.required() && !given {
			r.list.AddHint(diag.Pos{File: file}, k.Doc, "%s is missing: give it in the file or as -%s", k.title(), k.Name)
		}
	}
}

// meaning lists keys, of those that were given at a place that counts, that have no
// meaning in the configuration.
func (r *reader) meaning(counts func(diag.Pos) bool) (list diag.List) {
	for _, k := range r.keys {
		if at, given := r.c.places[k.path()]; given && counts(at) {
			if why := r.c.without(k); why != "" {
				list.Add(at, "%s has no meaning %s", k.Name, why)
			}
		}
	}
	return list
}

// check reports values that do not go together.
func (r *reader) check() {
	c := r.c
	r.refuse(c.Out == "", "out", "out is empty, must be a folder")
	r.data()
	o, s := &c.Optimiser, &c.Schedule
	r.refuse(o.Nesterov && o.Momentum == 0, "optimiser.nesterov", "nesterov looks ahead along the momentum, which is 0: set momentum, 0.9 is usual")
	r.refuse(bits.OnesCount(uint(o.LossScale)) != 1, "optimiser.loss_scale", "loss_scale is %d, must be a power of two", o.LossScale)
	r.refuse(s.Warmup > s.Steps, "schedule.warmup", "warmup is %d, must be at most steps, %d", s.Warmup, s.Steps)
	r.refuse(s.Floor > s.Peak, "schedule.floor", "floor is %v, must be at most peak, %v", s.Floor, s.Peak)
	r.refuse(c.Kind != Decoder && c.Loss.Alpha == 0 && c.Loss.Beta == 0, "loss.alpha", "alpha and beta are 0: there is nothing to learn from")
}

// data checks what files are given.
func (r *reader) data() {
	d := &r.c.Data
	form, other := Form(d.Train), Form(d.Validation)
	r.refuse(form == "", "data.train", "train is %q, must end in .txt, .efb or .jsonl", d.Train)
	r.refuse(form == Text && r.c.Kind != Decoder, "data.train", "train is text, which has no vectors of a teacher: an encoder learns from .efb or .jsonl")
	r.refuse(d.Validation != "" && other != form, "data.validation", "validation is %q, must end in .%s as train does", d.Validation, form)
	r.refuse(form == Text && d.Tokenizer == "" && d.Vocabulary < 256, "data.vocabulary", "vocabulary is %d, must be at least 256, the bytes, where a tokenizer is trained", d.Vocabulary)
}

// without says why a key has no meaning in a configuration, "" if it has one.
func (c *Config) without(k Key) string {
	if !k.of(c.Kind) {
		return "where kind is " + c.Kind + ", but where it is " + strings.Join(k.Kinds, " or ")
	}
	d, o := &c.Data, &c.Optimiser
	for _, rule := range []struct {
		wrong bool
		why   string
		keys  []string
	}{
		{d.Validation == "", "when it is empty", []string{"data.validation"}},
		{d.Tokenizer == "", "when it is empty", []string{"data.tokenizer"}},
		{c.Model.Embeddings == "", "when it is empty", []string{"model.embeddings"}},
		{d.Validation != "", "beside a validation file", []string{"data.holdout"}},
		{d.Tokenizer != "", "beside a tokenizer, whose size is what counts", []string{"data.vocabulary"}},
		{Form(d.Train) != Text, "for samples, which come as they are: see widths", []string{"data.window"}},
		{Form(d.Train) == Text, "for text, whose pieces have one length: see window", []string{"data.widths", "data.truncate"}},
		{o.Method != "adamw", "for method = " + o.Method, []string{"optimiser.beta1", "optimiser.beta2", "optimiser.eps"}},
		{o.Method != "sgd", "for method = " + o.Method, []string{"optimiser.momentum", "optimiser.nesterov"}},
		{c.Precision != "f16", "for precision = " + c.Precision + ", which needs no scale", []string{"optimiser.loss_scale", "optimiser.scale_interval"}},
	} {
		if rule.wrong && slices.Contains(rule.keys, k.path()) {
			return rule.why
		}
	}
	return ""
}

// refuse reports a mistake at the place where a key was given, or for a default at none.
func (r *reader) refuse(wrong bool, path, format string, args ...any) {
	if wrong {
		r.list.Add(r.c.places[path], format, args...)
	}
}

// The forms of data.
const (
	Text  = "txt"
	EFB   = "efb"
	JSONL = "jsonl"
)

// Form returns the form of a file by the end of its name, "" if it is none.
func Form(path string) string {
	switch ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), ".")); ext {
	case Text, EFB, JSONL:
		return ext
	}
	return ""
}
