/* Runs 10,000 dispatches through the bridge, in programs of ten, with memory of its heaps
 * taken and given back between them, and says what lived and how much memory there was
 * after a tenth of them and at the end. Under AddressSanitizer what leaks ends it. */
#include "bridge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern int64_t soft_live_objects(void);

enum { DISPATCHES = 10000, EACH = 10, PRODUCT = 5, SIDE = 16, N = SIDE * SIDE, TIMED = 7 };

static const char *source =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void next(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],\n"
    "\t\tuint i [[thread_position_in_grid]]) {\n"
    "\ty[i] = x[i] + 1.0f;\n}\n";

static void check(const kgm_error *e, const char *what) {
	if (e->text == NULL) return;
	fprintf(stderr, "%s: %s\n", what, e->text);
	exit(1);
}

static long resident(void) {
	long pages = 0, all = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (f == NULL || fscanf(f, "%ld %ld", &all, &pages) != 2) exit(1);
	fclose(f);
	return pages * 4;
}

/* y = x + EACH - 1: each command reads what the one before it wrote, and one multiplies by
 * the unit matrix in slot 2. */
static void run(kgm_device *d, kgm_program *p, const kgm_pipeline *next, kgm_product *product, uint64_t seq) {
	kgm_cmd cmd[EACH];
	kgm_bind bind[3 * EACH];
	for (int i = 0; i < EACH; i++) {
		kgm_bind from = {i % 2, 0, 0}, to = {1 - i % 2, 1, 0}, unit = {2, 0, 0}, *b = &bind[3 * i];
		b[0] = from;
		b[1] = to;
		cmd[i] = (kgm_cmd){next, 3 * i, 2, {N / 32, 1, 1}, 32, i > 0, NULL};
		if (i != PRODUCT) continue;
		b[1] = unit;
		b[2] = to;
		cmd[i] = (kgm_cmd){NULL, 3 * i, 3, {0}, 0, 0, product};
	}
	kgm_submit(d, p, cmd, EACH, bind, seq);
	if (!kgm_await(d, seq, 1000)) kgm_wait(d, seq);
	check(&p->error, "run");
}

int main(void) {
	kgm_error e = {0};
	kgm_device *d = kgm_open(0, &e);
	check(&e, "open");
	void *library = kgm_compile(d, source, "loop", &e);
	check(&e, "compile");
	if (kgm_compile(d, "kernel void f( {}", "wrong", &e) != NULL) exit(1);
	kgm_free_text(e.text);
	memset(&e, 0, sizeof e);
	kgm_pipeline next;
	kgm_new_pipeline(d, library, "next", &next, &e);
	check(&e, "pipeline");
	kgm_open_products(d, &e);
	check(&e, "products");
	kgm_shape shape = {KGM_F32, 0, 0, 1, SIDE, SIDE, SIDE, 4 * SIDE, 4 * SIDE, 4 * SIDE};
	kgm_product *product = kgm_new_product(d, &shape, &e);
	check(&e, "product");
	kgm_memory unit;
	if (!kgm_alloc_shared(d, 4 * N, &unit)) exit(1);
	for (int i = 0; i < SIDE; i++) ((float *)unit.address)[i * SIDE + i] = 1;
	kgm_program p = {0};
	kgm_place slot[3] = {[2] = {unit.buffer, 0}};
	double ends[EACH + 1];
	p.slot = slot;
	if (!kgm_alloc_shared(d, 4096, &p.param)) exit(1);
	for (uint64_t seq = 1; seq <= DISPATCHES / EACH; seq++) {
		kgm_memory a, b;
		float x[N], y[N];
		if (!kgm_alloc(d, sizeof x, &a) || !kgm_alloc(d, sizeof y, &b)) exit(1);
		for (int i = 0; i < N; i++) x[i] = (float)i;
		kgm_upload(d, &a, 0, x, sizeof x, &e);
		check(&e, "upload");
		slot[0] = (kgm_place){a.buffer, 0};
		slot[1] = (kgm_place){b.buffer, 0};
		p.ends = seq % TIMED == 0 ? ends : NULL;
		p.nends = EACH + 1;
		run(d, &p, &next, product, seq);
		kgm_download(d, y, EACH % 2 == 0 ? &a : &b, 0, sizeof y, &e);
		check(&e, "download");
		for (int i = 0; i < N; i++)
			if (y[i] != (float)(i + EACH - 1)) exit(1);
		for (int i = 1; i <= EACH && p.ends != NULL; i++)
			if (ends[i] < ends[i - 1]) exit(1);
		kgm_free(d, &a);
		kgm_free(d, &b);
		if (seq == DISPATCHES / EACH / 10) printf("objects %ld resident %ld\n", soft_live_objects(), resident());
	}
	printf("objects %ld resident %ld\n", soft_live_objects(), resident());
	kgm_free(d, &p.param);
	kgm_free(d, &unit);
	kgm_free_product(product);
	kgm_free_pipeline(&next);
	kgm_release(library);
	kgm_close(d);
	for (int i = 0; i < 2000 && soft_live_objects() > 2; i++) usleep(1000); /* Metal's own thread may be at its end */
	printf("objects %ld\n", soft_live_objects());
	return 0;
}
