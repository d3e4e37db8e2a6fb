//go:build unix

package checkpoint

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/kernelgen/kgen/runtime"
)

var (
	kills  = flag.Int("kills", 40, "how often TestKilledWriter kills a writer")
	writer = flag.String("writer", "", "used by TestKilledWriter: be the writer of this file")
)

// elements is chosen so that a checkpoint takes a few milliseconds to write.
const elements = 1 << 20

func TestMain(m *testing.M) {
	flag.Parse()
	if *writer != "" {
		log.Fatal(write(*writer))
	}
	os.Exit(m.Run())
}

// write is what the process does that TestKilledWriter kills: it saves states one
// after another, each with its number in every element, and says when each is
// there.
func write(path string) error {
	d, err := runtime.Open()
	if err != nil {
		return err
	}
	defer d.Close()
	s := State{}
	for _, name := range []string{"a", "b"} {
		x, err := runtime.Zeros[int32](d, elements)
		if err != nil {
			return err
		}
		s[name] = x.Untyped()
	}
	data := make([]int32, elements)
	for n := int32(1); ; n++ {
		for i := range data {
			data[i] = n
		}
		for _, h := range s {
			if err := runtime.As[int32](h).Write(data); err != nil {
				return err
			}
		}
		if err := Save(path, s, map[string]string{"n": fmt.Sprint(n)}); err != nil {
			return err
		}
		fmt.Printf("saved %d\n", n)
	}
}

// A writer that is killed at any moment leaves a file that is one of those that it
// saved, whole, and no older than the last that it said was there.
func TestKilledWriter(t *testing.T) {
	d := open(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "state.safetensors")
	empty := make([]int32, elements)
	if err := Save(path, State{"a": from(t, d, empty, elements), "b": from(t, d, empty, elements)}, map[string]string{"n": "0"}); err != nil {
		t.Fatal(err)
	}
	got := State{"a": from(t, d, empty, elements), "b": from(t, d, empty, elements)}
	midway := 0
	for range *kills {
		said := killWriter(t, path)
		metadata, err := Load(path, got)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(metadata["n"])
		if err != nil || n < said {
			t.Fatalf("the file holds state %q after %d was said to be saved", metadata["n"], said)
		}
		for name, h := range got {
			for i, v := range values[int32](t, h) {
				if int(v) != n {
					t.Fatalf("%s[%d] is of state %d, the metadata of %d", name, i, v, n)
				}
			}
		}
		if _, err := os.Stat(filepath.Join(dir, ".state.safetensors.partial")); err == nil {
			midway++
		}
	}
	t.Logf("%d of %d writers were killed while they wrote", midway, *kills)
	if midway == 0 {
		t.Error("no writer was killed while it wrote: the test shows nothing")
	}
}

// killWriter starts a writer, kills it at a random moment after its first word, and
// returns the last number that it said.
func killWriter(t *testing.T, path string) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-writer="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said, lines := 0, bufio.NewScanner(out)
	for lines.Scan() {
		first := said == 0
		if _, err := fmt.Sscanf(lines.Text(), "saved %d", &said); err != nil {
			t.Fatalf("the writer says %q", lines.Text())
		}
		if first {
			time.AfterFunc(rand.N(40*time.Millisecond), func() { cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the writer ended by itself: %v", err)
	}
	return said
}
