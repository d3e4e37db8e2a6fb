//go:build cgo

package peers

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/kernelgen/kgen/runtime"
)

type options struct {
	python, dir, only, dtypes, peers, blas string
	json, systemMalloc                     bool
	threads, passes                        int
	turn, limit                            time.Duration
}

// Main runs the program with the arguments after its name.
func Main(args []string) error {
	var o options
	flag := flag.NewFlagSet("peers", flag.ExitOnError)
	flag.StringVar(&o.python, "python", "python3", "Python that has the peers")
	flag.StringVar(&o.dir, "dir", "tests/bench/peers", "folder of peers.py")
	flag.StringVar(&o.only, "only", "", "run the operations that match this regular expression")
	flag.StringVar(&o.dtypes, "dtypes", "f32,bf16,f16", "the element types")
	flag.StringVar(&o.peers, "peers", "torch,mlx", "the peers")
	flag.StringVar(&o.blas, "blas", "", "BLAS library for MLX, whose package for Linux comes with the slow reference BLAS")
	flag.BoolVar(&o.json, "json", false, "print a JSON array")
	flag.BoolVar(&o.systemMalloc, "system-malloc", false, "let the peers take large results fresh from the system")
	flag.IntVar(&o.threads, "threads", 2, "threads of each contestant")
	flag.IntVar(&o.passes, "passes", 1, "how often to run everything; the shortest times count")
	flag.DurationVar(&o.turn, "turn", 25*time.Millisecond, "length of a turn")
	flag.DurationVar(&o.limit, "limit", 5*time.Second, "longest time for the turns of one case")
	if err := flag.Parse(args); err != nil {
		return err
	}
	return run(&o, os.Stdout, os.Stderr)
}

func run(o *options, stdout, stderr io.Writer) (err error) {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	dev, err := runtime.Open(runtime.WithWorkers(o.threads), runtime.WithPoolCap(4<<30))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	k := &contest{ours: newOurs(dev), turn: o.turn, limit: o.limit}
	r := &report{}
	table := stdout
	if o.json {
		table = stderr
	}
	for _, name := range strings.Split(o.peers, ",") {
		p, err := startPeer(o, name)
		if err != nil {
			return err
		}
		defer p.close()
		k.peers, r.peers = append(k.peers, p), append(r.peers, name)
		fmt.Fprintf(table, "%s %s, ", name, p.Version)
	}
	fmt.Fprintf(table, "%d threads each; a ratio is the peer's time over ours\n\n", o.threads)
	r.header(table)
	list, err := runAll(k, cases(only, strings.Split(o.dtypes, ",")), o.passes, func(one *outcome) { r.line(table, one) })
	r.summary(table, list)
	if o.json {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		err = errors.Join(err, enc.Encode(list))
	}
	return err
}

// runAll times cases, all of them in each pass, and hands what is known of each
// to show. After an error it returns what was measured so far.
func runAll(k *contest, list []benchCase, passes int, show func(*outcome)) ([]*outcome, error) {
	outcomes := []*outcome{}
	for pass := range passes {
		for i := range list {
			c := &list[i]
			one, err := k.run(c)
			if err != nil {
				return outcomes, fmt.Errorf("%s %s %s: %w", c.Op, c.DType, c.size(), err)
			}
			if pass == 0 {
				outcomes = append(outcomes, one)
			} else {
				outcomes[i].merge(one)
			}
			show(outcomes[i])
		}
	}
	return outcomes, nil
}
