package tools

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected files inside the scripts")

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

// testMain builds the commands once; the scripts find them in their PATH.
func testMain(m *testing.M) int {
	flag.Parse()
	bin, err := os.MkdirTemp("", "eftrain-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(bin)
	build := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "../../cmd/eftrain", "../../cmd/eftexteval")
	if text, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building eftrain and eftexteval: %v\n%s", err, text)
		return 1
	}
	os.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return m.Run()
}

func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			// Data and examples stand where they do in a checkout; the licence is a short text.
			for name, as := range map[string]string{"data": "data", "examples": "examples", "LICENSE": "LICENSE.txt", "docs/training.md": "training.md"} {
				if err := os.Symlink(filepath.Join(root, name), filepath.Join(e.WorkDir, as)); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status":    status,
			"interrupt": interrupt,
			"record":    record,
		},
	})
}

// status runs a command that must end with the given exit code: status CODE COMMAND ARG…
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE COMMAND ARG…")
	}
	wantCode(ts, args[0], ts.Exec(args[1], args[2:]...))
}

// wantCode fails the script unless a command that gave err has ended with a code.
func wantCode(ts *testscript.TestScript, want string, err error) {
	code := 0
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != want {
		ts.Fatalf("the exit code is %d, want %s", code, want)
	}
}

// interrupt runs a command until a file has a number of lines, sends it what Ctrl-C does,
// and wants the exit code: interrupt CODE FILE LINES COMMAND ARG… What the command says of
// errors is in stderr.txt.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: interrupt CODE FILE LINES COMMAND ARG…")
	}
	lines, err := strconv.Atoi(args[2])
	ts.Check(err)
	path, err := exec.LookPath(args[3])
	ts.Check(err)
	cmd := exec.Command(path, args[4:]...)
	cmd.Dir = ts.MkAbs(".")
	var text bytes.Buffer
	cmd.Stderr = &text
	ts.Check(cmd.Start())
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		content, err := os.ReadFile(ts.MkAbs(args[1]))
		if err == nil && bytes.Count(content, []byte("\n")) >= lines {
			break
		}
		if time.Now().After(deadline) {
			cmd.Process.Kill()
			ts.Fatalf("%s has not %d lines after a minute", args[1], lines)
		}
	}
	ts.Check(cmd.Process.Signal(os.Interrupt))
	err = cmd.Wait()
	ts.Logf("%s", text.String())
	ts.Check(os.WriteFile(ts.MkAbs("stderr.txt"), text.Bytes(), 0o666))
	wantCode(ts, args[0], err)
}

// record writes the lines of metrics without what depends on the clock: record FROM TO.
func record(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: record FROM TO")
	}
	var b strings.Builder
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		before, after, ok := strings.Cut(line, `,"tokens_per_second":`)
		if ok {
			_, after, _ = strings.Cut(after, "}")
			line = before + "}" + after
		}
		b.WriteString(line)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o666))
}
