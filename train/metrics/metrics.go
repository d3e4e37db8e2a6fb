// Package metrics keeps what a training run measures in a file of JSONL, one object
// for each record (docs/formats.md).
//
// In come numbers and texts by name for a step; out comes a file that is right up to
// its last whole line whenever the process stops, and that a continued run goes on
// with.
package metrics

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// stepKey is the name under which a record has its step.
const stepKey = "step"

// A Record is what was measured at a step.
type Record struct {
	Step   int
	Values map[string]float64 // not finite ones are strings in the file: "NaN", "+Inf", "-Inf"
	Texts  map[string]string
}

// A Writer appends records to a file.
type Writer struct {
	file *os.File
	last int
}

// Create begins a file, which must not be there yet.
func Create(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o666)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("metrics: %s is there: it belongs to another run, which this one could continue", path)
	}
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return &Writer{file: f}, nil
}

// Resume goes on with a file after a step, at which the run is continued. Records of
// later steps, which will be made again, and a line that was not written to its end
// are cut off.
func Resume(path string, step int) (*Writer, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	w := &Writer{}
	keep := 0
	err = each(content, func(r Record, end int) bool {
		if r.Step > step {
			return false
		}
		w.last, keep = r.Step, end
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("metrics: %s:%w", path, err)
	}
	if err := os.Truncate(path, int64(keep)); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	if w.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return w, nil
}

// Write appends a record, in one write to the file. Steps must not go back.
func (w *Writer) Write(r Record) error {
	if r.Step < w.last {
		return fmt.Errorf("metrics: %s: step %d comes after step %d", w.file.Name(), r.Step, w.last)
	}
	line, err := r.encode()
	if err != nil {
		return fmt.Errorf("metrics: %s: step %d: %w", w.file.Name(), r.Step, err)
	}
	if _, err := w.file.Write(line); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	w.last = r.Step
	return nil
}

// Close writes the file to the disk and closes it.
func (w *Writer) Close() error {
	return errors.Join(w.file.Sync(), w.file.Close())
}

// Read returns the records of a file. A last line that was not written to its end is
// left out.
func Read(path string) ([]Record, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	var list []Record
	err = each(content, func(r Record, end int) bool {
		list = append(list, r)
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("metrics: %s:%w", path, err)
	}
	return list, nil
}

// each hands over records and where their lines end, until do returns false.
func each(content []byte, do func(r Record, end int) bool) error {
	last := 0
	for at, number := 0, 1; ; number++ {
		n := bytes.IndexByte(content[at:], '\n')
		if n < 0 {
			return nil
		}
		r, err := decode(content[at : at+n])
		if err == nil && r.Step < last {
			err = fmt.Errorf("step %d comes after step %d", r.Step, last)
		}
		if err != nil {
			return fmt.Errorf("%d: (byte %d) %w", number, at, err)
		}
		last = r.Step
		at += n + 1
		if !do(r, at) {
			return nil
		}
	}
}

// encode returns the line of a record: the step, then the rest by name.
func (r Record) encode() ([]byte, error) {
	if r.Step < 0 {
		return nil, errors.New("a step must not be negative")
	}
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out)
	tokens := []jsontext.Token{jsontext.BeginObject, jsontext.String(stepKey), jsontext.Int(int64(r.Step))}
	for _, name := range slices.Sorted(maps.Keys(r.Values)) {
		tokens = append(tokens, jsontext.String(name), number(r.Values[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Texts)) {
		if _, ok := notFinite[r.Texts[name]]; ok {
			return nil, fmt.Errorf("the text %q is %q, which is how a number is written", name, r.Texts[name])
		}
		tokens = append(tokens, jsontext.String(name), jsontext.String(r.Texts[name]))
	}
	for _, t := range append(tokens, jsontext.EndObject) {
		if err := enc.WriteToken(t); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// notFinite has the values that JSON has no numbers for.
var notFinite = map[string]float64{"NaN": math.NaN(), "+Inf": math.Inf(1), "-Inf": math.Inf(-1)}

// number returns a value as the file has it.
func number(v float64) jsontext.Token {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return jsontext.String(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return jsontext.Float(v)
}

// decode reads the line of a record.
func decode(line []byte) (Record, error) {
	r := Record{Step: -1, Values: map[string]float64{}, Texts: map[string]string{}}
	dec := jsontext.NewDecoder(bytes.NewReader(line))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return r, errors.Join(errors.New("a line must be an object"), err)
	}
	for dec.PeekKind() == '"' {
		if err := r.decodeMember(dec); err != nil {
			return r, err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return r, err
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return r, errors.New("there is something behind the object")
	}
	if r.Step < 0 {
		return r, errors.New("there is no step, or a negative one")
	}
	return r, nil
}

func (r *Record) decodeMember(dec *jsontext.Decoder) error {
	t, err := dec.ReadToken()
	if err != nil {
		return err
	}
	name := t.String()
	switch kind := dec.PeekKind(); {
	case kind == '0' && name == stepKey:
		return json.UnmarshalDecode(dec, &r.Step)
	case kind == '0':
		var v float64
		err := json.UnmarshalDecode(dec, &v)
		r.Values[name] = v
		return err
	case kind == '"' && name != stepKey:
		t, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if v, ok := notFinite[t.String()]; ok {
			r.Values[name] = v
		} else {
			r.Texts[name] = t.String()
		}
		return nil
	}
	_, err = dec.ReadToken()
	return errors.Join(fmt.Errorf("%q is neither a number nor a text", name), err)
}
