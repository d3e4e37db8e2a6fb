//go:build linux && cgo

package cuda

/*
#include <stdlib.h>
#include "device.h"
*/
import "C"

import (
	"crypto/sha256"
	_ "embed" // kernels.cu
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

//go:embed kernels.cu
var frameSource string

// loadFrame makes the backend's own kernels ready.
func (d *Device) loadFrame() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.load([]unit{{frameSource, "kernels"}}); err != nil {
		return err
	}
	var begin, end kernel
	for _, f := range []struct {
		name string
		fn   *kernel
	}{{"kgb_begin", &begin}, {"kgb_end", &end}, {"kgb_copy", &d.copy}, {"kgb_copy_if", &d.restore}, {"kgb_fill", &d.fill}} {
		var err error
		if *f.fn, err = d.function(frameSource, f.name, 1); err != nil {
			return err
		}
	}
	C.kgc_set_frame(d.c, begin.fn, end.fn)
	return nil
}

// unit is a source to be compiled, with the name of a kernel in it for messages.
type unit struct{ source, name string }

// units returns the sources of the commands that are not loaded, without those that a
// product stands for. The caller holds d.mu.
func (d *Device) units(cmds []backend.Command, products []*C.kgc_product) []unit {
	var units []unit
	seen := map[string]bool{}
	for i := range cmds {
		c := &cmds[i]
		if c.Kind != backend.Kernel || c.Source == nil || products[i] != nil || d.modules[*c.Source].handle != nil || seen[*c.Source] {
			continue
		}
		seen[*c.Source] = true
		units = append(units, unit{*c.Source, c.Name})
	}
	return units
}

// load compiles sources side by side and loads what comes of them. The caller holds
// d.mu.
func (d *Device) load(units []unit) error {
	cubins, cached, errs := make([][]byte, len(units)), make([]bool, len(units)), make([]error, len(units))
	var wait sync.WaitGroup
	free := make(chan struct{}, goruntime.GOMAXPROCS(0))
	for i := range units {
		wait.Add(1)
		free <- struct{}{}
		go func() {
			defer wait.Done()
			cubins[i], cached[i], errs[i] = d.cubin(units[i])
			<-free
		}()
	}
	wait.Wait()
	for i, u := range units {
		if errs[i] != nil {
			continue
		}
		if !cached[i] {
			d.compiled++
		}
		errs[i] = d.loadModule(u, cubins[i])
	}
	return errors.Join(errs...)
}

func (d *Device) loadModule(u unit, cubin []byte) error {
	var m unsafe.Pointer
	if err := d.err(C.kgc_load_module(d.c, unsafe.Pointer(unsafe.SliceData(cubin)), &m)); err != nil {
		return fmt.Errorf("cuda: kernel %s cannot be loaded: %w", u.name, err)
	}
	d.modules[u.source] = module{m, d.waits(u.source)}
	return nil
}

// module is a loaded source.
type module struct {
	handle unsafe.Pointer
	early  bool // its kernels wait themselves for those before them
}

// kernel is a function of a module.
type kernel struct {
	fn    unsafe.Pointer
	early bool
}

// function returns a kernel of a source that is loaded, for blocks of so many threads.
func (d *Device) function(source, name string, threads int) (kernel, error) {
	m := d.modules[source]
	var fn unsafe.Pointer
	var most C.int32_t
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	if err := d.err(C.kgc_function(d.c, m.handle, s, &fn, &most)); err != nil {
		return kernel{}, fmt.Errorf("cuda: the source of kernel %s does not define it: %w", name, err)
	}
	if threads > int(most) {
		return kernel{}, fmt.Errorf("cuda: kernel %s has blocks of %d threads, of which its registers and shared memory allow %d", name, threads, most)
	}
	return kernel{fn, m.early}, nil
}

// waits reports whether the kernels of a source wait themselves for those before them,
// as the generated ones do on cards that can begin one kernel before the end of another:
// those of compute capability 9.0 and up, in graphs from version 12.3 of the driver on.
func (d *Device) waits(source string) bool {
	return d.c.major >= 9 && d.c.version >= 12030 && strings.Contains(source, "griddepcontrol.wait")
}

// options are those that kernels are compiled with.
func (d *Device) options() []string {
	return []string{fmt.Sprintf("--gpu-architecture=sm_%d%d", d.c.major, d.c.minor), "--std=c++17", "-lineinfo", "--fmad=false"}
}

// cubin returns the compiled form of a source, and whether it was in the cache.
func (d *Device) cubin(u unit) (cubin []byte, cached bool, err error) {
	path := d.cachePath(u.source)
	if cubin := kept(path); cubin != nil {
		return cubin, true, nil
	}
	if cubin, err = d.compile(u); err == nil && path != "" {
		keep(path, cubin)
	}
	return cubin, false, err
}

// cachePath returns the file in the user's cache for a source and all that its
// compiled form depends on; "" if there is no cache.
func (d *Device) cachePath(source string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q nvrtc %d.%d driver %d\n%s", d.options(), d.c.rtc_major, d.c.rtc_minor, d.c.version, source)
	return filepath.Join(dir, "kgen", "cuda", fmt.Sprintf("%x.cubin", h.Sum(nil)))
}

// kept returns what keep wrote to a file, nil if it is not there or not whole.
func kept(path string) []byte {
	data, err := os.ReadFile(path)
	n := len(data) - sha256.Size
	if err != nil || n <= 0 || sha256.Sum256(data[:n]) != [sha256.Size]byte(data[n:]) {
		return nil
	}
	return data[:n]
}

// keep writes a file of the cache as a whole, with its checksum behind it. Without
// the file the next process compiles the source again, so errors count for nothing.
func keep(path string, data []byte) {
	if os.MkdirAll(filepath.Dir(path), 0o755) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), "*.tmp")
	if err != nil {
		return
	}
	sum := sha256.Sum256(data)
	_, err = f.Write(slices.Concat(data, sum[:]))
	if errors.Join(err, f.Close()) != nil || os.Rename(f.Name(), path) != nil {
		os.Remove(f.Name())
	}
}

// compile compiles a source.
func (d *Device) compile(u unit) ([]byte, error) {
	var strs []*C.char
	str := func(s string) *C.char {
		strs = append(strs, C.CString(s))
		return strs[len(strs)-1]
	}
	defer func() {
		for _, s := range strs {
			C.free(unsafe.Pointer(s))
		}
	}()
	var options []*C.char
	for _, o := range d.options() {
		options = append(options, str(o))
	}
	var out unsafe.Pointer
	var n C.int64_t
	code := C.kgc_compile(d.c, str(u.source), str(u.name+".cu"), &options[0], C.int32_t(len(options)), &out, &n)
	defer C.free(out)
	data := unsafe.Slice((*byte)(out), n)
	if code == 0 {
		return append([]byte(nil), data...), nil
	}
	return nil, fmt.Errorf("cuda: kernel %s does not compile: %s\n%s", u.name, C.GoString(C.kgc_compile_error(d.c, code)), firstLines(string(data), 12))
}

// firstLines returns the first n lines of a text.
func firstLines(s string, n int) string {
	lines := strings.SplitN(strings.TrimSpace(s), "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}
