package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/kernelgen/kgen/internal/textrun"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train/config"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// The exit codes.
const (
	exitMeasured = 0
	exitFailed   = 1
	exitWrong    = 2
)

const usage = `eftexteval measures a model that eftrain has trained.

    eftexteval FOLDER [flags]

FOLDER is that of a run. Its configuration says what the model is, and which data it has
not learned from; that is what it is measured on.

An encoder gets the distillation loss, the cosine to the teacher's vectors and their mean
squared error, and retrieval@k: the part of the samples whose own vector of the teacher is
among the k that are nearest to the model's. A decoder gets the cross entropy of the next
id in nats, its perplexity, and the same per character and byte of the text. Both get the
percentiles of the samples' lengths in ids.

`

// options are what the command line says.
type options struct {
	folder, checkpoint string
	ks                 []int
	json               bool
	flags              []config.Flag
}

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return exitMeasured
	}
	var c *config.Config
	if err == nil {
		c, err = config.Load(filepath.Join(o.folder, textrun.ConfigFile), o.flags)
	}
	if err != nil {
		fmt.Fprintf(stderr, "eftexteval: %v\n", err)
		return exitWrong
	}
	c.Out = o.folder // it may have been moved
	r, err := measure(ctx, c, o)
	if err == nil && o.json {
		err = r.writeJSON(stdout)
	} else if err == nil {
		err = r.writeTable(stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "eftexteval: %v\n", err)
		return exitFailed
	}
	return exitMeasured
}

// parse reads a command line, in which flags may come before and after the folder.
func parse(args []string, help io.Writer) (*options, error) {
	o := &options{ks: []int{1, 5, 10}}
	fs := flag.NewFlagSet("eftexteval", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&o.checkpoint, "checkpoint", "", "`file` of the weights; that of the run's folder if not given")
	fs.BoolVar(&o.json, "json", false, "print JSON instead of a table")
	fs.Func("k", "the `numbers` of retrieval@k (default 1,5,10)", o.setKs)
	for _, f := range []struct{ flag, key, doc string }{
		{"data", "validation", "`file` to measure on, of the form that the run learned from"},
		{"device", "device", "`what` computes: cpu, metal or cuda; that of the run if not given"},
		{"precision", "precision", "`type` that layers compute in: f32, f16 or bf16; that of the run if not given"},
		{"batch", "batch", "`number` of samples that are computed together; that of the run if not given"},
	} {
		fs.Func(f.flag, f.doc, func(s string) error {
			o.flags = append(o.flags, config.Flag{Name: f.key, Value: s})
			return nil
		})
	}
	for len(args) > 0 {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				fmt.Fprint(help, usage)
				fs.SetOutput(help)
				fs.PrintDefaults()
			}
			return nil, err
		}
		if args = fs.Args(); len(args) == 0 {
			break
		}
		if o.folder != "" {
			return nil, fmt.Errorf("%s and %s: one folder is measured", o.folder, args[0])
		}
		o.folder, args = args[0], args[1:]
	}
	if o.folder == "" {
		return nil, errors.New("the folder of a run is missing; eftexteval -h says how to use it")
	}
	return o, nil
}

func (o *options) setKs(s string) error {
	o.ks = nil
	for part := range strings.SplitSeq(s, ",") {
		k, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || k < 1 {
			return errors.New("must be positive numbers with commas between them")
		}
		o.ks = append(o.ks, k)
	}
	return nil
}

// measure opens what the configuration names and measures in its precision.
func measure(ctx context.Context, c *config.Config, o *options) (r *result, err error) {
	data, err := textrun.OpenValidation(c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	if list := c.CheckSizes(data.Sizes); len(list) > 0 {
		return nil, list.Err()
	}
	dev, err := textrun.OpenDevice(c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	switch c.Precision {
	case "f16":
		return measureIn[runtime.Float16](ctx, c, data, dev, o)
	case "bf16":
		return measureIn[runtime.BFloat16](ctx, c, data, dev, o)
	}
	return measureIn[float32](ctx, c, data, dev, o)
}
