package sim

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

//go:embed include
var include embed.FS

// Finding is one thing that a check found, at a line and column from 1.
type Finding struct {
	File      string // that a #line directive names; "" for the source itself
	Line, Col int
	// Outside says that the source uses what the stand-in does not model: it
	// may well be right, and is not judged.
	Outside bool
	// Warning says that the source is taken, and may not do what it seems to.
	// Without either Apple's compiler would refuse it.
	Warning bool
	Text    string
}

func (f Finding) String() string {
	kind := "error"
	switch {
	case f.Outside:
		kind = "outside the checked subset"
	case f.Warning:
		kind = "warning"
	}
	return inFile(f.File, fmt.Sprintf("%d:%d: %s: %s", f.Line, f.Col, kind, f.Text))
}

// Verdict sums up the findings of a source.
type Verdict uint8

// The verdicts. A source that is refused for one reason and outside the subset
// for another is refused.
const (
	Accepted Verdict = iota
	Outside
	Refused
)

func (v Verdict) String() string {
	return [...]string{"accepted", "outside the checked subset", "refused"}[v]
}

// Judge gives the verdict that findings amount to. Warnings do not count.
func Judge(list []Finding) Verdict {
	v := Accepted
	for _, f := range list {
		switch {
		case f.Outside:
			v = Outside
		case !f.Warning:
			return Refused
		}
	}
	return v
}

// Check compiles a Metal source against the stand-in without making code. The
// findings are ordered by place; Judge sums them up. name is used in error texts
// only. The error says that the check could not be made.
func Check(ctx context.Context, name string, src []byte) ([]Finding, error) {
	cc, err := Compiler()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kgen-check-")
	if err != nil {
		return nil, fmt.Errorf("sim: check %s: %w", name, err)
	}
	defer os.RemoveAll(dir)
	src, from := withoutOrigins(src)
	text, err := active(ctx, cc, src)
	if err != nil {
		return nil, fmt.Errorf("sim: check %s: %w", name, err)
	}
	s := parse(text)
	list := append(append(s.rules(), s.outsideRules()...), s.warnings()...)
	found, err := s.clangCheck(&builder{ctx: ctx, cc: cc, dir: headerDir(dir)}, dir)
	if err != nil {
		return nil, fmt.Errorf("sim: check %s: %w", name, err)
	}
	return from.name(combine(list, found)), nil
}

const sourceName = "source.metal"

var checkFlags = []string{
	"-cl-std=clc++2021", "--target=spir64", "-cl-no-stdinc", "-nostdinc", "-DMSL_CHECK",
	"-Xclang", "-cl-ext=-all,+cl_khr_fp16,+__opencl_c_generic_address_space,+__cl_clang_non_portable_kernel_param_types,+__cl_clang_function_pointers,+__cl_clang_variadic_functions",
	"-cl-single-precision-constant", "-ferror-limit=0",
	"-fno-caret-diagnostics", "-fno-color-diagnostics", "-fno-spell-checking",
}

func (s *source) clangCheck(b *builder, dir string) ([]Finding, error) {
	e := s.rewrite(checkMode)
	if err := os.WriteFile(filepath.Join(dir, sourceName), e.apply(s.text), 0o644); err != nil {
		return nil, err
	}
	headers, err := b.headers()
	if err != nil {
		return nil, err
	}
	args := slices.Concat([]string{"-x", "cl", "-fsyntax-only"}, checkFlags, []string{"-I" + headers})
	if s.beginsWithLibrary() {
		parsed, err := b.checkedHeaders(headers)
		if err != nil {
			return nil, err
		}
		args = append(args, "-include-pch", parsed)
	} else {
		args = append(args, "-include", "msl/lang.h")
	}
	text, failed, err := command(b.ctx, dir, b.cc, append(args, sourceName)...)
	if err != nil {
		return nil, err
	}
	list := s.diagnostics(text, e)
	if failed && len(list) == 0 {
		return nil, fmt.Errorf("clang failed without a message: %s", firstLine(text))
	}
	return list, nil
}

// beginsWithLibrary says whether a source includes a header of Metal's library before
// anything else, so that it knows its names from the first line on. Each of them is all
// of metal_stdlib.
func (s *source) beginsWithLibrary() bool {
	if len(s.directives) == 0 || len(s.tokens) > 0 && s.tokens[0].pos < s.directives[0].pos {
		return false
	}
	return strings.HasPrefix(s.directives[0].text, "include <metal_")
}

// checkedHeaders parses metal_stdlib for all checks, as parsedHeaders does for builds.
func (b *builder) checkedHeaders(headers string) (string, error) {
	dir, err := b.cached("check-", append([]string{headers}, checkFlags...), func(dir string) error {
		args := slices.Concat([]string{"-x", "cl-header"}, checkFlags)
		return b.clang(dir, append(args, "-I"+headers, "-include", "msl/lang.h", filepath.Join(headers, "metal_stdlib"), "-o", "metal_stdlib.pch"))
	})
	if err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(dir, "metal_stdlib.pch"))
}

// headerDir is where the headers are kept for the next check: with the programs, or for
// this check alone in dir, where nothing can be kept.
func headerDir(dir string) string {
	kept, err := CacheDir()
	if err == nil {
		err = os.MkdirAll(kept, 0o755)
	}
	if err == nil {
		var try string
		if try, err = os.MkdirTemp(kept, "new-"); err == nil {
			err = os.Remove(try)
		}
	}
	if err != nil {
		return dir
	}
	return kept
}

// combine drops what clang refuses in a source that is outside the subset: it
// may follow from what the stand-in lacks.
func combine(own, clang []Finding) []Finding {
	list := own
	outside := false
	at := map[int]bool{} // lines that a rule has refused
	for _, f := range own {
		outside = outside || f.Outside
		at[f.Line] = at[f.Line] || !f.Outside && !f.Warning
	}
	for _, f := range clang {
		outside = outside || f.Outside && !at[f.Line]
	}
	for _, f := range clang {
		if f.Warning || !at[f.Line] && (f.Outside || !outside) {
			list = append(list, f)
		}
	}
	sort.SliceStable(list, func(i, j int) bool {
		return list[i].Line < list[j].Line || list[i].Line == list[j].Line && list[i].Col < list[j].Col
	})
	return list
}

var diagnosticLine = regexp.MustCompile(`^([^:\n]+):(\d+):(\d+): (fatal error|error|note|warning): (.*)$`)

// diagnostics reads clang's messages: errors, and the warnings that the stand-in's
// headers give. One that lies in a header is placed at the first note that leads
// to the source.
func (s *source) diagnostics(text string, e edits) []Finding {
	var list []Finding
	placed, ours := true, false
	judge := judge{source: s, names: metalNames()}
	for _, line := range strings.Split(text, "\n") {
		m := diagnosticLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if m[4] != "note" {
			if ours = m[4] != "warning" || strings.HasSuffix(m[5], "[-Wuser-defined-warnings]"); ours {
				list = append(list, Finding{Line: 1, Col: 1, Warning: m[4] == "warning", Text: warningOption.ReplaceAllString(m[5], "")})
				placed = false
			}
		}
		if !ours {
			continue
		}
		f := &list[len(list)-1]
		if !placed && filepath.Base(m[1]) != sourceName {
			f.Text = assertion.ReplaceAllString(f.Text, "") // of the stand-in's own
		}
		if !placed && filepath.Base(m[1]) == sourceName {
			row, _ := strconv.Atoi(m[2])
			col, _ := strconv.Atoi(m[3])
			f.Line, f.Col = row, e.original(s.lexed, row, col)
			placed = true
		}
		judge.see(f, m[5])
	}
	for i := range list {
		list[i].Text = metalWords(list[i].Text)
	}
	return s.kept(list)
}

var warningOption = regexp.MustCompile(` \[-W[\w-]+\]$`)

var assertion = regexp.MustCompile(`^static assertion failed(?: due to requirement '.*')?: `)

var (
	vectorSpelling = regexp.MustCompile(`(\w+) __attribute__\(\(ext_vector_type\((\d)\)\)\)`)
	madeSpelling   = regexp.MustCompile(`msl_make<(?:vec<)?(\w+)>*`)
	kernelSpelling = regexp.MustCompile(`msl_kernel_\d+_`)
	spaceSpelling  = strings.NewReplacer("__global", "device", "__local", "threadgroup", "__private", "thread", "__constant", "constant", "msl_atomic_", "atomic_", "msl_name_", "", "_atomic<", "atomic<")
	unsigned       = strings.NewReplacer("unsigned char2", "uchar2", "unsigned char", "uchar", "unsigned short", "ushort", "unsigned int", "uint", "unsigned long", "ulong")
)

// metalWords puts clang's message into Metal's words.
func metalWords(text string) string {
	text = vectorSpelling.ReplaceAllString(text, "$1$2")
	text = madeSpelling.ReplaceAllString(text, "$1")
	text = kernelSpelling.ReplaceAllString(text, "")
	return unsigned.Replace(spaceSpelling.Replace(text))
}

// writeHeaders writes the stand-in's headers and the runtime under dir.
func writeHeaders(dir string) error {
	return fs.WalkDir(include, "include", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("include", filepath.FromSlash(path))
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := include.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
}
