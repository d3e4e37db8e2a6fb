/* Programs run on one stream, in the order of their numbers. */
#include "device.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Waiting for a program, the host looks at its event for so long before it sleeps,
 * and naps for so long between two looks where it may not sleep on. */
enum { SPIN_NS = 100 * 1000, NAP_NS = 20 * 1000, LONG_NAP_NS = 1000 * 1000 };

int64_t kgc_now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Notes on the stream that a timed program has come to a point. */
static kgc_status mark(kgc_device *d, kgc_program *p, int64_t i) {
	if (p->event != NULL) KGC_TRY(cuEventRecord, p->event[i], d->run);
	return KGC_OK;
}

static kgc_status launch(kgc_device *d, kgc_program *p, const kgc_cmd *c) {
	CUdeviceptr buf = p->dev + c->buf, block = p->dev + c->block, fault = p->dev + p->state;
	int op = c->op;
	if (c->product != NULL) return kgc_multiply(d, c, (const uint64_t *)(p->host + c->buf));
	CUlaunchAttribute early = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value.programmaticStreamSerializationAllowed = 1};
	CUlaunchConfig at = {c->grid[0], c->grid[1], c->grid[2], c->threads, 1, 1, 0, d->run, &early, c->early ? 1 : 0};
	void *args[] = {&buf, &block, &fault, &op};
	KGC_TRY(cuLaunchKernelEx, &at, c->fn, args, NULL);
	return KGC_OK;
}

/* The kernel that begins a run, or that ends it. */
static kgc_status frame(kgc_device *d, kgc_program *p, CUfunction fn) {
	CUdeviceptr head = p->dev, state = p->dev + p->state;
	CUlaunchConfig at = {1, 1, 1, 1, 1, 1, 0, d->run, NULL, 0};
	void *args[] = {&head, &d->failed, &state};
	KGC_TRY(cuLaunchKernelEx, &at, fn, args, NULL);
	return KGC_OK;
}

/* Puts a whole run on the stream. */
static kgc_status enqueue(kgc_device *d, kgc_program *p, const kgc_cmd *cmd, int64_t n) {
	KGC_TRY(cuMemcpyHtoDAsync, p->dev, p->host, (size_t)p->state, d->run);
	kgc_status s = frame(d, p, d->begin);
	if (s.code == 0) s = mark(d, p, 1);
	for (int64_t i = 0; i < n && s.code == 0; i++) {
		s = launch(d, p, &cmd[i]);
		if (s.code == 0) s = mark(d, p, i + 2);
	}
	if (s.code == 0) s = frame(d, p, d->end);
	if (s.code != 0) return s;
	KGC_TRY(cuMemcpyDtoHAsync, p->host + p->state, p->dev + p->state, sizeof(kgc_state), d->run);
	return KGC_OK;
}

/* Makes the graph of a run. Where that fails, runs go on without one. */
static void capture(kgc_device *d, kgc_program *p, const kgc_cmd *cmd, int64_t n) {
	CUgraph g = NULL;
	CUgraphExec exec = NULL;
	p->plain = 1;
	if (d->cu.cuStreamBeginCapture(d->run, CU_STREAM_CAPTURE_MODE_RELAXED) != CUDA_SUCCESS) return;
	kgc_status s = enqueue(d, p, cmd, n);
	CUresult r = d->cu.cuStreamEndCapture(d->run, &g);
	if (s.code == 0 && r == CUDA_SUCCESS && d->cu.cuGraphInstantiateWithFlags(&exec, g, 0) == CUDA_SUCCESS) {
		p->graph = exec;
		p->plain = 0;
	}
	if (g != NULL) d->cu.cuGraphDestroy(g);
}

/* Puts the addresses of a product at out, and returns how many there are. */
static int64_t addresses(const kgc_program *p, const kgc_cmd *c, uint64_t *out) {
	const uint64_t *table = (const uint64_t *)(p->host + c->buf);
	const int32_t at[] = {c->left_at, c->right_at, c->out_at, c->bias_at};
	int64_t n = 0;
	for (int i = 0; i < 4; i++)
		if (at[i] >= 0) out[n++] = table[at[i]];
	return n;
}

/* Notes the addresses of a run's products and says whether they are other ones than
 * before: a graph holds those that it was captured with. */
static int moved(kgc_program *p, const kgc_cmd *cmd, int64_t n) {
	int64_t products = 0, at = 0;
	for (int64_t i = 0; i < n; i++) products += cmd[i].product != NULL;
	if (products == 0) return 0;
	int other = p->seen == NULL;
	if (other) p->seen = calloc((size_t)products * 4, sizeof *p->seen);
	if (p->seen == NULL) return 1;
	for (int64_t i = 0; i < n; i++) {
		if (cmd[i].product == NULL) continue;
		uint64_t now[4];
		int64_t m = addresses(p, &cmd[i], now);
		if (memcmp(&p->seen[at], now, (size_t)m * sizeof *now) != 0) other = 1;
		memcpy(&p->seen[at], now, (size_t)m * sizeof *now);
		at += m;
	}
	return other;
}

static void drop_graph(kgc_device *d, kgc_program *p) {
	if (p->graph != NULL) d->cu.cuGraphExecDestroy(p->graph);
	p->graph = NULL;
}

/* Notes the moment that the times of a run count from, on both clocks. */
static kgc_status set_base(kgc_device *d, kgc_program *p) {
	p->base = kgc_now();
	KGC_TRY(cuEventRecord, p->event[0], d->mem);
	KGC_TRY(cuEventSynchronize, p->event[0]);
	return KGC_OK;
}

static kgc_status start(kgc_device *d, kgc_program *p, const kgc_cmd *cmd, int64_t n) {
	KGC_TRY(cuCtxSetCurrent, d->ctx);
	if (p->event != NULL) {
		kgc_status s = set_base(d, p);
		return s.code != 0 ? s : enqueue(d, p, cmd, n);
	}
	if (moved(p, cmd, n)) {
		drop_graph(d, p);
		p->ran = 0;
	}
	if (p->ran && p->graph == NULL && !p->plain) capture(d, p, cmd, n);
	p->ran = 1;
	if (p->graph == NULL) return enqueue(d, p, cmd, n);
	d->replays++;
	KGC_TRY(cuGraphLaunch, p->graph, d->run);
	return KGC_OK;
}

static kgc_status finish(kgc_device *d, uint64_t seq) {
	KGC_TRY(cuEventRecord, d->done[seq % KGC_HISTORY], d->run);
	return KGC_OK;
}

void kgc_submit(kgc_device *d, kgc_program *p, const kgc_cmd *cmd, int64_t n, uint64_t seq) {
	((kgc_head *)p->host)->seq = seq;
	pthread_mutex_lock(&d->mu);
	while (d->submitted != seq - 1) pthread_cond_wait(&d->turn, &d->mu);
	p->status = start(d, p, cmd, n);
	if (p->status.code == 0) p->status = finish(d, seq);
	d->submitted = seq;
	pthread_cond_broadcast(&d->turn);
	pthread_mutex_unlock(&d->mu);
}

kgc_status kgc_wait(kgc_device *d, kgc_program *p, uint64_t seq) {
	KGC_TRY(cuCtxSetCurrent, d->ctx);
	if (p->status.code != 0) { /* part of it may be on the stream */
		d->cu.cuStreamSynchronize(d->run);
		return p->status;
	}
	CUevent done = d->done[seq % KGC_HISTORY];
	for (int64_t end = kgc_now() + SPIN_NS; kgc_now() < end;)
		if (d->cu.cuEventQuery(done) != CUDA_ERROR_NOT_READY) break;
	KGC_TRY(cuEventSynchronize, done);
	return KGC_OK;
}

static int is_complete(kgc_device *d, uint64_t seq) {
	pthread_mutex_lock(&d->mu);
	int there = d->submitted >= seq;
	pthread_mutex_unlock(&d->mu);
	return there && d->cu.cuEventQuery(d->done[seq % KGC_HISTORY]) != CUDA_ERROR_NOT_READY;
}

int32_t kgc_await(kgc_device *d, uint64_t seq, int64_t ns) {
	int64_t now = kgc_now(), nap = NAP_NS;
	int64_t end = ns > INT64_MAX - now ? INT64_MAX : now + ns;
	d->cu.cuCtxSetCurrent(d->ctx);
	while (!is_complete(d, seq)) {
		int64_t left = end - kgc_now();
		if (left <= 0) return 0;
		int64_t t = left < nap ? left : nap;
		nanosleep(&(struct timespec){.tv_sec = 0, .tv_nsec = t}, NULL);
		nap = nap * 2 < LONG_NAP_NS ? nap * 2 : LONG_NAP_NS;
	}
	return 1;
}

kgc_status kgc_time(kgc_device *d, kgc_program *p, int64_t n) {
	KGC_TRY(cuCtxSetCurrent, d->ctx);
	p->event = calloc((size_t)n + 2, sizeof *p->event);
	if (p->event == NULL) return (kgc_status){"calloc", CUDA_ERROR_OUT_OF_MEMORY};
	for (p->nevent = 0; p->nevent < n + 2; p->nevent++) {
		CUevent e = NULL;
		CUresult r = d->cu.cuEventCreate(&e, CU_EVENT_DEFAULT);
		if (r != CUDA_SUCCESS) {
			kgc_untime(d, p);
			return (kgc_status){"cuEventCreate", r};
		}
		p->event[p->nevent] = e;
	}
	return KGC_OK;
}

void kgc_untime(kgc_device *d, kgc_program *p) {
	if (p->event == NULL || d->cu.cuCtxSetCurrent(d->ctx) != CUDA_SUCCESS) return;
	for (int64_t i = 0; i < p->nevent; i++) d->cu.cuEventDestroy(p->event[i]);
	free(p->event);
	p->event = NULL;
	p->nevent = 0;
}

/* Nanoseconds between two events, none if they cannot be had. */
static int64_t between(kgc_device *d, CUevent a, CUevent b) {
	float ms = 0;
	return d->cu.cuEventElapsedTime(&ms, a, b) == CUDA_SUCCESS && ms > 0 ? (int64_t)((double)ms * 1e6) : 0;
}

void kgc_times(kgc_device *d, kgc_program *p, int64_t *out) {
	d->cu.cuCtxSetCurrent(d->ctx);
	out[0] = p->base + between(d, p->event[0], p->event[1]);
	for (int64_t i = 1; i < p->nevent - 1; i++) out[i] = out[0] + between(d, p->event[1], p->event[i + 1]);
}

void kgc_release(kgc_device *d, kgc_program *p) {
	kgc_untime(d, p);
	if (d->cu.cuCtxSetCurrent(d->ctx) == CUDA_SUCCESS) drop_graph(d, p);
	free(p->seen);
	p->seen = NULL;
}

int64_t kgc_replays(kgc_device *d) {
	pthread_mutex_lock(&d->mu);
	int64_t n = d->replays;
	pthread_mutex_unlock(&d->mu);
	return n;
}
