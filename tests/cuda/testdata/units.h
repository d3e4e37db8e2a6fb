// What takes the place of the helpers that are written in PTX, by the letter of the PTX
// ISA: "Matrix Fragments for mma.m16n8k16 with floating point type", "ldmatrix" and
// "cvt".

static inline float kg_from_f16(unsigned short x) {
	_Float16 h;
	memcpy(&h, &x, 2);
	return float(h);
}

static inline unsigned short kg_to_f16(float x) {
	const _Float16 h = _Float16(x);
	unsigned short u;
	memcpy(&u, &h, 2);
	return u;
}

static inline void *kg_tensor(void *const *p) { return *p; }

static inline kg_index kg_extent(const long long *p) { return kg_index(*p); }

static inline void kg_await() {}

static inline unsigned kg_shared_address(const void *) { return 0; }

// The rows that the lanes name begin at multiples of 16 bytes; the eight of a matrix lie
// in different banks, of which there are 32 of four bytes.
static inline void kg_ldmatrix_rows(const unsigned short *row) {
	warp *w = own_warp();
	const unsigned lane = threadIdx.x % 32;
	if ((uintptr_t)row % 16 != 0) {
		fail("ldmatrix: a row does not begin at a multiple of 16 bytes");
	}
	w->row[lane] = row;
	together();
	for (unsigned i = lane / 8 * 8; i < lane; ++i) {
		if ((uintptr_t)row / 16 % 8 == (uintptr_t)w->row[i] / 16 % 8) {
			fail("ldmatrix: two rows of a matrix lie in the same banks");
		}
	}
}

static inline void kg_ldmatrix(unsigned (&r)[4], const unsigned short *array, int row) {
	kg_ldmatrix_rows(array + row);
	const unsigned lane = threadIdx.x % 32;
	for (unsigned m = 0; m < 4; ++m) {
		const unsigned short *x = own_warp()->row[8 * m + lane / 4] + 2 * (lane % 4);
		r[m] = unsigned(x[0]) | unsigned(x[1]) << 16;
	}
	together();
}

static inline void kg_ldmatrix_across(unsigned (&r)[4], const unsigned short *array, int row) {
	kg_ldmatrix_rows(array + row);
	const unsigned lane = threadIdx.x % 32;
	for (unsigned m = 0; m < 4; ++m) {
		const unsigned short *const *rows = &own_warp()->row[8 * m + 2 * (lane % 4)];
		r[m] = unsigned(rows[0][lane / 4]) | unsigned(rows[1][lane / 4]) << 16;
	}
	together();
}

static inline float kg_mma_value(const kg_block_f16 &, unsigned short x) { return kg_from_f16(x); }
static inline float kg_mma_value(const kg_block_bf16 &, unsigned short x) { return kg_from_bf16(x); }

template <class T> static inline void kg_mma(float *d, const T &a, unsigned b0, unsigned b1) {
	warp *w = own_warp();
	const unsigned self = threadIdx.x % 32;
	memcpy(w->a[self], a.r, sizeof a.r);
	w->b[self][0] = b0;
	w->b[self][1] = b1;
	together();
	float x[16][16], y[16][8];
	for (unsigned lane = 0; lane < 32; ++lane) {
		const unsigned group = lane >> 2, thread = lane % 4;
		for (unsigned i = 0; i < 8; ++i) {
			const unsigned row = i < 2 || (4 <= i && i < 6) ? group : group + 8;
			const unsigned col = i < 4 ? thread * 2 + (i & 1) : thread * 2 + (i & 1) + 8;
			x[row][col] = kg_mma_value(a, (unsigned short)(w->a[lane][i / 2] >> 16 * (i & 1)));
		}
		for (unsigned i = 0; i < 4; ++i) {
			const unsigned row = i < 2 ? thread * 2 + (i & 1) : thread * 2 + (i & 1) + 8;
			y[row][group] = kg_mma_value(a, (unsigned short)(w->b[lane][i / 2] >> 16 * (i & 1)));
		}
	}
	for (unsigned i = 0; i < 4; ++i) {
		const unsigned row = i < 2 ? self >> 2 : (self >> 2) + 8, col = self % 4 * 2 + (i & 1);
		for (unsigned k = 0; k < 16; ++k) {
			d[i] += x[row][k] * y[k][col];
		}
	}
	together();
}
