package c_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kernelgen/kgen/gen/emit/c"
	"github.com/kernelgen/kgen/gen/expr"
	"github.com/kernelgen/kgen/gen/grad"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/lower"
	"github.com/kernelgen/kgen/gen/lower/vec"
	"github.com/kernelgen/kgen/gen/plan"
	"github.com/kernelgen/kgen/gen/spec"
)

var update = flag.Bool("update", false, "rewrite testdata")

// One spec of each kernel shape; the first instance of each, and its gradient.
var shapes = []string{"gelu", "layernorm", "argmax", "masked_mean", "mean", "matmul_bias", "embedding", "adamw"}

// TestGolden holds the C source of a kernel of each shape, and compiles it
// without a warning.
func TestGolden(t *testing.T) {
	dir := t.TempDir()
	headers, err := c.Headers()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range headers {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range specs(t) {
		if !slices.Contains(shapes, s.Name) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			text, err := c.Emit(&c.File{Name: s.Name + c.Ext, Spec: s.File, Doc: s.Doc, Hash: 1, ID: "kg_test_" + s.Name, Funcs: lowered(t, s)})
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", s.Name+c.Ext), text)
			file := filepath.Join(dir, s.Name+c.Ext)
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
			cc := exec.Command("cc", "-O1", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-x", "c", "-c", file, "-o", filepath.Join(dir, s.Name+".o"))
			if out, err := cc.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}

// TestOperandsStandOnce: the text of an expression grows with the expression,
// however its operations nest: none prints an operand several times.
func TestOperandsStandOnce(t *testing.T) {
	size := func(depth int) int {
		x, y := "x", "1.5"
		for range depth {
			x = "min(f32(i32(" + x + ")) * 0.5, sign(x))"
			y = "f32(i32(" + y + " * k))"
		}
		text := "dtypes = [\"f32\"]\n[param.k]\ntype = \"f32\"\n[in.x]\nshape = \"P\"\n[out.y]\nshape = \"P\"\nexpr = \"" + x + " * " + y + "\"\n"
		set, list := spec.ParseSet("specs/g/nested.toml", []byte(text))
		all, wrong := expr.Check(set)
		if err := append(list, wrong...).Err(); err != nil {
			t.Fatal(err)
		}
		out, err := c.Emit(&c.File{Name: "nested" + c.Ext, Spec: "specs/g/nested.toml", ID: "kg_test_nested", Funcs: lowered(t, all[0])})
		if err != nil {
			t.Fatal(err)
		}
		return len(out)
	}
	few, many := size(2), size(6)
	if many > 3*few {
		t.Errorf("6 nested conversions take %d bytes, 2 take %d", many, few)
	}
}

func specs(t *testing.T) []*expr.Spec {
	t.Helper()
	set, list := spec.Load(os.DirFS("../../.."), "specs")
	if len(list) > 0 {
		t.Fatal(list)
	}
	all, list := expr.Check(set)
	if len(list) > 0 {
		t.Fatal(list)
	}
	return all
}

// lowered returns the kernels of the first instance of s and of its gradient.
func lowered(t *testing.T, s *expr.Spec) []*ir.Func {
	t.Helper()
	programs := s.Instances[:1:1]
	if s.Grad != nil {
		g, list := grad.Derive(programs[0], grad.Decl{Name: s.Grad.Name, Wrt: s.Grad.Wrt, From: s.Grad.From})
		if len(list) > 0 {
			t.Fatal(list)
		}
		programs = append(programs, g.Program)
	}
	var funcs []*ir.Func
	for _, p := range programs {
		pl, err := plan.New(p)
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range pl.Kernels {
			var block lower.Block
			vk, err := vec.Lower(pl, k, fmt.Sprintf("kg_test_%s_%d", p.Name, i+1), &block)
			if err != nil {
				t.Fatal(err)
			}
			vk.Func.Fields = block.Layout()
			funcs = append(funcs, vk.Func)
		}
	}
	return funcs
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs; go test ./gen/emit/c -update rewrites it", file)
	}
}
