package checkpoint

import (
	"errors"
	"maps"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/generated/ops"
	"github.com/kernelgen/kgen/internal/pytest"
	"github.com/kernelgen/kgen/runtime"
)

func open(t testing.TB) *runtime.Device {
	t.Helper()
	d, err := runtime.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func from[T runtime.Element](t testing.TB, d *runtime.Device, data []T, shape ...int) runtime.Handle {
	t.Helper()
	x, err := runtime.FromSlice(d, data, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x.Untyped()
}

func values[T runtime.Element](t testing.TB, h runtime.Handle) []T {
	t.Helper()
	v, err := runtime.As[T](h).Read()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// state returns tensors of every type.
func state(t testing.TB, d *runtime.Device) State {
	return State{
		"model.w":   from(t, d, []float32{1, 2, 3, 4, 5, 6}, 2, 3),
		"model.h":   from(t, d, []runtime.Float16{0x3c00, 0xc000}, 2),
		"model.b":   from(t, d, []runtime.BFloat16{0x3f80, 0xc000, 0x7f80}, 3),
		"optim.t":   from(t, d, []int32{41}),
		"data.mask": from(t, d, []uint8{1, 0, 1}, 3, 1),
		"empty":     from(t, d, []float32{}, 0, 4),
	}
}

// zeros returns tensors of zeros with the names, shapes and types of another state.
func zeros(t testing.TB, d *runtime.Device, like State) State {
	t.Helper()
	s := State{}
	for name, h := range like {
		c, err := h.CopyTo(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.WriteBytes(make([]byte, int64(c.Len())*c.DType().Size())); err != nil {
			t.Fatal(err)
		}
		s[name] = c
	}
	return s
}

func bytesOf(t testing.TB, h runtime.Handle) []byte {
	t.Helper()
	b := make([]byte, int64(h.Len())*h.DType().Size())
	if err := h.ReadBytes(b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSaveAndLoad(t *testing.T) {
	d := open(t)
	path := filepath.Join(t.TempDir(), "all.safetensors")
	saved := state(t, d)
	metadata := map[string]string{"step": "41"}
	if err := Save(path, saved, metadata); err != nil {
		t.Fatal(err)
	}
	loaded := zeros(t, d, saved)
	got, err := Load(path, loaded)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, metadata) {
		t.Errorf("metadata %v, want %v", got, metadata)
	}
	for name := range saved {
		if got, want := bytesOf(t, loaded[name]), bytesOf(t, saved[name]); !slices.Equal(got, want) {
			t.Errorf("%s holds % x, want % x", name, got, want)
		}
	}
}

// A tensor of several pieces comes through whole, and the host holds no more than a
// piece of it on the way to the file, and nothing on the way from it.
func TestLargeTensor(t *testing.T) {
	d := open(t)
	data := make([]float32, 8<<20)
	for i := range data {
		data[i] = float32(i)
	}
	saved := State{"x": from(t, d, data, len(data))}
	loaded := zeros(t, d, saved)
	path := filepath.Join(t.TempDir(), "large.safetensors")
	for _, step := range []struct {
		name string
		run  func() error
		most uint64
	}{
		{"Save", func() error { return Save(path, saved, nil) }, 1<<20 + 64<<10},
		{"Load", func() error { _, err := Load(path, loaded); return err }, 64 << 10},
	} {
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		if err := step.run(); err != nil {
			t.Fatal(err)
		}
		goruntime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > step.most {
			t.Errorf("%s allocates %d bytes for a tensor of %d, want at most %d", step.name, n, 4*len(data), step.most)
		}
	}
	if !slices.Equal(values[float32](t, loaded["x"]), data) {
		t.Error("the values are others")
	}
}

// A result of a batch is an error before the batch is submitted, and waited for
// afterwards.
func TestSaveResults(t *testing.T) {
	d := open(t)
	x, err := runtime.FromSlice(d, []float32{1, 2, 3}, 3)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "file.safetensors")
	b := d.Batch("step")
	y := ops.AddDeferred(b, x, x)
	b.Keep(y)
	state := State{"y": y.Untyped()}
	if err := Save(path, state, nil); !errors.Is(err, runtime.ErrPending) || !strings.Contains(err.Error(), `"y"`) {
		t.Errorf("error %v, want one about y that wraps ErrPending", err)
	}
	x0 := from(t, d, []float32{7}, 1)
	whole := filepath.Join(t.TempDir(), "whole.safetensors")
	if err := Save(whole, State{"a": from(t, d, []float32{8}, 1), "y": from(t, d, []float32{0, 0, 0}, 3)}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(whole, State{"a": x0, "y": y.Untyped()}); !errors.Is(err, runtime.ErrPending) || !strings.Contains(err.Error(), `"y"`) {
		t.Errorf("error %v, want one about y that wraps ErrPending", err)
	}
	if got := values[float32](t, x0); got[0] != 7 {
		t.Errorf("a tensor holds %v after a load that failed, want 7", got)
	}
	fence := b.Submit()
	if err := Save(path, state, nil); err != nil {
		t.Fatal(err)
	}
	if err := fence.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	loaded := State{"y": from(t, d, make([]float32, 3), 3)}
	if _, err := Load(path, loaded); err != nil {
		t.Fatal(err)
	}
	if got := values[float32](t, loaded["y"]); !slices.Equal(got, []float32{2, 4, 6}) {
		t.Errorf("the file holds %v, want [2 4 6]", got)
	}
}

func TestLoadPart(t *testing.T) {
	d := open(t)
	path := filepath.Join(t.TempDir(), "all.safetensors")
	saved := state(t, d)
	if err := Save(path, saved, nil); err != nil {
		t.Fatal(err)
	}
	part := zeros(t, d, State{"model.w": saved["model.w"], "model.h": saved["model.h"]})
	_, err := LoadPart(path, "model.", part)
	if want := "unexpected: model.b BF16[3]"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	_, err = LoadPart(path, "model.", State{"optim.t": saved["optim.t"]})
	if want := `"optim.t" does not begin with "model."`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	part["model.b"] = zeros(t, d, State{"b": saved["model.b"]})["b"]
	if _, err := LoadPart(path, "model.", part); err != nil {
		t.Fatal(err)
	}
	if got := values[float32](t, part["model.w"]); !slices.Equal(got, []float32{1, 2, 3, 4, 5, 6}) {
		t.Errorf("model.w holds %v", got)
	}
}

// C066: missing, extra or misshaped tensors ignored on load.
func TestC066StrictLoad(t *testing.T) {
	d := open(t)
	w, b := []float32{1, 2, 3, 4, 5, 6}, []float32{7, 8, 9}
	half := make([]runtime.Float16, 6)
	for _, c := range []struct {
		name string
		file State
		want []string
	}{
		{"lacks b", State{"w": from(t, d, w, 2, 3)},
			[]string{"1 missing, 0 unexpected, 0 different", "missing: b F32[3]"}},
		{"has c", State{"w": from(t, d, w, 2, 3), "b": from(t, d, b, 3), "c": from(t, d, b, 1, 3)},
			[]string{"0 missing, 1 unexpected, 0 different", "unexpected: c F32[1 3]"}},
		{"w transposed", State{"w": from(t, d, w, 3, 2), "b": from(t, d, b, 3)},
			[]string{"0 missing, 0 unexpected, 1 different", "different: w is F32[3 2] in the file, should be F32[2 3]"}},
		{"w in F16", State{"w": from(t, d, half, 2, 3), "b": from(t, d, b, 3)},
			[]string{"different: w is F16[2 3] in the file, should be F32[2 3]"}},
		{"everything wrong", State{"w": from(t, d, w, 6), "c": from(t, d, b, 3), "a": from(t, d, b, 3)},
			[]string{"1 missing, 2 unexpected, 1 different", "missing: b F32[3]", "unexpected: a F32[3]", "unexpected: c F32[3]", "different: w is F32[6]"}},
		{"names with a prefix", State{"model.w": from(t, d, w, 2, 3), "model.b": from(t, d, b, 3)},
			[]string{"2 missing, 2 unexpected", `every name has "model." before it in the file`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file.safetensors")
			if err := Save(path, c.file, nil); err != nil {
				t.Fatal(err)
			}
			model := zeros(t, d, State{"w": from(t, d, w, 2, 3), "b": from(t, d, b, 3)})
			_, err := Load(path, model)
			var mismatch *MismatchError
			if !errors.As(err, &mismatch) {
				t.Fatalf("error %v, want a MismatchError", err)
			}
			for _, want := range append(c.want, path, "nothing is loaded") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
			for name, h := range model {
				if v := values[float32](t, h); slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) {
					t.Errorf("%s holds %v after a load that failed, want what it held", name, v)
				}
			}
		})
	}
}

// C066: a checkpoint without the optimiser's state does not resume.
func TestC066OptimiserStateMissing(t *testing.T) {
	d := open(t)
	path := filepath.Join(t.TempDir(), "weights.safetensors")
	one := func() runtime.Handle { return from(t, d, []float32{1}, 1) }
	if err := Save(path, State{"model.w": one()}, nil); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path, State{"model.w": one(), "optim.m.w": one(), "optim.v.w": one()})
	for _, want := range []string{"2 missing", "missing: optim.m.w F32[1]", "missing: optim.v.w F32[1]"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
}

func TestPrefixHintTheOtherWay(t *testing.T) {
	got := prefixHint([]string{"model.w", "model.b"}, []string{"b", "w"})
	if want := `every name lacks "model." before it in the file`; got != want {
		t.Errorf("hint %q, want %q", got, want)
	}
}

// Tensors that cannot be used are named, all of them, and nothing is written.
func TestUnusableTensors(t *testing.T) {
	d := open(t)
	path := filepath.Join(t.TempDir(), "file.safetensors")
	whole := State{"w": from(t, d, []float32{1}, 1)}
	if err := Save(path, whole, nil); err != nil {
		t.Fatal(err)
	}
	closed := from(t, d, []float32{1}, 1)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	bad := State{"a": closed, "b": runtime.Handle{}, "w": whole["w"]}
	err := Save(path, bad, nil)
	_, loadErr := Load(path, bad)
	for _, err := range []error{err, loadErr} {
		for _, want := range []string{path, `"a": `, `"b": `} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v lacks %q", err, want)
			}
		}
	}
	if _, err := Load(path, whole); err != nil {
		t.Errorf("the file is not what it was: %v", err)
	}
}

// A file that Python wrote fills tensors of a device, whether or not its bytes are
// aligned.
func TestLoadFromPython(t *testing.T) {
	d := open(t)
	path := filepath.Join(t.TempDir(), "python.safetensors")
	for _, pad := range []string{"0", "1", "3"} {
		pytest.Run(t, `
import sys, struct, numpy as np
from safetensors.numpy import save
data = save({"w": np.array([[1.5, 2], [3, -4]], np.float32), "step": np.array(9, np.int32)})
n = struct.unpack("<Q", data[:8])[0]
pad = int(sys.argv[2])
open(sys.argv[1], "wb").write(struct.pack("<Q", n + pad) + data[8:8+n] + b" " * pad + data[8+n:])
`, path, pad)
		s := State{"w": from(t, d, make([]float32, 4), 2, 2), "step": from(t, d, []int32{0})}
		if _, err := Load(path, s); err != nil {
			t.Fatal(err)
		}
		if w, step := values[float32](t, s["w"]), values[int32](t, s["step"]); !slices.Equal(w, []float32{1.5, 2, 3, -4}) || step[0] != 9 {
			t.Errorf("w %v and step %v, want [1.5 2 3 -4] and 9", w, step)
		}
	}
}
