package metal

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/internal/softmetal"
)

// built is the software Metal, without and with AddressSanitizer.
var built struct {
	plain, asan softmetal.Options
	err         error
}

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "softmetal")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		root, err := filepath.Abs("../..")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		built.plain = softmetal.Options{Root: root, Dir: filepath.Join(dir, "plain")}
		built.asan = softmetal.Options{Root: root, Dir: filepath.Join(dir, "asan"), ASan: true}
		if built.err = softmetal.Tools(); built.err == nil {
			for _, o := range []softmetal.Options{built.plain, built.asan} {
				if err := softmetal.Build(o); err != nil {
					fmt.Fprintln(os.Stderr, err)
					return 1
				}
			}
		}
		return m.Run()
	}())
}

// program builds a program of testdata, or skips the test where tools are missing.
func program(t *testing.T, o softmetal.Options, name string) string {
	t.Helper()
	if built.err != nil {
		t.Skip(built.err)
	}
	path, err := o.Program(filepath.Join(o.Root, "tests/metal/testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// What Metal's debug layer refuses, the software Metal does: each call is wrong in one
// thing, and the message says in which.
func TestWrongCallsEndTheProgram(t *testing.T) {
	path := program(t, built.plain, "wrong.m")
	for _, name := range []string{"right", "product_right"} {
		if out, err := exec.Command(path, name).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
	}
	for name, want := range map[string]string{
		"unset_argument":           "kernel twice: nothing is bound to buffer index 1",
		"argument_too_short":       "kernel twice: buffer index 2 has 4 bytes from its offset on, an element of the argument has 8",
		"offset_beyond":            "offset 257 of a buffer of 256 bytes",
		"offset_misaligned":        "kernel twice: buffer index 0 has offset 2, the argument wants a multiple of 4",
		"bytes_too_many":           "4097 bytes, 1 to 4096 are possible",
		"index_beyond":             "buffer index 31, a kernel has 0 to 30",
		"no_pipeline":              "without a pipeline",
		"too_many_threads":         "kernel beyond: a threadgroup of 64 threads, the pipeline's limit is 32",
		"no_groups":                "a grid of 0 x 1 x 1 threadgroups",
		"commit_twice":             "-[MTLCommandBuffer commit] after commit",
		"commit_open":              "with an encoder that is open",
		"two_encoders":             "while another one of its command buffer is open",
		"end_twice":                "-[encoder endEncoding] after endEncoding",
		"encoder_dropped":          "released without endEncoding",
		"handler_late":             "-[MTLCommandBuffer addCompletedHandler:] after commit",
		"handler_without_pool":     "SoftString is autoreleased on a thread without a pool",
		"wait_early":               "waitUntilCompleted] before commit",
		"use_after_release":        "uses a buffer that was released before it was complete",
		"bind_after_release":       "of a buffer that was released",
		"private_contents":         "of private storage",
		"empty_buffer":             "a length of 0",
		"missing_barrier":          "hazard: kernel twice",
		"missing_barrier_to_write": "hazard: kernel twice",
		"missing_fence":            "no fence or wait orders them",
		"out_of_bounds":            "kernel beyond writes 4 bytes of GPU memory outside of the buffers that it was given",
		"fast_math":                "with fast math",
		"blit_of_bytes":            "multiples of 4 are possible",
		"tracked_heap":             "a tracked heap",
		"heap_storage":             "storage mode 0, the heap's is 2",
		"array_beyond":             "NSRangeException: object 7 of an array of 1",
		"not_in_software":          "-[SoftDevice newSharedEvent]: unrecognized selector",
		"event_in_encoder":         "while an encoder is open",
		"event_shrinks":            "an event of value 2 is signalled with 2",
		"product_unordered":        "hazard: kernel MPSMatrixMultiplication reads memory that kernel twice wrote, and no fence or wait orders them",
		"product_in_encoder":       "while another one of its command buffer is open",
		"product_of_short_rows":    "rowBytes 12, for 4 elements of 4 bytes",
		"product_of_odd_rows":      "the left matrix has rows of 20 bytes at offset 0",
		"product_at_odd_offset":    "the left matrix has rows of 16 bytes at offset 8",
		"product_beyond":           "64 bytes at offset 224 of a buffer of 256",
		"product_too_small":        "the left matrix is 1 of 4 x 3, 1 of 4 x 4 are multiplied",
		"product_of_types":         "the left matrix has another type than the result",
		"product_of_bfloat":        "MPSDataTypeBFloat16, with which MPSMatrixMultiplication ends the process",
		"no_pool":                  "autoreleased on a thread without a pool",
		"pools_crossed":            "not the last one made on this thread",
	} {
		t.Run(name, func(t *testing.T) {
			out, err := exec.Command(path, name).CombinedOutput()
			if err == nil || !strings.Contains(string(out), want) {
				t.Errorf("%v: %q, want it to end with %q", err, out, want)
			}
		})
	}
}

// An object that is released too often is found, at the latest by AddressSanitizer.
func TestReleasedTooOften(t *testing.T) {
	path := program(t, built.asan, "wrong.m")
	out, err := exec.Command(path, "release_twice").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "heap-use-after-free") {
		t.Errorf("%v: %s", err, out)
	}
}

// Ten thousand dispatches through the bridge leave no object and take no memory, on a GPU
// that shares the host's and on one that does not. AddressSanitizer finds what is used too
// late and what is lost; how much memory there is, is looked at without it, since it keeps
// what is freed.
func TestManyDispatchesLeaveNothing(t *testing.T) {
	for _, o := range []softmetal.Options{built.plain, built.asan} {
		path := program(t, o, "loop.c")
		for _, kind := range []string{"unified", "discrete"} {
			t.Run(fmt.Sprintf("%s,asan=%v", kind, o.ASan), func(t *testing.T) {
				cmd := exec.Command(path)
				cmd.Env = append(os.Environ(), "SOFTMETAL_DEVICE="+kind, "ASAN_OPTIONS=detect_leaks=1",
					"LSAN_OPTIONS=suppressions=testdata/leaks.txt:print_suppressions=0")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				var early, late struct{ objects, resident int }
				var end int
				_, err = fmt.Sscanf(string(out), "objects %d resident %d\nobjects %d resident %d\nobjects %d\n",
					&early.objects, &early.resident, &late.objects, &late.resident, &end)
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				t.Logf("%d objects and %d KiB after 1,000 dispatches, %d and %d after 10,000, %d objects at the end", early.objects, early.resident, late.objects, late.resident, end)
				if late.objects > early.objects+8 || !o.ASan && late.resident > early.resident+512 {
					t.Error("memory grows")
				}
				if end != 2 { // the device and the process's information are the system's
					t.Errorf("%d objects live after the device was closed", end)
				}
			})
		}
	}
}
