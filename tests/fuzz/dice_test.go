//go:build proof

package fuzz

import "math/rand/v2"

// dice turns bytes into decisions. When they are used up every decision is the
// first choice, by convention the simplest one.
type dice struct{ rest []byte }

// rolled returns dice for a seed.
func rolled(seed uint64) *dice { return &dice{bytesOf(seed)} }

// bytesOf are the bytes that a numbered seed stands for.
func bytesOf(seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 0xF022))
	b := make([]byte, 1024)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// n returns a number below n, which is at most 256.
func (d *dice) n(n int) int {
	if n <= 1 || len(d.rest) == 0 {
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return int(b) % n
}

// one is true once in k times, false when the bytes are used up.
func (d *dice) one(k int) bool { return d.n(k) == k-1 }

// pick returns one of the choices.
func pick[T any](d *dice, from ...T) T { return from[d.n(len(from))] }
