package softmetal

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/kernelgen/kgen/gen/sim"
)

// The libraries that Build makes: the software Metal with the bridge, and what the bridge
// opens of MetalPerformanceShaders.
const (
	Library = "libkgenmetal.so"
	Shaders = "libkgenmps.so"
)

// Options say what Build makes.
type Options struct {
	Root string // of the project
	Dir  string // to build in; the library lies there
	ASan bool   // with AddressSanitizer
}

// Build makes the headers, the compiler of kernels and the library with the software
// Metal and the bridge. The error says which tool is missing.
func Build(o Options) error {
	if err := Tools(); err != nil {
		return err
	}
	if err := o.build(); err != nil {
		return fmt.Errorf("softmetal: %w", err)
	}
	return nil
}

func (o Options) build() error {
	cc, err := sim.Compiler()
	if err != nil {
		return err
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return err
	}
	if err := o.headers(); err != nil {
		return err
	}
	if err := o.run("go", "build", "-o", filepath.Join(o.Dir, "compiler"), "./internal/softmetal/compiler"); err != nil {
		return err
	}
	err = o.link(cc, Library, []string{"-ldl"}, "internal/softmetal/src/*.[mc]", "internal/softmetal/src/*.cpp", "runtime/internal/metal/*.m")
	if err != nil {
		return err
	}
	return o.link(cc, Shaders, []string{"-L" + o.Dir, "-lkgenmetal", "-Wl,-rpath," + o.Dir}, "internal/softmetal/src/mps/*.m")
}

// link makes a library of the sources that patterns name.
func (o Options) link(cc, name string, libraries []string, patterns ...string) error {
	objects, err := o.compile(cc, patterns)
	if err != nil {
		return err
	}
	return o.run(cc, slices.Concat(o.sanitize(), []string{"-shared", "-o", filepath.Join(o.Dir, name)}, objects, libraries,
		[]string{"-L" + gnuObjC(), "-lobjc", "-lBlocksRuntime", "-lpthread"})...)
}

// headers writes the headers, under the names of the frameworks'.
func (o Options) headers() error {
	text, err := Header()
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"softmetal_api.h":         text,
		"Foundation/Foundation.h": "#include \"softmetal_api.h\"\n",
		"Metal/Metal.h":           "#include \"softmetal_api.h\"\n",
		"MetalPerformanceShaders/MetalPerformanceShaders.h": "#include \"softmetal_api.h\"\n",
	} {
		path := filepath.Join(o.Dir, "include", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compile compiles the sources side by side and returns the objects.
func (o Options) compile(cc string, patterns []string) ([]string, error) {
	var sources []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(o.Root, pattern))
		if err != nil {
			return nil, err
		}
		sources = append(sources, found...)
	}
	if len(sources) == 0 {
		return nil, fmt.Errorf("no sources in %s", o.Root)
	}
	objects, errs := make([]string, len(sources)), make([]error, len(sources))
	var wait sync.WaitGroup
	for i, src := range sources {
		objects[i] = filepath.Join(o.Dir, filepath.Base(filepath.Dir(src))+"_"+filepath.Base(src)+".o")
		wait.Add(1)
		go func() {
			defer wait.Done()
			errs[i] = o.run(cc, slices.Concat(o.flags(filepath.Ext(src)), o.sanitize(), []string{"-c", src, "-o", objects[i]})...)
		}()
	}
	wait.Wait()
	return objects, errors.Join(errs...)
}

// flags are those of the compiler for a source. What the tables do not have, the headers
// do not, and a message of an unknown name is an error.
func (o Options) flags(ext string) []string {
	common := []string{"-O2", "-g", "-fPIC", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-I" + filepath.Join(o.Dir, "include"), "-I" + filepath.Join(o.Root, "internal/softmetal/src")}
	switch ext {
	case ".cpp":
		return append(common, "-std=c++17", "-fno-exceptions", "-fno-rtti", "-I"+filepath.Join(o.Root, "gen/sim/include"))
	case ".m":
		asan := "0"
		if o.ASan {
			asan = "1"
		}
		return append(common, "-std=gnu11", "-fobjc-runtime=gcc", "-fblocks", "-fconstant-string-class=NSConstantString",
			"-idirafter", filepath.Join(gnuObjC(), "include"), "-Werror=objc-method-access", "-Wno-protocol", "-Wno-incomplete-implementation",
			"-Wno-objc-root-class", "-Wno-deprecated-objc-isa-usage", "-Wno-deprecated-declarations",
			"-DKGM_MPS="+fmt.Sprintf("%q", filepath.Join(o.Dir, Shaders)),
			"-DSOFTMETAL_COMPILER="+fmt.Sprintf("%q", filepath.Join(o.Dir, "compiler")),
			"-DSOFTMETAL_KERNELS="+fmt.Sprintf("%q", o.kernels()), "-DSOFTMETAL_ASAN="+asan)
	}
	return append(common, "-std=gnu11")
}

// kernels is where compiled kernels are kept: where `kgen sim` keeps its own, from one
// build to the next, each under what it was made of.
func (o Options) kernels() string {
	if dir, err := sim.CacheDir(); err == nil {
		return dir
	}
	return filepath.Join(o.Dir, "kernels")
}

func (o Options) sanitize() []string {
	if o.ASan {
		return []string{"-fsanitize=address"}
	}
	return nil
}

// gnuObjC is the folder of GNU's Objective-C runtime, which lies with the compiler that
// it comes with; "" without one.
func gnuObjC() string {
	found, _ := filepath.Glob("/usr/lib/gcc/*/*/include/objc/objc.h") // the pattern is well-formed
	if len(found) == 0 {
		return ""
	}
	return strings.TrimSuffix(found[len(found)-1], "/include/objc/objc.h")
}

func (o Options) run(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = o.Root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(append([]string{name}, args...), " "), err, out)
	}
	return nil
}

// Program builds a program of an Objective-C or C source that uses the library of Build,
// and returns its path.
func (o Options) Program(source string) (string, error) {
	cc, err := sim.Compiler()
	if err != nil {
		return "", fmt.Errorf("softmetal: %w", err)
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return "", fmt.Errorf("softmetal: %w", err)
	}
	ext := filepath.Ext(source)
	path := filepath.Join(o.Dir, strings.TrimSuffix(filepath.Base(source), ext))
	err = o.run(cc, slices.Concat(o.flags(ext), o.sanitize(), []string{"-I" + filepath.Join(o.Root, "runtime/internal/metal"), source, "-o", path,
		"-L" + o.Dir, "-lkgenmetal", "-Wl,-rpath," + o.Dir, "-L" + gnuObjC(), "-lobjc", "-lBlocksRuntime", "-lpthread"})...)
	if err != nil {
		return "", fmt.Errorf("softmetal: %w", err)
	}
	return path, nil
}

// Tools returns what of the tools that Build needs is missing, nil if all are there.
func Tools() error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("softmetal: it is for Linux, %s has no use for it", runtime.GOOS)
	}
	if _, err := sim.Compiler(); err != nil {
		return fmt.Errorf("softmetal: %w", err)
	}
	if gnuObjC() == "" {
		return errors.New("softmetal: no Objective-C runtime: apt-get install libobjc-12-dev")
	}
	if _, err := os.Stat("/usr/include/Block.h"); err != nil {
		return errors.New("softmetal: no runtime of blocks: apt-get install libblocksruntime-dev")
	}
	return nil
}
