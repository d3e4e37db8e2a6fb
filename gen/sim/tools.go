package sim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// minClang is the first clang whose stand-in mode and fibre interface serve.
const minClang = 16

const installHint = "install it with: apt-get install clang-19 libclang-rt-19-dev"

// Tools says whether this machine can check and run Metal sources: it returns
// nil, or an error that names what is missing and how to get it.
func Tools() error {
	cc, err := Compiler()
	if err != nil {
		return err
	}
	try, _ := linkers.LoadOrStore(cc, sync.OnceValue(func() error { return tryLinks(cc) }))
	return try.(func() error)()
}

// Compiler finds clang: clang-19 first, then any clang that is new enough.
func Compiler() (string, error) {
	find, _ := compilers.LoadOrStore(os.Getenv("PATH"), sync.OnceValues(findCompiler))
	return find.(func() (string, error))()
}

// What has been found out in this process: to start clang takes as long as to compile a
// small kernel.
var (
	compilers sync.Map // by the PATH
	linkers   sync.Map // whether the sanitizers link, by the compiler
)

func findCompiler() (string, error) {
	names := []string{"clang-19"}
	for v := 22; v >= minClang; v-- {
		names = append(names, "clang-"+strconv.Itoa(v))
	}
	var old []string
	for _, name := range append(names, "clang") {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		v, err := clangVersion(path)
		if err == nil && v >= minClang {
			return path, nil
		}
		old = append(old, fmt.Sprintf("%s is version %d", path, v))
	}
	if len(old) > 0 {
		return "", fmt.Errorf("sim: clang %d or newer is needed, %s; %s", minClang, strings.Join(old, ", "), installHint)
	}
	return "", fmt.Errorf("sim: no clang on the PATH; %s", installHint)
}

func clangVersion(path string) (int, error) {
	out, err := exec.Command(path, "-dumpversion").Output()
	if err != nil {
		return 0, fmt.Errorf("sim: %s -dumpversion: %w", path, err)
	}
	major, _, _ := strings.Cut(strings.TrimSpace(string(out)), ".")
	return strconv.Atoi(major)
}

func tryLinks(cc string) error {
	for _, s := range []Sanitizer{Thread, Address, Undefined} {
		if err := tryLink(cc, s); err != nil {
			return err
		}
	}
	return nil
}

// tryLink links an empty program with the sanitizer, whose library is a
// package of its own.
func tryLink(cc string, s Sanitizer) error {
	dir, err := os.MkdirTemp("", "kgen-sim-")
	if err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	defer os.RemoveAll(dir)
	src := filepath.Join(dir, "empty.c")
	if err := os.WriteFile(src, []byte("int main(void) { return 0; }\n"), 0o644); err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	cmd := exec.Command(cc, append(s.flags(), "-o", filepath.Join(dir, "empty"), src)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("sim: %s cannot link with %s: %s; the sanitizer libraries are missing, %s",
			cc, strings.Join(s.flags(), " "), firstLine(string(out)), installHint)
	}
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// command runs the compiler in dir and gives back what it wrote to standard
// error; failed says that it refused its input.
func command(ctx context.Context, dir, path string, args ...string) (stderr string, failed bool, err error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var text strings.Builder
	cmd.Stderr = &text
	err = cmd.Run()
	var exit *exec.ExitError
	if ctx.Err() != nil {
		return text.String(), true, fmt.Errorf("sim: %s: %w", filepath.Base(path), ctx.Err())
	}
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return text.String(), true, nil
	}
	if err != nil {
		return text.String(), true, fmt.Errorf("sim: %s: %w: %s", filepath.Base(path), err, firstLine(text.String()))
	}
	return text.String(), false, nil
}

// hostFlags are the compiler flags that the processor needs.
func hostFlags() []string {
	if runtime.GOARCH == "amd64" {
		return []string{"-msse4.2"}
	}
	return nil
}
