//go:build linux && cgo

package cuda

/*
#include <stdlib.h>
#include "device.h"
*/
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unsafe"
)

// drivers are where the driver's library is looked for.
var drivers = []string{"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"}

func (d *Device) openDriver() error {
	why := d.openAny(drivers, func(path *C.char) C.int32_t { return C.kgc_load_driver(d.c, path) })
	if why != "" {
		return fmt.Errorf("cuda: no NVIDIA driver: %s cannot be opened (%s): install the driver, or open another device", drivers[0], why)
	}
	return nil
}

// openCompiler opens NVRTC.
func (d *Device) openCompiler() error {
	why := d.openAny(compilers(), func(path *C.char) C.int32_t { return C.kgc_load_nvrtc(d.c, path) })
	if why != "" {
		return fmt.Errorf("cuda: no NVRTC, which compiles the kernels: libnvrtc.so cannot be opened (%s): install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, or name its folder in LD_LIBRARY_PATH", why)
	}
	return nil
}

// openAny opens the first library that can be, and otherwise returns why the first
// one cannot.
func (d *Device) openAny(paths []string, open func(path *C.char) C.int32_t) string {
	first := ""
	for _, path := range paths {
		p := C.CString(path)
		ok := open(p)
		C.free(unsafe.Pointer(p))
		if ok != 0 {
			return ""
		}
		if first == "" {
			first = C.GoString(&d.c.why[0])
		}
	}
	return first
}

// compilers are where NVRTC is looked for.
func compilers() []string {
	return append([]string{"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"}, installed("libnvrtc.so*", "cuda_nvrtc")...)
}

// multipliers are where cuBLASLt is looked for.
func multipliers() []string {
	return append([]string{"libcublasLt.so", "libcublasLt.so.13", "libcublasLt.so.12"}, installed("libcublasLt.so*", "cublas")...)
}

// installed finds a library where the toolkit installs it, and where the Python packages
// do: of CUDA 13 all have one folder, before each its own.
func installed(pattern, python12 string) []string {
	lib := []string{"/usr/local/cuda/lib64", "/usr/local/cuda/targets/*/lib"}
	python := []string{"/usr/local/lib/python3*", "/usr/lib/python3*", "/opt/*/lib/python3*"}
	for _, name := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if root := os.Getenv(name); root != "" {
			lib = append(lib, filepath.Join(root, "lib64"))
		}
	}
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if root := os.Getenv(name); root != "" {
			lib = append(lib, filepath.Join(root, "lib"))
			python = append([]string{filepath.Join(root, "lib/python3*")}, python...)
		}
	}
	for _, p := range python {
		lib = append(lib, filepath.Join(p, "*-packages/nvidia/cu13/lib"), filepath.Join(p, "*-packages/nvidia", python12, "lib"))
	}
	var paths []string
	for _, dir := range lib {
		found, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is well-formed
		slices.Reverse(found)                                  // the newest first
		paths = append(paths, found...)
	}
	return paths
}
