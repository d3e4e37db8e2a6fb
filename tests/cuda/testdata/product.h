/* product.h: runs kernels of a product of matrices on the host and compares what they
 * give with the sums in float64. */
enum { batches = 2 };

/* Numbers in [-1, 1) that all three types hold. */
static float number(unsigned i) { return float(int(i * 2654435761u >> 24) - 128) / 128.0f; }

struct f32 {
	typedef float type;
	static float load(float x) { return x; }
	static float store(float x) { return x; }
	static constexpr double near = 1e-6;
};
struct f16 {
	typedef unsigned short type;
	static float load(unsigned short x) { return kg_from_f16(x); }
	static unsigned short store(float x) { return kg_to_f16(x); }
	static constexpr double near = 1e-3;
};
struct bf16 {
	typedef unsigned short type;
	static float load(unsigned short x) { return kg_from_bf16(x); }
	static unsigned short store(float x) { return kg_to_bf16(x); }
	static constexpr double near = 8e-3;
};

template <class Args> using entry = void (*)(void *const *, const Args *, kg_fault *, int);

/* The body of a thread, and which have come to its end. */
static void (*body)(void *);
static void *argument;
static bool ended[1024];

void msl_fibre_start() {
	fibre_started(&scheduler);
	body(argument);
	ended[threadIdx.x] = true;
	fibre_leave(&fibres[threadIdx.x], &scheduler, true);
}

/* Runs the threads of a block in turns. */
static void run_block(unsigned threads) {
	block = {threads, 0, 0};
	for (unsigned w = 0; w < threads / 32; ++w) {
		warps[w].lanes = {32, 0, 0};
	}
	for (unsigned t = 0; t < threads; ++t) {
		if (fibres[t].stack == nullptr) {
			fibres[t].stack = static_cast<char *>(malloc(msl_stack_size));
		}
		fibre_prepare(&fibres[t]);
		ended[t] = false;
	}
	for (unsigned running = threads; running > 0;) {
		for (unsigned t = 0; t < threads; ++t) {
			if (!ended[t]) {
				threadIdx.x = t;
				fibre_enter(&scheduler, &fibres[t]);
				running -= ended[t];
			}
		}
	}
}

template <class Args> struct launch {
	entry<Args> kernel;
	void **buffers;
	Args *args;
};

template <class Args> static void run_thread(void *p) {
	const launch<Args> *l = static_cast<launch<Args> *>(p);
	l->kernel(l->buffers, l->args, nullptr, 0);
}

/* Memory of n elements that ends where the heap's guard begins, shifted elements after
 * a multiple of 16 bytes. */
template <class T> static T *memory(int n, int shifted) { return (T *)malloc(sizeof(T) * size_t(n + shifted)) + shifted; }

template <class Args> static void run_grid(entry<Args> kernel, unsigned threads, void **buffers, Args *args, uint3 grid) {
	launch<Args> each = {kernel, buffers, args};
	body = run_thread<Args>;
	argument = &each;
	for (unsigned z = 0; z < grid.z; ++z) {
		for (unsigned y = 0; y < grid.y; ++y) {
			for (unsigned x = 0; x < grid.x; ++x) {
				blockIdx = {x, y, z};
				run_block(threads);
			}
		}
	}
}

static unsigned tiles(int n, int side) { return unsigned((n + side - 1) / side); }

/* A kernel that computes all of the product, in tiles. */
template <class Args> static auto whole(entry<Args> kernel, unsigned threads, int side) {
	return [=](void *a, void *b, void *c, int m, int n, int k) {
		void *buffers[] = {a, b, c};
		Args args = {};
		args.size_M_ = m;
		args.size_N_ = n;
		args.size_K_ = k;
		run_grid(kernel, threads, buffers, &args, {tiles(n, side), tiles(m, side), batches});
	};
}

/* A kernel that leaves the sums of parts of the depth, in tiles, and one that joins them. */
template <class P, class J> static auto split(entry<P> parts, unsigned threads, int side, entry<J> join, unsigned join_threads, int n_parts) {
	return [=](void *a, void *b, void *c, int m, int n, int k) {
		float *sums = memory<float>(n_parts * batches * m * n, 0);
		memset(sums, 0xff, sizeof(float) * size_t(n_parts * batches * m * n));
		void *buffers[] = {a, b, sums};
		P p = {};
		p.size_Z_ = batches;
		p.size_M_ = m;
		p.size_N_ = n;
		p.size_K_ = k;
		p.size_K_parts_ = n_parts;
		run_grid(parts, threads, buffers, &p, {tiles(n, side), tiles(m, side), unsigned(n_parts * batches)});
		void *joined[] = {sums, c};
		J j = {};
		j.size_Z_ = batches;
		j.size_M_ = m;
		j.size_N_ = n;
		j.size_K_parts_ = n_parts;
		run_grid(join, join_threads, joined, &j, {tiles(batches * m * n, 16), 1, 1});
		free(sums);
	};
}

template <class T, class Run> static void product(Run run, bool ta, bool tb, int m, int n, int k, int shifted) {
	typedef typename T::type type;
	type *a = memory<type>(batches * m * k, shifted), *b = memory<type>(batches * k * n, shifted), *c = memory<type>(batches * m * n, 0);
	for (int i = 0; i < batches * m * k; ++i) {
		a[i] = T::store(number(unsigned(i)));
	}
	for (int i = 0; i < batches * k * n; ++i) {
		b[i] = T::store(number(unsigned(i) + 12345u));
	}
	memset(c, 0xff, sizeof(type) * size_t(batches * m * n));
	run(a, b, c, m, n, k);
	for (int z = 0; z < batches; ++z) {
		for (int i = 0; i < m; ++i) {
			for (int j = 0; j < n; ++j) {
				double sum = 0;
				for (int l = 0; l < k; ++l) {
					sum += double(T::load(ta ? a[(z * k + l) * m + i] : a[(z * m + i) * k + l])) * T::load(tb ? b[(z * n + j) * k + l] : b[(z * k + l) * n + j]);
				}
				const double got = T::load(c[(z * m + i) * n + j]);
				if (!(fabs(got - sum) <= 1e-5 + T::near * fabs(sum))) {
					fprintf(stderr, "%d x %d x %d, transposed %d %d: element %d, %d, %d is %g, want %g\n", m, n, k, ta, tb, z, i, j, got, sum);
					exit(1);
				}
			}
		}
	}
	free(a - shifted);
	free(b - shifted);
	free(c);
}
