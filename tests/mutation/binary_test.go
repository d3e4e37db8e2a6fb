package mutation

import (
	"context"
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// binary is a built test program.
type binary struct{ path string }

var ran = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): (\S+)`)

// all runs every test, which must pass, and returns the names of those without
// subtests of their own.
func (b *binary) all(t *testing.T) []string {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), b.path, "-test.v").CombinedOutput()
	if err != nil {
		t.Fatalf("the generated tests fail as they are: %v\n%s", err, text)
	}
	var names []string
	for _, m := range ran.FindAllStringSubmatch(string(text), -1) {
		if m[1] != "PASS" {
			t.Fatalf("%s: %s", m[2], m[1])
		}
		names = append(names, m[2])
	}
	return leaves(names)
}

func leaves(names []string) []string {
	var list []string
	for _, name := range names {
		leaf := true
		for _, other := range names {
			leaf = leaf && !strings.HasPrefix(other, name+"/")
		}
		if leaf {
			list = append(list, name)
		}
	}
	return list
}

// patience is how long one test may take; it takes milliseconds unless a wrong
// kernel has destroyed what the threads wait for.
const patience = 20 * time.Second

// passes runs one test in a process of its own, since a wrong kernel may bring
// it down, and reports whether it passed.
func (b *binary) passes(t *testing.T, name string) bool {
	t.Helper()
	var pattern []string
	for part := range strings.SplitSeq(name, "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(part)+"$")
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	text, err := exec.CommandContext(ctx, b.path, "-test.v", "-test.run", strings.Join(pattern, "/")).CombinedOutput()
	if !strings.Contains(string(text), "=== RUN   "+name+"\n") {
		t.Fatalf("%s did not run: %v\n%s", name, err, text)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", name, err)
	}
	return err == nil
}
