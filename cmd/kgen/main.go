package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() {
	debug.SetGCPercent(400) // kgen ends before it needs a small heap
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// The exit codes.
const (
	exitClean    = 0
	exitFindings = 1
	exitFailed   = 2
)

// errFindings ends a command that has printed what it found.
var errFindings = errors.New("findings")

// commands is the command line.
type commands struct {
	Generate  generateCmd  `cmd:"" help:"Write the files that the specs give."`
	Check     checkCmd     `cmd:"" help:"Compare the files on disk with what the specs give, and write nothing."`
	Diff      diffCmd      `cmd:"" help:"Print what generate would change, as a unified diff."`
	NewKernel newKernelCmd `cmd:"" help:"Write a commented spec to start from."`
	List      listCmd      `cmd:"" help:"List the kernels of the module."`
	Explain   explainCmd   `cmd:"" help:"Show a kernel at one stage of its way to a target."`
	Sim       simCmd       `cmd:"" help:"Check the Metal sources, or run one, without a Mac."`
	Bench     benchCmd     `cmd:"" help:"Measure the C kernels against memcpy and multiply-adds."`
}

// env is what a command works with.
type env struct {
	ctx    context.Context
	dir    string // where kgen was started
	stdout io.Writer
	stderr io.Writer
}

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(stderr, "kgen: %v\n", err)
		return exitFailed
	}
	exited := -1
	parser, err := kong.New(&commands{},
		kong.Name("kgen"),
		kong.Description("kgen turns kernel specs into Go, C and Metal code."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { exited = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		fmt.Fprintf(stderr, "kgen: %v\n", err)
		return exitFailed
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 { // --help has been printed
		return exited
	}
	if err == nil {
		err = parsed.Run(&env{ctx, dir, stdout, stderr})
	}
	switch {
	case err == nil:
		return exitClean
	case errors.Is(err, errFindings):
		return exitFindings
	}
	fmt.Fprintf(stderr, "kgen: %v\n", err)
	return exitFailed
}
