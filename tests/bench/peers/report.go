//go:build cgo

package peers

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
)

// slow is the ratio below which a case is listed at the end.
const slow = 0.8

// report prints outcomes for people.
type report struct {
	peers []string
}

// header and line print the table row by row, while the contest goes on.
func (r *report) header(w io.Writer) {
	fmt.Fprintf(w, "%-28s %-5s %-16s %12s", "op", "dtype", "size", "ours µs")
	for _, p := range r.peers {
		fmt.Fprintf(w, " %12s %7s", p+" µs", "ratio")
	}
	fmt.Fprintln(w)
}

func (r *report) line(w io.Writer, o *outcome) {
	fmt.Fprintf(w, "%-28s %-5s %-16s %12.1f", o.Op, o.DType, o.size(), 1e6*o.Ours)
	for _, p := range r.peers {
		t, has := o.Peers[p]
		if !has {
			fmt.Fprintf(w, " %12s %7s", "-", "-")
			continue
		}
		fmt.Fprintf(w, " %12.1f %7.2f", 1e6*t, o.Ratio[p])
	}
	fmt.Fprintln(w)
}

// summary prints the geometric means, the slow cases and the notes.
func (r *report) summary(w io.Writer, list []*outcome) {
	fmt.Fprintf(w, "\ngeometric mean of the peer's time over ours:\n")
	for _, p := range r.peers {
		for _, dtype := range []string{"", "f32", "bf16", "f16"} {
			if mean, n := geometricMean(list, p, dtype); n > 0 {
				fmt.Fprintf(w, "%-6s %-5s %6.2f  (%d cases)\n", p, cmp.Or(dtype, "all"), mean, n)
			}
		}
	}
	fmt.Fprintf(w, "\nbelow %.1f:\n", slow)
	for _, o := range list {
		for _, p := range r.peers {
			if ratio, has := o.Ratio[p]; has && ratio < slow {
				fmt.Fprintf(w, "%-28s %-5s %-16s %-6s %.2f\n", o.Op, o.DType, o.size(), p, ratio)
			}
		}
	}
	if !slices.ContainsFunc(list, func(o *outcome) bool { return len(o.Notes) > 0 }) {
		return
	}
	fmt.Fprintf(w, "\nnot the same result:\n")
	for _, o := range list {
		for _, note := range o.Notes {
			fmt.Fprintf(w, "%-28s %-5s %-16s %s\n", o.Op, o.DType, o.size(), note)
		}
	}
}

// geometricMean is the mean of the ratios to one peer, and their number; of one
// element type, or of all where that is empty.
func geometricMean(list []*outcome, peer, dtype string) (float64, int) {
	sum, n := 0.0, 0
	for _, o := range list {
		if ratio, has := o.Ratio[peer]; has && (dtype == "" || dtype == o.DType) {
			sum += math.Log(ratio)
			n++
		}
	}
	return math.Exp(sum / float64(n)), n
}
