package gen

import (
	"context"
	_ "embed"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/emit/goref"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/oracle"
)

// A kernel written by hand is compared with its reference, a Go package of the
// module. So that it can be run here, a program that serves calls of it is built
// from the specs as they are, without touching the module.

// refServerText is that program, with PACKAGE in place of the import path.
//
//go:embed refserver.go.txt
var refServerText string

// refServer is a running program that serves calls of a reference.
type refServer struct {
	raw    *goref.Raw
	cmd    *exec.Cmd
	stderr strings.Builder
	in     io.WriteCloser
	enc    *gob.Encoder
	dec    *gob.Decoder
	dir    string
}

// refCall is one call. A tensor is in Floats or Ints, as Kinds says; one that is
// left out is in neither. The answer is a refCall with the tensors as they are
// afterwards.
type refCall struct {
	Choice []string
	Size   []int64
	Param  []uint64
	Kinds  []byte // absentTensor, floatTensor or intTensor
	Floats [][]float64
	Ints   [][]int64
}

const (
	absentTensor = 'a'
	floatTensor  = 'f'
	intTensor    = 'i'
)

// startReference builds and starts the server of a spec's reference.
func (m *Module) startReference(ctx context.Context, s *Spec) (*refServer, error) {
	dir, err := os.MkdirTemp("", "kgen-reference-")
	if err != nil {
		return nil, fmt.Errorf("reference of %s: %w", s.Name, err)
	}
	r := &refServer{raw: m.rawReference(s), dir: dir}
	if err := r.start(ctx, m, s); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("reference of %s: %w", s.Name, err)
	}
	return r, nil
}

func (r *refServer) start(ctx context.Context, m *Module, s *Spec) error {
	overlay, main, err := r.overlay(m, s)
	if err != nil {
		return err
	}
	program := filepath.Join(r.dir, "reference.exe") // any name serves elsewhere
	build := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-o", program, main)
	build.Dir = m.Root
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, strings.TrimSpace(string(text)))
	}
	r.cmd = exec.CommandContext(ctx, program)
	r.cmd.Stderr = &r.stderr
	out, err := r.cmd.StdoutPipe()
	if err == nil {
		r.in, err = r.cmd.StdinPipe()
	}
	if err == nil {
		err = r.cmd.Start()
	}
	r.enc, r.dec = gob.NewEncoder(r.in), gob.NewDecoder(out)
	return err
}

// overlay writes what the go command sees in place of, or beside, the files of
// the module: the package of the reference and the server.
func (r *refServer) overlay(m *Module, s *Spec) (file, main string, err error) {
	files, err := m.renderReference(s)
	if err != nil {
		return "", "", err
	}
	server := path.Join(opsDir, refDir(s), "internal", "server")
	texts := map[string][]byte{
		server + "/main.go": []byte(strings.ReplaceAll(refServerText, "PACKAGE", r.raw.Path)),
	}
	for _, f := range files {
		texts[f.Path] = f.Data
	}
	replace := map[string]string{}
	for name, text := range texts {
		copied := filepath.Join(r.dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(copied, text, 0o644); err != nil {
			return "", "", err
		}
		replace[filepath.Join(m.Root, filepath.FromSlash(name))] = copied
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", "", err
	}
	file = filepath.Join(r.dir, "overlay.json")
	return file, m.Path + "/" + server, os.WriteFile(file, data, 0o644)
}

// close ends the server.
func (r *refServer) close() error {
	err := errors.Join(r.in.Close(), r.cmd.Wait())
	return errors.Join(err, os.RemoveAll(r.dir))
}

// run computes a call of p.
func (r *refServer) run(p *expr.Program, call oracle.Call) (*oracle.Result, error) {
	return oracle.RunBy(p, call, func(sizes *oracle.Sizes) ([][]float64, error) {
		c := r.callOf(p, call, sizes)
		if err := r.enc.Encode(c); err != nil {
			return nil, r.failed(err)
		}
		answer := &refCall{}
		if err := r.dec.Decode(answer); err != nil {
			return nil, r.failed(err)
		}
		return r.results(p, answer), nil
	})
}

func (r *refServer) failed(err error) error {
	if text := strings.TrimSpace(r.stderr.String()); text != "" {
		return fmt.Errorf("the reference fails: %w\n%s", err, text)
	}
	return fmt.Errorf("the reference fails: %w", err)
}

// callOf puts a call of an instance into the order of the spec.
func (r *refServer) callOf(p *expr.Program, call oracle.Call, sizes *oracle.Sizes) *refCall {
	c := &refCall{}
	for _, x := range p.Static {
		c.Choice = append(c.Choice, x.Value)
	}
	for _, a := range r.raw.Axes() {
		n := int64(0)
		if i := slices.IndexFunc(p.Axes, func(b *expr.Axis) bool { return b.Name == a.Name }); i >= 0 {
			n = sizes.Of(p.Axes[i])
		}
		c.Size = append(c.Size, n)
	}
	for i, q := range p.Params {
		c.Param = append(c.Param, scalarBits(q.Type, call.Params[i]))
	}
	for _, t := range r.raw.Tensors() {
		var data []float64
		i, o := indexOf(p.Ins, t.Name), indexOf(p.Outs, t.Name)
		switch {
		case i >= 0:
			data = slices.Clone(call.Ins[i].Data)
		case o >= 0:
			data = make([]float64, elements(sizes.Shape(p.Outs[o])))
		default:
			c.add(absentTensor, nil)
			continue
		}
		kind := byte(floatTensor)
		if expr.ValueKind(t) == expr.Int {
			kind = intTensor
		}
		c.add(kind, data)
	}
	return c
}

func (c *refCall) add(kind byte, data []float64) {
	var ints []int64
	if kind == intTensor {
		for _, v := range data {
			ints = append(ints, int64(v))
		}
		data = nil
	}
	c.Kinds = append(c.Kinds, kind)
	c.Floats = append(c.Floats, data)
	c.Ints = append(c.Ints, ints)
}

func elements(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// scalarBits is a parameter in 64 bits, as in runtime.Scalar.
func scalarBits(t expr.ParamType, v oracle.Value) uint64 {
	switch t {
	case expr.ParamF32:
		return uint64(math.Float32bits(float32(v.F)))
	case expr.ParamU32, expr.ParamU64:
		return v.U
	}
	return uint64(uint32(int32(v.I)))
}

// results takes the outputs and then the inouts of p out of an answer.
func (r *refServer) results(p *expr.Program, answer *refCall) [][]float64 {
	value := func(name string) []float64 {
		i := indexOf(r.raw.Tensors(), name)
		data := answer.Floats[i]
		for _, v := range answer.Ints[i] {
			data = append(data, float64(v))
		}
		return data
	}
	var list [][]float64
	for _, t := range p.Outs {
		list = append(list, value(t.Name))
	}
	for _, t := range p.Ins {
		if t.Role == expr.InOut {
			list = append(list, value(t.Name))
		}
	}
	return list
}
