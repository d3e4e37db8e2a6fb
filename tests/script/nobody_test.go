package script

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// nobody runs a command that must end with the given exit code as a user who
// is not the owner of the files: nobody CODE COMMAND ARG… Where the tests
// themselves run without privileges, that is their own user. What the command
// prints goes to the log.
func nobody(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: nobody CODE COMMAND ARG…")
	}
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	cmd := exec.Command(path, args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{"PATH=" + ts.Getenv("PATH"), "PWD=" + cmd.Dir, "HOME=/no-home"}
	if os.Getuid() == 0 {
		for dir := cmd.Dir; dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			ts.Check(err)
			ts.Check(os.Chmod(dir, info.Mode().Perm()|0o055))
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err = cmd.Run()
	ts.Logf("%s", text.String())
	ts.Check(os.WriteFile(ts.MkAbs("nobody.txt"), text.Bytes(), 0o666))
	wantCode(ts, args, err)
}
