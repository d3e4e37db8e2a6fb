//go:build proof

package fuzz

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// knownFault is a fault of the compiler that is not mended yet. A finding of its
// kind which says so is counted, not reported, so that others stay visible.
type knownFault struct {
	name string // of the spec in testdata/known that shows it
	kind string // start of the kind of its findings
	says *regexp.Regexp
	// needs is a form of the spec without which the fault explains nothing.
	needs func(text string) bool
	// given and data are the call that shows it, where one is needed.
	given shapes
	data  uint64
}

func knownFaults() []knownFault {
	return []knownFault{
		{
			name: "grad-of-repeated-axis", kind: "refused or broken",
			says:  regexp.MustCompile(`_grad: step d_\w+: uses axis \w+, which it neither has nor reduces`),
			needs: func(text string) bool { return strings.Contains(text, "[grad]") },
		},
		{
			name: "grad-of-two-places", kind: "refused or broken: panic",
			says:  regexp.MustCompile(`nil pointer dereference\ngen/lower/value\.go`),
			needs: func(text string) bool { return strings.Contains(text, "[grad]") },
		},
		{
			name: "inout-read-late", kind: "result differs",
			says:  regexp.MustCompile(`^\w+: \w+ element`),
			needs: readsInOutElsewhere,
			given: shapes{"P": {64, 63}}, data: 691200,
		},
	}
}

// inoutName finds the inout of a drawn spec, of which there is one at most.
var inoutName = regexp.MustCompile(`(?m)^\[inout\.(\w+)\]$`)

// readsInOutElsewhere reports whether a let or an output reads the inout, whose
// old value may be overwritten by then.
func readsInOutElsewhere(text string) bool {
	m := inoutName.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	read := regexp.MustCompile(`\b` + m[1] + `\b`)
	for table := range strings.SplitSeq(text, "\n[") {
		_, e, ok := strings.Cut(table, "\nexpr = ")
		if ok && !strings.HasPrefix(table, "inout.") && read.MatchString(e) {
			return true
		}
	}
	return false
}

// explained names the known fault that explains a finding, if any.
func explained(f *finding, text string) string {
	for _, k := range knownFaults() {
		if strings.HasPrefix(f.kind, k.kind) && k.says.MatchString(f.text) && k.needs(text) {
			return k.name
		}
	}
	return ""
}

// TestKnown shows each known fault, so that one which is mended leaves the list.
func TestKnown(t *testing.T) {
	l := newBench(t).lab
	for _, k := range knownFaults() {
		text, err := os.ReadFile(filepath.Join("testdata", "known", k.name+".toml"))
		if err != nil {
			t.Fatal(err)
		}
		shown := false
		for _, f := range l.try([]specimen{{text: string(text), given: k.given, data: k.data}}) {
			shown = shown || explained(&f, string(text)) == k.name
		}
		if !shown {
			t.Errorf("%s shows no fault any more: take it off the list of known faults, and its spec out of testdata", k.name)
		}
	}
}
