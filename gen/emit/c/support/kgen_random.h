/* kgen_random.h: Philox4x32-10 (Salmon et al., "Parallel random numbers: as
 * easy as 1, 2, 3", 2011). The key is the seed, the counter (counter, 0), low
 * words first; the result is the first of the four words. */

KG_FN vu kg_mulhiu(vu a, uint32_t m) {
	vq even = kg_mulwide(a, kg_splatu(m));
	vq odd = kg_mulwide((vu)((vq)a >> 32), kg_splatu(m));
	return (vu)((even >> 32) | (odd & 0xffffffff00000000u));
}

KG_FN vu kg_philox(vu seedlo, vu seedhi, vu ctrlo, vu ctrhi) {
	vu c0 = ctrlo, c1 = ctrhi, c2 = kg_splatu(0), c3 = c2;
	for (int round = 0; round < 10; round++) {
		vu h0 = kg_mulhiu(c0, 0xd2511f53u), h1 = kg_mulhiu(c2, 0xcd9e8d57u);
		vu l0 = c0 * 0xd2511f53u, l1 = c2 * 0xcd9e8d57u;
		c0 = h1 ^ c1 ^ seedlo;
		c1 = l1;
		c2 = h0 ^ c3 ^ seedhi;
		c3 = l0;
		seedlo += 0x9e3779b9u;
		seedhi += 0xbb67ae85u;
	}
	return c0;
}

/* kg_philox_at is kg_philox at counter, counter+1, ... */
KG_FN vu kg_philox_at(uint64_t seed, uint64_t counter) {
	vu base = kg_splatu((uint32_t)counter);
	vu lo = base + (vu)kg_iota();
	vu hi = kg_splatu((uint32_t)(counter >> 32)) - (vu)(lo < base);
	return kg_philox(kg_splatu((uint32_t)seed), kg_splatu((uint32_t)(seed >> 32)), lo, hi);
}

/* kg_uniform is the high 24 bits of u as a fraction: [0, 1). */
KG_FN vf kg_uniform(vu u) {
	return kg_i2f((vi)(u >> 8)) * 0x1p-24f;
}
