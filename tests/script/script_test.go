package script

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kernelgen/kgen/gen/sim"
)

var update = flag.Bool("update", false, "rewrite the expected files inside the scripts")

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

// testMain builds the commands once; the scripts find them in their PATH, and the
// one that the go command runs in KGENVET.
func testMain(m *testing.M) int {
	flag.Parse()
	bin, err := os.MkdirTemp("", "kgen-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(bin)
	if err := os.Chmod(bin, 0o755); err != nil { // for the command nobody
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	build := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "../../cmd/kgen", "../../cmd/kgenvet")
	if text, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building kgen and kgenvet: %v\n%s", err, text)
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
	goEnv, err := goEnvironment()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, goEnv...)
			e.Setenv("KGEN_ROOT", root)
			vet, err := exec.LookPath("kgenvet")
			e.Setenv("KGENVET", vet)
			return err
		},
		Condition: condition,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"usermod":  userModule,
			"snapshot": snapshot,
			"status":   status,
			"nobody":   nobody,
		},
	})
}

// condition knows, beside the conditions of testscript, cgo: there is a C compiler, and so
// the generated C sources can be built; and sim: Metal sources can be checked and run.
func condition(name string) (bool, error) {
	switch name {
	case "cgo":
		cc, err := exec.Command("go", "env", "CC").Output()
		if err != nil {
			return false, err
		}
		_, err = exec.LookPath(strings.TrimSpace(string(cc)))
		return err == nil, nil
	case "sim":
		return sim.Tools() == nil, nil
	}
	return false, fmt.Errorf("unknown condition %s", name)
}

// goEnvironment returns what the go command needs in a script, whose home
// directory does not exist. Modules come from the cache: nothing is fetched.
func goEnvironment() ([]string, error) {
	names := []string{"GOCACHE", "GOMODCACHE", "GOTOOLCHAIN"}
	text, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return nil, err
	}
	var vars []string
	for i, value := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		vars = append(vars, names[i]+"="+value)
	}
	return append(vars, "GOPROXY=off", "GOSUMDB=off", "GOWORK=off", "GOFLAGS=-buildvcs=false -mod=mod"), nil
}

// userModule makes the current directory a module that uses this one from its
// source tree: usermod PATH.
func userModule(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: usermod PATH")
	}
	root := ts.Getenv("KGEN_ROOT")
	data, err := os.ReadFile(filepath.Join(root, "go.mod"))
	ts.Check(err)
	_, requires, _ := strings.Cut(string(data), "\ngo ")
	text := "module " + args[0] + "\n\ngo " + requires + `
require github.com/kernelgen/kgen v0.0.0

replace github.com/kernelgen/kgen => ` + root + `

tool github.com/kernelgen/kgen/cmd/kgen
`
	ts.Check(os.WriteFile(ts.MkAbs("go.mod"), []byte(text), 0o666))
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("go.sum"), sums, 0o666))
}

// snapshot writes names, modes and contents of all files below DIR to FILE, so
// that two trees can be compared: snapshot DIR FILE.
func snapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: snapshot DIR FILE")
	}
	var b bytes.Buffer
	root := ts.MkAbs(args[0])
	ts.Check(filepath.Walk(root, func(name string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		fmt.Fprintf(&b, "%s %s\n%s\n", filepath.ToSlash(rel), info.Mode(), data)
		return err
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o666))
}

// status runs a command that must end with the given exit code: status CODE
// COMMAND ARG…
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE COMMAND ARG…")
	}
	wantCode(ts, args, ts.Exec(args[1], args[2:]...))
}

// wantCode fails the script unless a command that gave err has ended with the
// exit code args[0].
func wantCode(ts *testscript.TestScript, args []string, err error) {
	code := "0"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = fmt.Sprint(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if code != args[0] {
		ts.Fatalf("%s ended with exit code %s, want %s", strings.Join(args[1:], " "), code, args[0])
	}
}
