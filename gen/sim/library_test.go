package sim

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// host loads a library and runs the kernel of map.metal in its own process.
const host = `
#include <dlfcn.h>
#include "rt/dispatch.h"
int main(int, char **argv) {
  void *lib = dlopen(argv[1], RTLD_NOW);
  if (!lib) return 10;
  auto find = (const msl_kernel *(*)(const char *))dlsym(lib, "msl_find");
  auto dispatch = (int (*)(const msl_dispatch_args *))dlsym(lib, "msl_dispatch");
  if (!find || !dispatch || find("nothing")) return 11;
  float x[5] = {1, 2, 3, 4, 5}, y[5] = {};
  struct { long n; float s; } args = {5, 3};
  msl_dispatch_args a = {};
  a.kernel = find("scale");
  if (!a.kernel) return 12;
  a.buffers[0] = x; a.sizes[0] = sizeof x;
  a.buffers[1] = y; a.sizes[1] = sizeof y;
  a.grid[0] = a.grid[1] = a.grid[2] = 1;
  a.group[0] = 64; a.group[1] = a.group[2] = 1;
  if (dispatch(&a) != 2) return 13; // no buffer 2
  a.buffers[2] = &args; a.sizes[2] = sizeof args;
  if (dispatch(&a) != 0) return 14;
  for (int i = 0; i < 5; ++i) if (y[i] != 3 * x[i]) return 15;
  return 0;
}
`

func TestLibrary(t *testing.T) {
	t.Parallel()
	path, err := Library(context.Background(), buildDir, "map.metal", []byte(read(t, "kernels", "map.metal")), 0)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "host.cpp"), []byte(host), 0o644); err != nil {
		t.Fatal(err)
	}
	include, err := filepath.Abs("include")
	if err != nil {
		t.Fatal(err)
	}
	cc, err := Compiler()
	if err != nil {
		t.Fatal(err)
	}
	if err := (&builder{ctx: context.Background(), cc: cc}).clang(dir, []string{"-I" + include, "host.cpp", "-o", "host", "-ldl"}); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(filepath.Join(dir, "host"), path).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
