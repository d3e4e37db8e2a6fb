package sim

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// ReportKind says what a report is about.
type ReportKind string

// The kinds of reports.
const (
	DataRace           ReportKind = "data race"           // two threads, one address, no barrier between
	Bounds             ReportKind = "out of bounds"       // an access outside of a buffer or an array
	UndefinedBehaviour ReportKind = "undefined behaviour" // such as signed overflow, or reading an absent lane
	Divergence         ReportKind = "divergent barrier"   // a barrier that not all threads reach
	Partial            ReportKind = "partial SIMD group"  // a SIMD function that not all lanes reach; defined, over those that do
	Crash              ReportKind = "crash"
)

// Report is one thing that went wrong in a run, at a line and column of the
// Metal source; both are 0 where no place is known.
type Report struct {
	Kind      ReportKind
	File      string // that a #line directive names; "" for the source itself
	Line, Col int
	Text      string
	Raw       string // as the sanitizer wrote it
}

func (r Report) String() string {
	return inFile(r.File, fmt.Sprintf("%d:%d: %s: %s", r.Line, r.Col, r.Kind, r.Text))
}

var (
	runtimeLine = regexp.MustCompile(`^msl-(\w+):(\d+):(\d+): (.*)$`)
	ubsanLine   = regexp.MustCompile(`^(\S+?):(\d+):(\d+): runtime error: (.*)$`)
	asanLine    = regexp.MustCompile(`^==\d+==\s?ERROR: AddressSanitizer: (\S+)(.*)$`)
	asanAccess  = regexp.MustCompile(`^(READ|WRITE) of size (\d+)`)
	frameLine   = regexp.MustCompile(`^\s+#\d+ .*\(([^()]+)\+0x([0-9a-f]+)\)`)
)

// runtimeKinds are the words of the runtime's own reports.
var runtimeKinds = map[string]ReportKind{"divergence": Divergence, "partial": Partial, "undefined": UndefinedBehaviour}

// reports reads what a program wrote to standard error. failure is not empty
// if the runtime refused the job.
func (p *Program) reports(text string) (list []Report, failure string) {
	lines := strings.Split(text, "\n")
	seen := map[string]bool{}
	var arena addresses
	add := func(r Report) {
		r.File, r.Line = p.src.origins.of(r.Line)
		if key := r.String(); !seen[key] {
			seen[key] = true
			list = append(list, r)
		}
	}
	for i, line := range lines {
		if m := runtimeLine.FindStringSubmatch(line); m != nil {
			if m[1] == "error" {
				return nil, m[4]
			}
			add(p.report(runtimeKinds[m[1]], atoi(m[2]), atoi(m[3]), m[4], line))
		} else if m := ubsanLine.FindStringSubmatch(line); m != nil {
			add(p.undefined(m, lines[i:]))
		} else if m := asanLine.FindStringSubmatch(line); m != nil {
			add(p.address(m, lines[i:]))
		} else if strings.HasPrefix(line, "WARNING: ThreadSanitizer: data race") {
			if !arena.holds(lines[i:]) {
				add(p.race(lines[i:]))
			}
		} else if m := arenaLine.FindStringSubmatch(line); m != nil {
			arena = parseAddresses(m[1], m[2])
		}
	}
	return list, ""
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// addresses are those of the threadgroup memory, where a run that looks at
// device memory alone has races that mean nothing.
type addresses struct{ from, to uint64 }

var (
	arenaLine   = regexp.MustCompile(`^msl-arena:([0-9a-f]+):([0-9a-f]+)$`)
	raceAddress = regexp.MustCompile(` at 0x([0-9a-f]+) by `)
)

func parseAddresses(from, to string) addresses {
	a, _ := strconv.ParseUint(from, 16, 64)
	b, _ := strconv.ParseUint(to, 16, 64)
	return addresses{a, b}
}

// holds says whether the race that the lines report lies in a.
func (a addresses) holds(lines []string) bool {
	for _, line := range lines {
		if m := raceAddress.FindStringSubmatch(line); m != nil {
			at, _ := strconv.ParseUint(m[1], 16, 64)
			return a.from <= at && at < a.to
		}
	}
	return false
}

// report places a report whose line and column are of the rewritten source.
func (p *Program) report(kind ReportKind, line, col int, text, raw string) Report {
	return Report{Kind: kind, Line: line, Col: p.edits.original(p.src.lexed, line, col), Text: text, Raw: raw}
}

// stack gives the places in the Metal source of the frames that follow,
// innermost first, up to the first line that is no frame.
func (p *Program) stack(lines []string) []place {
	var at []place
	for _, line := range lines {
		m := frameLine.FindStringSubmatch(line)
		if m == nil {
			break
		}
		addr, err := strconv.ParseUint(m[2], 16, 64)
		if err != nil || filepath.Base(m[1]) != programName {
			continue
		}
		if x := p.lines.at(addr); x.line > 0 && x.line <= len(p.src.lines) {
			at = append(at, place{x.line, p.edits.original(p.src.lexed, x.line, x.col)})
		}
	}
	return at
}

func first(at []place) place {
	if len(at) == 0 {
		return place{}
	}
	return at[0]
}

func (p *Program) undefined(m, lines []string) Report {
	r := p.report(UndefinedBehaviour, atoi(m[2]), atoi(m[3]), m[4], section(lines))
	if filepath.Base(m[1]) != sourceName {
		at := first(p.stack(lines[1:]))
		r.Line, r.Col = at.line, at.col
	}
	return r
}

func (p *Program) address(m, lines []string) Report {
	r := Report{Kind: Bounds, Text: m[1], Raw: section(lines)}
	if m[1] == "SEGV" || m[1] == "BUS" {
		r.Kind, r.Text = Crash, m[1]+", as of a misaligned vector or a wild pointer"
	}
	for i, line := range lines {
		a := asanAccess.FindStringSubmatch(line)
		if a != nil {
			r.Text = fmt.Sprintf("%s of %s bytes (%s)", strings.ToLower(a[1]), a[2], m[1])
		}
		if a != nil || r.Kind == Crash && frameLine.MatchString(line) {
			stack := lines[i:]
			if a != nil {
				stack = lines[i+1:]
			}
			at := first(p.stack(stack))
			r.Line, r.Col = at.line, at.col
			break
		}
	}
	return r
}

// section is what belongs to a report: up to a line of '='.
func section(lines []string) string {
	for i, line := range lines {
		if i > 0 && strings.HasPrefix(line, "=====") {
			return strings.Join(lines[:i], "\n")
		}
	}
	return strings.Join(lines, "\n")
}

var (
	raceAccess = regexp.MustCompile(`(?i)^  ((?:previous )?)((?:atomic )?(?:read|write)) of size (\d+) at \S+ by (main thread|thread (T\d+))`)
	raceThread = regexp.MustCompile(`^  Thread (T\d+) '([^']*)'`)
)

// race reads a report of ThreadSanitizer: two accesses with their stacks, then
// the threads with the names that the runtime gave them.
func (p *Program) race(lines []string) Report {
	raw := section(lines)
	lines = strings.Split(raw, "\n")
	names := map[string]string{}
	for _, line := range lines {
		if m := raceThread.FindStringSubmatch(line); m != nil {
			names[m[1]] = m[2]
		}
	}
	r := Report{Kind: DataRace, Raw: raw}
	var parts []string
	for i, line := range lines {
		m := raceAccess.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		at := first(p.stack(lines[i+1:]))
		who := names[m[5]]
		if who == "" {
			who = m[4]
		}
		_, named := p.src.origins.of(at.line)
		parts = append(parts, fmt.Sprintf("%s of %s bytes by %s in line %d", strings.ToLower(m[2]), m[3], who, named))
		if r.Line == 0 {
			r.Line, r.Col = at.line, at.col
		}
	}
	r.Text = strings.Join(parts, ", ")
	return r
}
