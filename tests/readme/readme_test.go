package readme

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/tools/txtar"
)

const root = "../.."

// read returns the text of a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// readme returns the README as a script.
func readme(t *testing.T) *script {
	t.Helper()
	list, err := blocks(read(t, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := newScript(list)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every block does what the README says, typed one after another.
func TestBlocks(t *testing.T) {
	s := readme(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "readme.txtar"), txtar.Format(&s.archive), 0o666); err != nil {
		t.Fatal(err)
	}
	kgen, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(t.TempDir(), "with a space")
	if err := os.Mkdir(home, 0o777); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		WorkdirRoot:         home,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			goEnv, err := goEnvironment()
			e.Vars = append(e.Vars, goEnv...)
			e.Setenv("KGEN_ROOT", kgen)
			return err
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"file":    file,
			"excerpt": excerpt,
			"prints":  prints,
		},
	})
}

// goEnvironment returns what the go command needs in a script, which has no
// home. Modules come from the cache.
func goEnvironment() ([]string, error) {
	names := []string{"GOCACHE", "GOMODCACHE", "GOTOOLCHAIN"}
	text, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return nil, err
	}
	vars := []string{"GOPROXY=off", "GOSUMDB=off", "GOWORK=off", "GOFLAGS=-buildvcs=false"}
	for i, value := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		vars = append(vars, names[i]+"="+value)
	}
	return vars, nil
}

// file writes a file as a reader would: file FROM TO.
func file(ts *testscript.TestScript, neg bool, args []string) {
	to := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(filepath.Dir(to), 0o777))
	ts.Check(os.WriteFile(to, []byte(ts.ReadFile(args[0])), 0o666))
}

// excerpt sees that the lines of an excerpt, but for the first, which names the
// file, begin lines of a file, in this order: excerpt FROM FILE.
func excerpt(ts *testscript.TestScript, neg bool, args []string) {
	want := strings.Split(strings.TrimSuffix(ts.ReadFile(args[0]), "\n"), "\n")[1:]
	if len(want) == 0 {
		ts.Fatalf("the excerpt of %s is empty", args[1])
	}
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if strings.HasPrefix(line, want[0]) {
			if want = want[1:]; len(want) == 0 {
				return
			}
		}
	}
	ts.Fatalf("%s has no line, or none after the ones before, that begins with\n%s", args[1], want[0])
}

var callSite = regexp.MustCompile(`[^ ]*main\.go:[0-9]+`)

// prints compares the standard output of the last command with a file, but for
// the places in main.go that errors name: prints FILE.
func prints(ts *testscript.TestScript, neg bool, args []string) {
	want := callSite.ReplaceAllString(ts.ReadFile(args[0]), "main.go")
	got := callSite.ReplaceAllString(strings.ReplaceAll(ts.ReadFile("stdout"), ts.Getenv("WORK"), ""), "main.go")
	if got != want {
		ts.Fatalf("printed\n%s\nthe README says\n%s", got, want)
	}
}

// What is too long for the suite is a target of the Makefile.
func TestMakeTargets(t *testing.T) {
	targets := readme(t).targets
	if len(targets) == 0 {
		t.Fatal("the README makes nothing")
	}
	makefile := read(t, "Makefile")
	for _, name := range targets {
		if !regexp.MustCompile(`(?m)^` + name + `:`).MatchString(makefile) {
			t.Errorf("the README says make %s, which is no target of the Makefile", name)
		}
	}
}

// shorter are flags that make a training run one of a moment.
var shorter = []string{"-steps", "2", "-warmup", "1", "-width", "8", "-hidden", "8", "-blocks", "1", "-sample", "8"}

// The commands for a checkout run there, one after another, with a run that is shorter and
// leaves its files elsewhere.
func TestCheckout(t *testing.T) {
	commands := readme(t).checkout
	if len(commands) == 0 {
		t.Fatal("the README trains nothing")
	}
	runs := t.TempDir()
	for _, command := range commands {
		args := strings.Fields(strings.ReplaceAll(command, " runs/", " "+runs+"/"))
		if config := args[len(args)-1]; strings.HasSuffix(config, ".toml") {
			name := strings.TrimSuffix(filepath.Base(config), ".toml")
			args = append(append(args, shorter...), "-out", filepath.Join(runs, name))
		}
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = root
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", command, err, text)
		}
	}
}

// Links lead to files.
func TestLinks(t *testing.T) {
	prose := regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(read(t, "README.md"), "")
	links := regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(prose, -1)
	if len(links) == 0 {
		t.Fatal("the README has no links")
	}
	for _, l := range links {
		if _, err := os.Stat(filepath.Join(root, l[1])); err != nil {
			t.Errorf("the README links to %s: %v", l[1], err)
		}
	}
}
