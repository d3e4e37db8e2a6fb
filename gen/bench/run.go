package bench

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Module is where the measured package lies.
type Module struct {
	Root    string // directory of go.mod
	Path    string // module path
	Runtime string // import path of the runtime
	OpsDir  string // slash path of the generated package below Root
}

// Options are those of a measurement.
type Options struct {
	Threads int
	Seconds float64 // for each case, about
}

// tag is the build tag of package program.
const tag = "kgenbench"

//go:embed program/*.go
var program embed.FS

// Run measures cases and hands each result to report. The program that does so
// is built in a folder of the module, so that what go.mod says holds for it, and
// removed in the end, also when ctx ends.
func Run(ctx context.Context, m Module, cases []Case, o Options, report func(Measurement) error) (err error) {
	dir, err := os.MkdirTemp(m.Root, "_kgenbench-")
	if err != nil {
		return fmt.Errorf("bench: the module needs a folder for a program: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	vars := varsOf(cases)
	if err := writeProgram(dir, m, vars); err != nil {
		return err
	}
	bin := filepath.Join(dir, "bench.exe")
	build := exec.CommandContext(ctx, "go", "build", "-tags", tag, "-buildvcs=false", "-overlay", filepath.Join(dir, "overlay.json"), "-o", bin, "./"+filepath.Base(dir))
	build.Dir = m.Root
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if text, err := build.CombinedOutput(); err != nil {
		return ended(ctx, fmt.Errorf("bench: building the program that measures: %w\n%s", err, text))
	}
	return measureAll(ctx, bin, cases, vars, o, report)
}

// ended prefers to say that ctx has ended over what came of that.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("bench: %w", context.Cause(ctx))
	}
	return err
}

// varsOf lists the descriptors of the cases, each once.
func varsOf(cases []Case) []string {
	var vars []string
	for _, c := range cases {
		if !slices.Contains(vars, c.Var) {
			vars = append(vars, c.Var)
		}
	}
	return vars
}

// writeProgram writes the program to dir. The descriptors are not exported: a
// file that go build sees in the generated package, and that is not there, hands
// them out.
func writeProgram(dir string, m Module, vars []string) error {
	files := map[string]string{
		"main.go": fmt.Sprintf("package main\n\nimport (\n\tops %q\n\t%q\n)\n\nfunc main() { program.Main(ops.KgenBench()) }\n",
			path.Join(m.Path, m.OpsDir), path.Join(m.Path, filepath.Base(dir), "program")),
		"ops.txt": fmt.Sprintf("package %s\n\nimport %q\n\nfunc KgenBench() []*runtime.Op {\n\treturn []*runtime.Op{&%s}\n}\n",
			path.Base(m.OpsDir), m.Runtime, strings.Join(vars, ", &")),
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(m.Root, filepath.FromSlash(m.OpsDir), "kgen_bench.go"): filepath.Join(dir, "ops.txt"),
	}})
	if err != nil {
		return err
	}
	files["overlay.json"] = string(overlay)
	sources, err := fs.Glob(program, "program/*.go")
	if err != nil {
		return err
	}
	for _, name := range sources {
		data, err := program.ReadFile(name)
		if err != nil {
			return err
		}
		text := strings.Replace(string(data), `"github.com/kernelgen/kgen/runtime"`, fmt.Sprintf("%q", m.Runtime), 1)
		files[filepath.FromSlash(name)] = text
	}
	if err := os.Mkdir(filepath.Join(dir, "program"), 0o777); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// answer is what package program says to a call.
type answer struct {
	Seconds float64 `json:"seconds"`
	Copy    float64 `json:"copy"`
	Peak    float64 `json:"peak"`
	Error   string  `json:"error"`
}

// measureAll runs the program and asks it for one case after the other.
func measureAll(ctx context.Context, bin string, cases []Case, vars []string, o Options, report func(Measurement) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, bin)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	err = ask(in, out, cases, vars, o, report)
	if err != nil {
		err = ended(ctx, err)
		stop()
	}
	if failed := cmd.Wait(); failed != nil && (err == nil || complaint.Len() > 0) {
		err = errors.Join(err, fmt.Errorf("bench: the program that measures: %w\n%s", failed, complaint.Bytes()))
	}
	return err
}

func ask(in io.WriteCloser, out io.Reader, cases []Case, vars []string, o Options, report func(Measurement) error) error {
	requests, answers := json.NewEncoder(in), json.NewDecoder(out)
	err := requests.Encode(struct {
		Threads int     `json:"threads"`
		Seconds float64 `json:"seconds"`
	}{o.Threads, o.Seconds})
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	for i := range cases {
		c := &cases[i]
		r := c.call
		r.Op, r.Bytes = slices.Index(vars, c.Var), c.Bytes
		var a answer
		if err := requests.Encode(r); err != nil {
			return fmt.Errorf("bench: %s: %w", c.Op, err)
		}
		if err := answers.Decode(&a); err != nil {
			return fmt.Errorf("bench: %s: %w", c.Op, err)
		}
		if a.Error != "" {
			return fmt.Errorf("bench: %s %s %s: %s", c.Op, c.DType, c.Size(), a.Error)
		}
		if err := report(newMeasurement(c, a)); err != nil {
			return err
		}
	}
	return in.Close()
}
