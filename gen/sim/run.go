package sim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Result is what a job left.
type Result struct {
	// Buffers are the bytes of the writable buffers, in the order of the job's;
	// nil for the others, and nil for all when the run did not end.
	Buffers [][]byte
	// Reports are what the sanitizer and the runtime saw. A run without any is
	// free of it.
	Reports []Report
	// Moved is what a program built with Traffic counted, for each of the job's
	// buffers.
	Moved []Moved
}

// Moved are the bytes that a launch moved between a buffer and its threads.
//
// Loaded and Stored take each byte as often as that thread does which does so most
// often: what several threads load comes from a cache for all but one of them, and what
// a thread comes back to may have left it. Asked is the sum over all threads.
type Moved struct {
	Loaded, Stored          int64
	LoadsAsked, StoresAsked int64
}

// Err is nil if there is no report, and else an error with all of them.
func (r *Result) Err() error {
	var errs []error
	for _, x := range r.Reports {
		errs = append(errs, errors.New(x.String()))
	}
	return errors.Join(errs...)
}

// Run builds a source into dir and runs one job of it; see Build and
// Program.Run.
func Run(ctx context.Context, dir, name string, src []byte, san Sanitizer, job Job) (*Result, error) {
	p, err := Build(ctx, dir, name, src, san)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, job)
}

// Run runs one job in a process of its own. What a kernel does wrong is in the
// result's reports; the error says that the job could not be run, such as an
// unknown kernel, a missing buffer or a parameter block that is too short.
func (p *Program) Run(ctx context.Context, job Job) (*Result, error) {
	r, err := p.run(ctx, job)
	if err != nil {
		return nil, fmt.Errorf("sim: run %s of %s: %w", job.Kernel, p.name, err)
	}
	return r, nil
}

func (p *Program) run(ctx context.Context, job Job) (*Result, error) {
	data, err := job.encode()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kgen-run-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "job"), filepath.Join(dir, "result")
	if err := os.WriteFile(in, data, 0o644); err != nil {
		return nil, err
	}
	text, err := p.execute(ctx, in, out)
	exit := exitCode(err)
	if exit < 0 || ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), fmt.Errorf("%w: %s", err, firstLine(text)))
	}
	if strings.Contains(text, "FATAL: ThreadSanitizer") {
		return nil, fmt.Errorf("%s; run it under setarch -R, or set the kernel's vm.mmap_rnd_bits to 28", firstLine(text))
	}
	reports, failure := p.reports(text)
	if failure != "" {
		return nil, errors.New(failure)
	}
	r := &Result{Reports: reports, Moved: moved(&job, text)}
	switch {
	case exit == 0:
		r.Buffers, err = job.readResult(out)
		return r, err
	case len(reports) == 0:
		r.Reports = []Report{{Kind: Crash, Text: fmt.Sprintf("the program ended with status %d: %s", exit, firstLine(text)), Raw: text}}
	}
	return r, nil
}

func (p *Program) execute(ctx context.Context, in, out string) (string, error) {
	cmd := exec.CommandContext(ctx, p.path, in, out)
	cmd.Env = append(os.Environ(), p.san.environment()...)
	var text strings.Builder
	cmd.Stderr = &limited{w: &text, left: 8 << 20}
	err := cmd.Run()
	return text.String(), err
}

// exitCode is the status of a program that ran, 128 and the signal if one ended
// it, and negative if it did not run.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return -1
	}
	if exit.ExitCode() < 0 {
		return 128
	}
	return exit.ExitCode()
}

// limited keeps the first bytes of what is written: a kernel that is wrong in
// every thread reports at length.
type limited struct {
	w    *strings.Builder
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.left)
	l.w.Write(b[:n])
	l.left -= n
	return len(b), nil
}

var movedLine = regexp.MustCompile(`(?m)^msl-traffic:(\d+):(\d+):(\d+):(\d+):(\d+)$`)

// moved reads what a program counted; nil if it did not count.
func moved(job *Job, text string) []Moved {
	lines := movedLine.FindAllStringSubmatch(text, -1)
	if lines == nil {
		return nil
	}
	list := make([]Moved, len(job.Buffers))
	for _, m := range lines {
		for i, b := range job.Buffers {
			if b.Index == atoi(m[1]) {
				list[i] = Moved{int64(atoi(m[2])), int64(atoi(m[3])), int64(atoi(m[4])), int64(atoi(m[5]))}
			}
		}
	}
	return list
}
