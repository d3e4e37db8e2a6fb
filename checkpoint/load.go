package checkpoint

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/safetensors"
)

// Load fills the tensors of state from a file and returns the file's metadata. The
// file must have exactly these names, with the same shapes and types: nothing is
// left out, converted or reshaped. All that does not fit is in one error, a
// *MismatchError, and then no tensor has changed.
func Load(path string, state State) (map[string]string, error) {
	return LoadPart(path, "", state)
}

// LoadPart is Load for the part of a file whose names begin with prefix, such as
// the weights beside the state of an optimiser. The keys of state are whole names,
// prefix included. Other tensors of the file are not looked at.
func LoadPart(path, prefix string, state State) (map[string]string, error) {
	f, err := safetensors.Open(path)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	defer f.Close()
	if err := usable(state, prefix); err != nil {
		return nil, fmt.Errorf("checkpoint: %s is not loaded: %w", path, err)
	}
	if err := compare(path, f, prefix, state); err != nil {
		return nil, err
	}
	for _, t := range f.Tensors() {
		h, ok := state[t.Name]
		if !ok {
			continue
		}
		if err := h.WriteBytes(f.Data(t)); err != nil {
			return nil, fmt.Errorf("checkpoint: %s: %q: %w", path, t.Name, err)
		}
	}
	return f.Metadata(), nil
}

// usable returns what is wrong with tensors that are to be loaded.
func usable(state State, prefix string) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(state)) {
		if !strings.HasPrefix(name, prefix) {
			errs = append(errs, fmt.Errorf("%q does not begin with %q", name, prefix))
		}
		if err := writable(state[name]); err != nil {
			errs = append(errs, fmt.Errorf("%q: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// writable returns why a tensor could not be written, by writing none of its
// elements.
func writable(h runtime.Handle) error {
	v, err := h.View(0, 0)
	if err != nil {
		return err
	}
	return errors.Join(v.WriteBytes(nil), v.Close())
}

// MismatchError says how the tensors of a file differ from those that are to be
// loaded from it.
type MismatchError struct {
	Path       string
	Missing    []string // "name f32[2 3]", what the file should have
	Unexpected []string // what the file has and nobody asked for
	Different  []string // "name is F32[3 2] in the file, should be F32[2 3]"
	Hint       string   // what may be the reason, if one shows
}

// Error lists every difference.
func (e *MismatchError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "checkpoint: %s does not fit, nothing is loaded: %d missing, %d unexpected, %d different", e.Path, len(e.Missing), len(e.Unexpected), len(e.Different))
	for _, part := range []struct {
		what string
		list []string
	}{{"missing", e.Missing}, {"unexpected", e.Unexpected}, {"different", e.Different}} {
		for _, s := range part.list {
			fmt.Fprintf(&b, "\n\t%s: %s", part.what, s)
		}
	}
	if e.Hint != "" {
		b.WriteString("\n\t" + e.Hint)
	}
	return b.String()
}

// compare returns a *MismatchError if the file's names, shapes and types are not
// those of state.
func compare(path string, f *safetensors.File, prefix string, state State) error {
	e := &MismatchError{Path: path}
	var extra []string
	for _, t := range f.Tensors() {
		if _, ok := state[t.Name]; !ok && strings.HasPrefix(t.Name, prefix) {
			e.Unexpected = append(e.Unexpected, t.String())
			extra = append(extra, t.Name)
		}
	}
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(state)) {
		h := state[name]
		want, err := dtype(h.DType())
		if err != nil {
			return fmt.Errorf("checkpoint: %q: %w", name, err)
		}
		t, ok := f.Lookup(name)
		switch {
		case !ok:
			e.Missing = append(e.Missing, fmt.Sprintf("%s %s%v", name, want, h.Shape()))
			missing = append(missing, name)
		case t.DType != want || !slices.Equal(t.Shape, h.Shape()):
			e.Different = append(e.Different, fmt.Sprintf("%s is %s%v in the file, should be %s%v", name, t.DType, t.Shape, want, h.Shape()))
		}
	}
	if len(e.Missing)+len(e.Unexpected)+len(e.Different) == 0 {
		return nil
	}
	slices.Sort(e.Unexpected)
	e.Hint = prefixHint(missing, extra)
	return e
}

// prefixHint says if the names of the file are those that are missing, with
// something before all of them, or without.
func prefixHint(missing, extra []string) string {
	slices.Sort(missing)
	slices.Sort(extra)
	if p := addedPrefix(missing, extra); p != "" {
		return fmt.Sprintf("every name has %q before it in the file", p)
	}
	if p := addedPrefix(extra, missing); p != "" {
		return fmt.Sprintf("every name lacks %q before it in the file", p)
	}
	return ""
}

// addedPrefix returns what stands before each of the long names and makes the
// difference to the short ones, "" if there is no such thing.
func addedPrefix(short, long []string) string {
	if len(short) == 0 || len(short) != len(long) {
		return ""
	}
	p, ok := strings.CutSuffix(long[0], short[0])
	for i := range short {
		ok = ok && long[i] == p+short[i]
	}
	if !ok {
		return ""
	}
	return p
}
