package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Program is a Metal source that is built to run on the host. It is safe for
// concurrent use.
type Program struct {
	name  string // of the source, for messages
	path  string // of the executable
	san   Sanitizer
	lines *lineTable // of the executable, for the addresses in reports
	edits edits
	src   *source
}

// Build compiles a Metal source with a sanitizer into dir, which it makes and
// which may be shared: a program that is there already, made of the same text
// by the same compiler, is taken as it is. name is used in messages. A source
// that lies outside of what the runner takes, or that does not compile, is an
// error with its lines; Check says more about those.
func Build(ctx context.Context, dir, name string, src []byte, san Sanitizer) (*Program, error) {
	for _, alone := range []Sanitizer{Thread, Traffic} {
		if rest := san &^ (alone | Quick); san&alone != 0 && rest != 0 {
			return nil, fmt.Errorf("sim: build %s: a build with %s does not go with %s", name, alone, rest)
		}
	}
	cc, err := Compiler()
	if err != nil {
		return nil, err
	}
	b := &builder{ctx: ctx, cc: cc, dir: dir, san: san}
	p, err := b.program(name, src)
	if err != nil {
		return nil, fmt.Errorf("sim: build %s: %w", name, err)
	}
	return p, nil
}

// Library compiles a Metal source into a shared library in dir, as Build makes
// a program, and returns its path. It exports msl_find and msl_dispatch of
// include/rt/dispatch.h, and so runs its kernels in the process that loads it,
// one dispatch at a time. That process must be built with the same sanitizer.
func Library(ctx context.Context, dir, name string, src []byte, san Sanitizer) (string, error) {
	cc, err := Compiler()
	if err != nil {
		return "", err
	}
	b := &builder{ctx: ctx, cc: cc, dir: dir, san: san, library: true}
	built, err := b.build(src)
	if err != nil {
		return "", fmt.Errorf("sim: build %s: %w", name, err)
	}
	return built.path, nil
}

// CacheDir is where built programs are kept from one run to the next.
func CacheDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("sim: no place to keep programs: %w", err)
	}
	return filepath.Join(cache, "kgen", "sim"), nil
}

// Kernels are the names, as the host uses them, of the kernels of the program.
func (p *Program) Kernels() []string {
	var names []string
	for _, k := range p.src.kernels {
		if !k.template {
			names = append(names, k.host)
		}
	}
	return names
}

type builder struct {
	ctx     context.Context
	cc      string
	dir     string
	san     Sanitizer
	library bool // a shared library, else a program
}

const programName = "program"

// built is a source with what was made of it.
type built struct {
	path  string
	src   *source
	edits edits
}

func (b *builder) program(name string, text []byte) (*Program, error) {
	x, err := b.build(text)
	if err != nil {
		return nil, err
	}
	lines, err := readLines(x.path)
	if err != nil {
		return nil, err
	}
	return &Program{name: name, path: x.path, san: b.san, lines: lines, edits: x.edits, src: x.src}, nil
}

func (b *builder) build(text []byte) (*built, error) {
	text, from := withoutOrigins(text)
	text, err := active(b.ctx, b.cc, text)
	if err != nil {
		return nil, err
	}
	s := parse(text)
	s.origins = from
	if list := append(s.runRules(), s.outsideRules()...); len(list) > 0 {
		return nil, errors.New(from.name(list)[0].String())
	}
	glue, err := s.glue()
	if err != nil {
		return nil, err
	}
	e := s.rewrite(runMode)
	code := append(e.apply(text), fmt.Sprintf("\n#line 1 \"glue\"%s", glue)...)
	k, err := b.kit()
	if err != nil {
		return nil, err
	}
	dir, err := b.cached("p-", []string{string(code), k.headers}, func(dir string) error {
		return b.compile(s, e, dir, k, code)
	})
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(filepath.Join(dir, programName))
	return &built{path: path, src: s, edits: e}, err
}

// cached gives the folder with this content, which make fills if it is new: in
// a folder of its own that takes its name when it is complete.
func (b *builder) cached(prefix string, content []string, make func(dir string) error) (string, error) {
	sum := sha256.New()
	key := append([]string{b.cc, b.san.String(), fmt.Sprint(b.library)}, content...)
	for _, c := range slices.Concat(key, runFlags, hostFlags(), b.san.flags()) {
		fmt.Fprintf(sum, "%d:%s", len(c), c)
	}
	final := filepath.Join(b.dir, prefix+hex.EncodeToString(sum.Sum(nil))[:24])
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(b.dir, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := make(work); err != nil {
		return "", err
	}
	if err := os.Rename(work, final); err != nil {
		if _, there := os.Stat(final); there == nil {
			return final, nil // another build was first
		}
		return "", err
	}
	return final, nil
}

// kit is what all sources are built with: the folder of the headers, metal_stdlib as the
// compiler has parsed it, and the runtime.
type kit struct{ headers, parsed, object string }

func (b *builder) kit() (k kit, err error) {
	if k.headers, err = b.headers(); err != nil {
		return k, err
	}
	if k.parsed, err = b.parsedHeaders(k.headers); err != nil {
		return k, err
	}
	k.object, err = b.runtimeObject(k.headers)
	return k, err
}

func (b *builder) headers() (string, error) {
	var content []string
	err := fs.WalkDir(include, "include", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := include.ReadFile(path)
		content = append(content, path, string(data))
		return err
	})
	if err != nil {
		return "", err
	}
	dir, err := b.cached("include-", content, writeHeaders)
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

// parsedHeaders parses metal_stdlib for all sources that are built alike, which takes
// longer than to compile most of them.
func (b *builder) parsedHeaders(headers string) (string, error) {
	dir, err := b.cached("pch-", []string{headers}, func(dir string) error {
		args := slices.Concat([]string{"-x", "c++-header"}, runFlags, hostFlags(), b.san.flags())
		return b.clang(dir, append(args, "-I"+headers, "-include", "msl/lang.h", filepath.Join(headers, "metal_stdlib"), "-o", "metal_stdlib.pch"))
	})
	if err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(dir, "metal_stdlib.pch"))
}

// runtimeObject compiles the runtime, without instrumentation: what it copies
// between lanes is no access of the kernel's.
func (b *builder) runtimeObject(headers string) (string, error) {
	dir, err := b.cached("rt-", []string{headers}, func(dir string) error {
		args := []string{"-x", "c++", "-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti", "-fno-builtin", "-fno-threadsafe-statics",
			"-fPIC", "-nostdinc++", "-w", "-I" + headers, "-c", filepath.Join(headers, "rt", "all.cpp"), "-o", "rt.o"}
		if b.library {
			args = append(args, "-DMSL_LIBRARY=1")
		}
		return b.clang(dir, append(args, b.san.defines()...))
	})
	if err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(dir, "rt.o"))
}

func (b *builder) clang(dir string, args []string) error {
	text, failed, err := command(b.ctx, dir, b.cc, args...)
	if err == nil && failed {
		err = fmt.Errorf("clang: %s", firstLine(text))
	}
	return err
}

var runFlags = []string{
	"-std=c++17", "-O1", "-gline-tables-only", "-gdwarf-4", "-fno-omit-frame-pointer",
	"-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fPIC", "-nostdinc", "-nostdinc++", "-DMSL_RUN",
	"-ftrivial-auto-var-init=pattern", "-ffp-contract=off", "-Xclang", "-ffloat16-excess-precision=none", "-fsigned-char",
	"-w", "-ferror-limit=0", "-fno-caret-diagnostics", "-fno-color-diagnostics",
}

func (b *builder) compile(s *source, e edits, dir string, k kit, code []byte) error {
	if err := os.WriteFile(filepath.Join(dir, sourceName), code, 0o644); err != nil {
		return err
	}
	args := slices.Concat([]string{"-x", "c++"}, runFlags, hostFlags(), b.san.flags())
	args = append(args, "-I"+k.headers, "-include-pch", k.parsed, "-c", sourceName, "-o", "source.o")
	text, failed, err := command(b.ctx, dir, b.cc, args...)
	if err != nil {
		return err
	}
	if failed {
		return refusal(s.origins.name(s.diagnostics(text, e)), text)
	}
	link := append(b.san.flags(), "source.o", k.object, "-o", programName, "-lm")
	if b.library {
		link = append(link, "-shared")
	}
	return b.clang(dir, link)
}

// refusal is the error of a source that does not compile.
func refusal(list []Finding, text string) error {
	const most = 5
	var lines []string
	for _, f := range list[:min(most, len(list))] {
		lines = append(lines, f.String())
	}
	if len(lines) == 0 {
		lines = append(lines, firstLine(text))
	}
	return fmt.Errorf("the source does not compile to be run: %s", strings.Join(lines, "; "))
}
