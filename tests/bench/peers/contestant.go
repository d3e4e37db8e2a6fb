//go:build cgo

package peers

import "time"

// A contestant runs cases: ours, or a peer.
type contestant interface {
	// prepare makes the inputs of a case, computes it once, and returns the mean
	// magnitude of each result. It reports false if the contestant does not have
	// the case.
	prepare(c *benchCase) (magnitudes []float64, has bool, err error)
	// measure repeats the prepared case for about the given time and returns the
	// shortest time of one call.
	measure(turn time.Duration) (time.Duration, error)
	// drop releases what prepare has made.
	drop() error
}
