package oracle

// Philox returns the four words of Philox4x32-10 for a counter and a key, after
// Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011.
func Philox(counter [4]uint32, key [2]uint32) [4]uint32 {
	const (
		mul0, mul1   = 0xD2511F53, 0xCD9E8D57
		weyl0, weyl1 = 0x9E3779B9, 0xBB67AE85
	)
	c, k := counter, key
	for range 10 {
		p0, p1 := mul0*uint64(c[0]), mul1*uint64(c[2])
		c = [4]uint32{
			uint32(p1>>32) ^ c[1] ^ k[0], uint32(p1),
			uint32(p0>>32) ^ c[3] ^ k[1], uint32(p0),
		}
		k[0] += weyl0
		k[1] += weyl1
	}
	return c
}

// philoxWord is the intrinsic: the first word at a 64-bit counter, whose upper
// half is zero, under a 64-bit key.
func philoxWord(seed, counter uint64) uint64 {
	words := Philox([4]uint32{uint32(counter), uint32(counter >> 32)}, [2]uint32{uint32(seed), uint32(seed >> 32)})
	return uint64(words[0])
}

// uniform turns a random word into a number in [0, 1) of 24 bits, exact in f32.
func uniform(word uint64) float64 { return float64(word>>8) * 0x1p-24 }
