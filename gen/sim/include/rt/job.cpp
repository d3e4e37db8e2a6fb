// The program around a dispatch: reads a job file, runs it, writes the buffers.
// All numbers are little-endian; the writer is job.go.
#include "dispatch.h"
#include "group.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if MSL_ASAN
#include <sanitizer/asan_interface.h>
#endif

enum { buffer_alignment = 256, empty_bytes = 16 };

static FILE *job;
static bool writable[msl_max_slots];
static unsigned long ahead[msl_max_slots]; // bytes that the job file does not hold

static void fail(const char *what) {
  report("error", 0, 0, "%s", what);
  exit(2);
}

static void read_bytes(void *to, unsigned long n) {
  if (n != 0 && fread(to, 1, n, job) != n) fail("the job file is cut short");
}

static unsigned read_u32() {
  unsigned v = 0;
  read_bytes(&v, sizeof v);
  return v;
}

static unsigned long read_u64() {
  unsigned long v = 0;
  read_bytes(&v, sizeof v);
  return v;
}

static unsigned read_slot() {
  unsigned i = read_u32();
  if (i >= msl_max_slots) fail("an argument index is above 30");
  return i;
}

// A buffer is exactly as long as it says, so that AddressSanitizer sees the
// first byte past it; an empty one has no byte that may be touched.
static void *new_buffer(unsigned long offset, unsigned long size) {
  void *p = nullptr;
  unsigned long bytes = offset + (size == 0 ? static_cast<unsigned long>(empty_bytes) : size);
  if (posix_memalign(&p, buffer_alignment, bytes) != 0) fail("out of memory");
#if MSL_ASAN
  __asan_poison_memory_region(p, offset);
  if (size == 0) __asan_poison_memory_region(static_cast<char *>(p) + offset, empty_bytes);
#endif
  return static_cast<char *>(p) + offset;
}

static void read_buffer(msl_dispatch_args *a) {
  unsigned i = read_slot();
  writable[i] = read_u32() != 0;
  unsigned long offset = read_u64();
  ahead[i] = read_u64();
  unsigned long held = read_u64();
  a->sizes[i] = ahead[i] + held;
  a->buffers[i] = new_buffer(offset, a->sizes[i]);
  read_bytes(static_cast<char *>(a->buffers[i]) + ahead[i], held);
}

static void read_job(msl_dispatch_args *a) {
  char name[512] = "";
  unsigned length = read_u32();
  if (length >= sizeof name) fail("the kernel's name is too long");
  read_bytes(name, length);
  a->kernel = msl_find(name);
  if (a->kernel == nullptr) {
    report("error", 0, 0, "no kernel %s in the program", name);
    exit(2);
  }
  only_device_order = read_u32() != 0;
  for (unsigned &n : a->grid) n = read_u32();
  for (unsigned &n : a->group) n = read_u32();
  for (unsigned n = read_u32(); n > 0; --n) read_buffer(a);
  for (unsigned n = read_u32(); n > 0; --n) {
    unsigned i = read_slot();
    a->threadgroup_bytes[i] = read_u64();
  }
}

static void write_results(const msl_dispatch_args *a, const char *path) {
  FILE *out = fopen(path, "wb");
  if (out == nullptr) fail("cannot write the result file");
  for (unsigned i = 0; i < msl_max_slots; ++i) {
    unsigned long held = a->sizes[i] - ahead[i];
    if (!writable[i] || held == 0) continue;
    if (fwrite(static_cast<char *>(a->buffers[i]) + ahead[i], 1, held, out) != held) fail("cannot write the result file");
  }
  if (fclose(out) != 0) fail("cannot write the result file");
}

static void on_division(int) {
  static const char text[] = "msl-undefined:0:0: integer division by zero or overflow\n";
  ssize_t n = write(2, text, sizeof text - 1);
  _exit(n < 0 ? 2 : 1);
}

int main(int argc, char **argv) {
  if (argc != 3) fail("usage: program JOB RESULT");
  signal(SIGFPE, on_division);
  job = fopen(argv[1], "rb");
  if (job == nullptr) fail("cannot read the job file");
  static msl_dispatch_args args;
  read_job(&args);
  fclose(job);
#if MSL_TRAFFIC
  traffic_begin(&args);
#endif
  int status = msl_dispatch(&args);
#if MSL_TRAFFIC
  traffic_report();
#endif
  if (status == 0) write_results(&args, argv[2]);
  return status;
}
