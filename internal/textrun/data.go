package textrun

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/tokenizer"
	"github.com/kernelgen/kgen/train/config"
)

// validationWindow is the number of ids of a piece of text in validation: a model sees
// nothing of what is before a piece, which counts for little where pieces are long.
const validationWindow = 2048

// The files of a run, in its folder.
const (
	ConfigFile     = "config.toml"
	TokenizerFile  = "tokenizer.json"
	MetricsFile    = "metrics.jsonl"
	CheckpointFile = "checkpoint.safetensors"
	WeightsFile    = "weights.safetensors"
	ReportFile     = "report.html"
)

// Data is what a run learns from and is validated with.
type Data struct {
	config.Sizes
	Tokenizer  *tokenizer.Tokenizer // nil for samples without one
	Text       []int32              // to learn from; nil for samples
	Train      dataset.Source       // to learn from; nil for text
	Validation dataset.Source

	cfg    *config.Config
	learn  bool // the data to learn from is needed
	opened []interface{ Close() error }
}

// Open opens the data of a configuration and reads all of it once, so that what is wrong
// with it shows before the run. Close it when done.
func Open(c *config.Config) (*Data, error) { return open(&Data{cfg: c, learn: true}) }

// OpenValidation opens what is validated with alone. The data to learn from is read only
// where that is a part of it.
func OpenValidation(c *config.Config) (*Data, error) { return open(&Data{cfg: c}) }

func open(d *Data) (*Data, error) {
	err := d.openTokenizer()
	if err == nil && d.IsText() {
		err = d.openText()
	} else if err == nil {
		err = d.openSamples()
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// IsText reports whether the data is text, in pieces, and not samples.
func (d *Data) IsText() bool { return config.Form(d.cfg.Data.Train) == config.Text }

// openTokenizer loads the tokenizer of the configuration, if there is one, or of a run that
// has begun the one in its folder.
func (d *Data) openTokenizer() (err error) {
	path := d.cfg.Data.Tokenizer
	if own := filepath.Join(d.cfg.Out, TokenizerFile); exists(filepath.Join(d.cfg.Out, ConfigFile)) && exists(own) {
		path = own
	}
	if path != "" {
		d.Tokenizer, err = tokenizer.Load(path)
	}
	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// openText reads a text, trains a tokenizer on what is learned from if there is none, and
// cuts off what is held out.
func (d *Data) openText() (err error) {
	c := &d.cfg.Data
	var held []int32
	if d.learn || c.Validation == "" || d.Tokenizer == nil {
		held, err = d.readText(c.Train, c.Validation == "")
	}
	if err == nil && c.Validation != "" {
		held, err = dataset.ReadText(c.Validation, d.Tokenizer.AppendEncode)
	}
	if err != nil {
		return err
	}
	d.Vocabulary, d.Longest = d.Tokenizer.Size(), c.Window
	if d.learn && len(d.Text) < c.Window+1 {
		return fmt.Errorf("%s: %d ids to learn from, a window of %d needs one more than that", c.Train, len(d.Text), c.Window)
	}
	if d.Validation, err = dataset.NewWindows(held, validationWindow, validationWindow); err == nil && d.Validation.Len() == 0 {
		err = fmt.Errorf("%s: %d ids to validate with, must be two at least", cmp.Or(c.Validation, c.Train), len(held))
	}
	return err
}

// readText reads the text to learn from and returns the ids of what is held out of it.
func (d *Data) readText(path string, hold bool) (held []int32, err error) {
	var failed error
	_, err = dataset.ReadText(path, func(_ []int32, text string) []int32 {
		cut := len(text)
		if hold {
			cut = int(float64(len(text)) * (1 - d.cfg.Data.Holdout))
			for cut < len(text) && !utf8.RuneStart(text[cut]) {
				cut++
			}
		}
		if d.Tokenizer == nil {
			if d.Tokenizer, failed = tokenizer.Train(slices.Values([]string{text[:cut]}), d.cfg.Data.Vocabulary); failed != nil {
				return nil
			}
		}
		d.Text, held = d.Tokenizer.Encode(text[:cut]), d.Tokenizer.Encode(text[cut:])
		return nil
	})
	return held, errors.Join(err, failed)
}

// openSamples opens a file of samples, or two, and cuts off what is held out.
func (d *Data) openSamples() (err error) {
	c := &d.cfg.Data
	if d.learn || c.Validation == "" {
		d.Train, err = d.openSource(c.Train)
	}
	if err == nil && c.Validation != "" {
		d.Validation, err = d.openSource(c.Validation)
	} else if err == nil {
		err = d.split()
	}
	if err != nil {
		return err
	}
	d.Vocabulary, d.Dim = c.Vocabulary, d.Validation.Dim()
	if d.Tokenizer != nil {
		d.Vocabulary = d.Tokenizer.Size()
	}
	if err := d.check(cmp.Or(c.Validation, c.Train), d.Validation); err != nil || !d.learn {
		return err
	}
	return d.check(c.Train, d.Train)
}

// split holds the last samples out.
func (d *Data) split() error {
	all := d.Train
	cut := int(float64(all.Len()) * (1 - d.cfg.Data.Holdout))
	var err1, err2 error
	d.Train, err1 = dataset.NewPart(all, 0, cut)
	d.Validation, err2 = dataset.NewPart(all, cut, all.Len())
	return errors.Join(err1, err2)
}

// openSource opens a file of samples.
func (d *Data) openSource(path string) (dataset.Source, error) {
	if config.Form(path) == config.EFB {
		src, err := dataset.OpenEFB(path)
		if err == nil {
			d.opened = append(d.opened, src)
		}
		return src, err
	}
	var encode dataset.Encoder
	if d.Tokenizer != nil {
		encode = d.Tokenizer.AppendEncode
	}
	src, err := dataset.OpenJSONL(path, encode)
	if err == nil {
		d.opened = append(d.opened, src)
	}
	return src, err
}

// check reads all samples of a source.
func (d *Data) check(path string, src dataset.Source) error {
	c := d.cfg
	switch {
	case src.Len() == 0:
		return fmt.Errorf("%s: there are no samples, or none are left beside those that are held out", path)
	case src.Dim() != d.Dim:
		return fmt.Errorf("%s has targets of %d elements, %s of %d", path, src.Dim(), c.Data.Validation, d.Dim)
	case d.Dim == 0 && c.Kind != config.Decoder:
		return fmt.Errorf("%s has no targets, the vectors that an encoder learns: kind is %q", path, c.Kind)
	}
	longest := 0
	for i := range src.Len() {
		longest = max(longest, src.Tokens(i))
	}
	if n := len(c.Data.Widths); n > 0 {
		last := c.Data.Widths[n-1]
		if longest > last && !c.Data.Truncate {
			return fmt.Errorf("%s: a sample has %d ids, the last of widths is %d: give a wider one, or set truncate", path, longest, last)
		}
		longest = last
	}
	d.Longest = max(d.Longest, longest, 1)
	return dataset.Verify(src, d.Vocabulary)
}

// ValidationLoader returns a loader that goes through what is validated with.
func (d *Data) ValidationLoader() (*dataset.Loader, error) {
	return d.Loader(d.Validation, false)
}

// Loader returns a loader of samples, or of pieces of text.
func (d *Data) Loader(src dataset.Source, shuffle bool) (*dataset.Loader, error) {
	cfg := dataset.Config{Batch: d.cfg.Data.Batch, Widths: d.cfg.Data.Widths, Truncate: d.cfg.Data.Truncate, Shuffle: shuffle, Seed: uint64(d.cfg.Seed)}
	if d.IsText() {
		// As many ids as in training, so that no more memory is needed.
		cfg.Batch = max(1, d.cfg.Data.Batch*d.cfg.Data.Window/validationWindow)
	}
	return dataset.NewLoader(src, cfg)
}

// Decode returns the text of ids. Without a tokenizer it is their numbers.
func (d *Data) Decode(ids []int32) (string, error) {
	if d.Tokenizer == nil {
		return fmt.Sprint(ids), nil
	}
	text, err := d.Tokenizer.Decode(ids)
	return string(text), err
}

// Close closes the files of the data.
func (d *Data) Close() error {
	var errs []error
	for _, f := range d.opened {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
