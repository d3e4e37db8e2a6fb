package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/kernelgen/kgen/internal/textrun"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train"
	"github.com/kernelgen/kgen/train/config"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitWrong       = 2
	exitInterrupted = 130
)

// errSizes is the error of a configuration whose sizes do not fit the data.
var errSizes = errors.New("the sizes of the run are too large")

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	line, err := parse(args)
	if err != nil {
		fmt.Fprintf(stderr, "eftrain: %v\neftrain -h says how to use it\n", err)
		return exitWrong
	}
	if line.help {
		writeHelp(stdout)
		return exitDone
	}
	cfg, err := line.load()
	if err != nil {
		fmt.Fprintf(stderr, "eftrain: %v\n", err)
		return exitWrong
	}
	err = start(ctx, cfg, line.resume != "", stdout, stderr)
	var stopped *train.InterruptedError
	switch {
	case errors.Is(err, errSizes):
		fmt.Fprintf(stderr, "eftrain: %v\n", err)
		return exitWrong
	case errors.As(err, &stopped) && stopped.Checkpoint != "":
		fmt.Fprintf(stderr, "eftrain: stopped after step %d of %d; to go on, run\n\teftrain -resume %s\n", stopped.Step, cfg.Schedule.Steps, cfg.Out)
		return exitInterrupted
	case err != nil:
		fmt.Fprintf(stderr, "eftrain: %v\n", err)
		return exitFailed
	}
	return exitDone
}

// load reads the configuration of a new run, or of one that is to be continued.
func (l *line) load() (*config.Config, error) {
	if l.resume == "" {
		c, err := config.Load(l.file, l.flags)
		if err != nil {
			return nil, err
		}
		if path := filepath.Join(c.Out, textrun.ConfigFile); exists(path) {
			return nil, fmt.Errorf("%s is there: a run has this folder; continue it with eftrain -resume %s, or give another one with -out", path, c.Out)
		}
		return c, nil
	}
	c, err := config.Load(filepath.Join(l.resume, textrun.ConfigFile), l.flags)
	if err != nil {
		return nil, err
	}
	c.Out = l.resume // it may have been moved
	if path := filepath.Join(c.Out, textrun.CheckpointFile); !exists(path) {
		return nil, fmt.Errorf("%s is not there: the run came to no checkpoint; remove the folder and begin it anew", path)
	}
	return c, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// start opens what the configuration names and trains in its precision.
func start(ctx context.Context, c *config.Config, resume bool, stdout, stderr io.Writer) (err error) {
	data, err := textrun.Open(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	if list := c.CheckSizes(data.Sizes); len(list) > 0 {
		return fmt.Errorf("%w\n%w", errSizes, list.Err())
	}
	dev, err := textrun.OpenDevice(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	fmt.Fprintf(stderr, "%s of %.2f million weights, %d ids known, %s in %s on %s\n",
		c.Kind, float64(c.Parameters(data.Sizes))/1e6, data.Vocabulary, describe(data), c.Precision, dev.Name())
	switch c.Precision {
	case "f16":
		return session[runtime.Float16](ctx, c, data, dev, resume, stdout, stderr)
	case "bf16":
		return session[runtime.BFloat16](ctx, c, data, dev, resume, stdout, stderr)
	}
	return session[float32](ctx, c, data, dev, resume, stdout, stderr)
}

// describe says how much there is to learn from.
func describe(d *textrun.Data) string {
	if d.Text != nil {
		return fmt.Sprintf("%d ids of text", len(d.Text))
	}
	return fmt.Sprintf("%d samples", d.Train.Len())
}
