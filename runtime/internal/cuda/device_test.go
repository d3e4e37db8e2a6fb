//go:build cudatest && linux && cgo

package cuda

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/kernelgen/kgen/runtime/internal/backend"
)

const faultStruct = `
struct kg_fault { int lock, set, op, tensor; long long pos, value, bound; };
`

// y = a + s·b; guarded, so that a fault stops it.
var addSource = faultStruct + `
struct kt_add_args { long long n; float s; int unused; };
extern "C" __global__ void kt_add(void *const *buf, const kt_add_args *args, kg_fault *fault, int op) {
	if (fault->set) return;
	long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < args->n) ((float *)buf[2])[i] = ((const float *)buf[0])[i] + args->s * ((const float *)buf[1])[i];
}
`

// Sets the fault word if the first element is negative.
var checkSource = faultStruct + `
struct kt_check_args { long long n; };
extern "C" __global__ void kt_check(void *const *buf, const kt_check_args *args, kg_fault *fault, int op) {
	float x = ((const float *)buf[0])[0];
	if (x >= 0 || fault->set) return;
	fault->op = op;
	fault->tensor = 1;
	fault->pos = args->n;
	fault->value = (long long)x;
	fault->bound = 64;
	fault->set = 1;
}
`

// Holds the card until so many nanoseconds are over.
var sleepSource = faultStruct + `
struct kt_sleep_args { long long ns; };
extern "C" __global__ void kt_sleep(void *const *buf, const kt_sleep_args *args, kg_fault *fault, int op) {
	unsigned long long now, end;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
	end += args->ns;
	do {
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	} while (now < end);
}
`

func open(t testing.TB) *Device {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	return openCached(t)
}

// openCached opens a card with the cache of the test.
func openCached(t testing.TB) *Device {
	t.Helper()
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if d.c != nil {
			d.Close()
		}
	})
	return d
}

func block(words ...uint64) []byte {
	var b []byte
	for _, w := range words {
		b = binary.NativeEndian.AppendUint64(b, w)
	}
	return b
}

func bufs(slots ...int32) []backend.Buf {
	b := make([]backend.Buf, len(slots))
	for i, s := range slots {
		b[i].Slot = s
	}
	return b
}

// add is slot y ← slot a + parameter·slot b.
func add(n int, a, b, y int32) backend.Command {
	return backend.Command{
		Kind: backend.Kernel, Name: "kt_add", Guarded: true, Source: &addSource,
		Grid: [3]int64{int64(n+127) / 128, 1, 1}, Threads: 128,
		Bufs: bufs(a, b, y), Block: block(uint64(n), 0), Patches: []backend.Patch{{Off: 8, Bytes: 4}},
	}
}

func single(name string, source *string, op int32, arg uint64, slots ...int32) backend.Command {
	return backend.Command{
		Kind: backend.Kernel, Name: name, Op: op, Source: source, Grid: [3]int64{1, 1, 1}, Threads: 1,
		Bufs: bufs(slots...), Block: block(arg),
	}
}

// sleep holds the card for a time.
func sleep(d time.Duration) backend.Command { return single("kt_sleep", &sleepSource, 0, uint64(d)) }

func build(t testing.TB, d *Device, slots int, cmds ...backend.Command) backend.Code {
	t.Helper()
	c, err := d.Build(&backend.Program{Slots: slots, Params: 1, Commands: cmds})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func take(t testing.TB, c backend.Code) backend.Instance {
	t.Helper()
	in, err := c.Instance()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if in.(*instance).code.dev.c != nil {
			in.Release()
		}
	})
	return in
}

func scalar(s float32) []uint64 { return []uint64{uint64(math.Float32bits(s))} }

// tensor puts elements on the card.
func tensor(t testing.TB, d *Device, x []float32) unsafe.Pointer {
	t.Helper()
	p := d.Alloc(int64(4 * len(x)))
	if p == nil {
		t.Fatal("no memory")
	}
	put(t, d, p, x)
	return p
}

func put(t testing.TB, d *Device, p unsafe.Pointer, x []float32) {
	t.Helper()
	if err := d.Upload(p, unsafe.Pointer(&x[0]), int64(4*len(x))); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, d *Device, p unsafe.Pointer, n int) []float32 {
	t.Helper()
	x := make([]float32, n)
	if err := d.Download(unsafe.Pointer(&x[0]), p, int64(4*n)); err != nil {
		t.Fatal(err)
	}
	return x
}

func ramp(n int, by float32) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i) * by
	}
	return x
}

func run(t testing.TB, d *Device, seq uint64, in backend.Instance) {
	t.Helper()
	if r := d.Run(seq, in); !r.OK() {
		t.Fatalf("program %d: %+v", seq, r)
	}
}

func wantAll(t testing.TB, what string, got []float32, want func(i int) float32) {
	t.Helper()
	for i, x := range got {
		if x != want(i) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, x, want(i))
		}
	}
}

// From the second run on a program is a graph, which takes new scalars and addresses.
func TestReplay(t *testing.T) {
	d := open(t)
	const n = 1000
	in := take(t, build(t, d, 3, add(n, 0, 1, 2)))
	a, b := tensor(t, d, ramp(n, 1)), tensor(t, d, ramp(n, 10))
	for seq := uint64(1); seq <= 5; seq++ {
		y := tensor(t, d, ramp(n, 0))
		if uintptr(y)%256 != 0 {
			t.Errorf("address %p", y)
		}
		s := float32(seq)
		in.Bind([]unsafe.Pointer{a, b, y}, scalar(s))
		if err := in.After(nil); err != nil {
			t.Fatal(err)
		}
		run(t, d, seq, in)
		wantAll(t, "a + s b", get(t, d, y, n), func(i int) float32 { return float32(i) + s*10*float32(i) })
	}
	if got := d.Replays(); got != 4 {
		t.Errorf("%d replays of 5 runs, want 4", got)
	}
}

func TestCopyAndFill(t *testing.T) {
	d := open(t)
	const n = 40000 // more than two tiles, and a tail
	bytes := make([]byte, n)
	for i := range bytes {
		bytes[i] = byte(i * 7)
	}
	src, dst := d.Alloc(n), d.Alloc(2*n)
	in := take(t, build(t, d, 2,
		backend.Command{Kind: backend.Fill, Name: "fill", Pattern: 0x0807060504030201, Bytes: 20003, Bufs: []backend.Buf{{Slot: 1, Off: 64}}},
		backend.Command{Kind: backend.Fill, Name: "odd", Pattern: 0x0807060504030201, Bytes: 21, Bufs: []backend.Buf{{Slot: 1, Off: 33}}},
		backend.Command{Kind: backend.Copy, Name: "copy", Bytes: n - 3, Bufs: []backend.Buf{{Slot: 1, Off: 24000}, {Slot: 0}}},
		backend.Command{Kind: backend.Copy, Name: "part", Bytes: 5, Bufs: []backend.Buf{{Slot: 1}, {Slot: 0, Off: 1}}},
		backend.Command{Kind: backend.Copy, Name: "none", Bytes: 0, Bufs: bufs(1, 0)},
		backend.Command{Kind: backend.Copy, Name: "self", Bytes: 100, Bufs: bufs(1, 1)},
		backend.Command{Kind: backend.Copy, Name: "undo", Bytes: 100, OnFault: true, Bufs: bufs(1, 0)},
	))
	if err := d.Upload(src, unsafe.Pointer(&bytes[0]), n); err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 2*n)
	for seq := uint64(1); seq <= 3; seq++ {
		want := make([]byte, 2*n)
		for i := range 20003 {
			want[64+i] = byte(i&7 + 1)
		}
		for i := range 21 {
			want[33+i] = byte(i&7 + 1)
		}
		copy(want[24000:], bytes[:n-3])
		copy(want, bytes[1:6])
		if err := d.Upload(dst, unsafe.Pointer(&zeros[0]), 2*n); err != nil {
			t.Fatal(err)
		}
		in.Bind([]unsafe.Pointer{src, dst}, []uint64{0})
		run(t, d, seq, in)
		got := make([]byte, 2*n)
		if err := d.Download(unsafe.Pointer(&got[0]), dst, 2*n); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("run %d: byte %d is %d, want %d", seq, i, got[i], want[i])
			}
		}
	}
}

// faulty updates slot 0 in place, then checks slot 1, then updates slot 0 again; a
// fault restores slot 0 from slot 2.
func faulty(n int) []backend.Command {
	bytes := int64(4 * n)
	return []backend.Command{
		{Kind: backend.Copy, Name: "save", Bytes: bytes, Bufs: bufs(2, 0)},
		add(n, 0, 0, 0),
		single("kt_check", &checkSource, 7, 5, 1),
		add(n, 0, 0, 0),
		{Kind: backend.Copy, Name: "restore", Bytes: bytes, OnFault: true, Bufs: bufs(0, 2)},
	}
}

func TestFaultRestores(t *testing.T) {
	d := open(t)
	const n = 5000
	in := take(t, build(t, d, 3, faulty(n)...))
	x, save := tensor(t, d, ramp(n, 1)), tensor(t, d, ramp(n, 0))
	good, bad := tensor(t, d, []float32{1}), tensor(t, d, []float32{-3})
	factor := float32(1)
	for seq := uint64(1); seq <= 6; seq++ {
		if seq%2 == 1 {
			in.Bind([]unsafe.Pointer{x, good, save}, scalar(1))
			run(t, d, seq, in)
			factor *= 4
		} else {
			in.Bind([]unsafe.Pointer{x, bad, save}, scalar(1))
			r := d.Run(seq, in)
			want := backend.Fault{Set: true, Op: 7, Tensor: 1, Pos: 5, Value: -3, Bound: 64}
			if r.Fault != want || r.Err != nil || r.Skipped {
				t.Fatalf("program %d: %+v", seq, r)
			}
		}
		wantAll(t, "x", get(t, d, x, n), func(i int) float32 { return float32(i) * factor })
	}
}

// A program that depends on one that failed is skipped, and so is one that depends
// on it; others are not.
func TestSkipAfterFailure(t *testing.T) {
	d := open(t)
	const n = 100
	failing, adding := build(t, d, 3, faulty(n)...), build(t, d, 3, add(n, 0, 1, 2))
	x, save, bad := tensor(t, d, ramp(n, 1)), tensor(t, d, ramp(n, 0)), tensor(t, d, []float32{-1})
	f := take(t, failing)
	ins := []backend.Instance{take(t, adding), take(t, adding), take(t, adding), take(t, adding)}
	seq := uint64(0)
	for round := range 3 { // the later ones are replays
		f.Bind([]unsafe.Pointer{x, bad, save}, scalar(1))
		d.Submit(seq+1, f)
		y := tensor(t, d, ramp(n, 0))
		for k, after := range [][]uint64{{seq + 1}, {seq, seq + 2}, {seq}, nil} {
			in := ins[k]
			in.Bind([]unsafe.Pointer{x, x, y}, scalar(float32(k)))
			if err := in.After(after); err != nil {
				t.Fatal(err)
			}
			d.Submit(seq+2+uint64(k), in)
		}
		if r := d.Wait(seq+1, f); !r.Fault.Set {
			t.Fatalf("round %d: %+v", round, r)
		}
		for k, in := range ins {
			if r := d.Wait(seq+2+uint64(k), in); r.Skipped != (k < 2) || r.Fault.Set || r.Err != nil {
				t.Fatalf("round %d, program %d: %+v", round, k, r)
			}
		}
		wantAll(t, "y", get(t, d, y, n), func(i int) float32 { return 4 * float32(i) })
		seq += 5
	}
	if err := take(t, adding).After(make([]uint64, 257)); err == nil {
		t.Error("257 dependencies accepted")
	}
}

// Programs in flight run in the order of their numbers, also where Run and Submit mix.
func TestInFlight(t *testing.T) {
	d := open(t)
	const n, programs = 256, 24
	c := build(t, d, 3, add(n, 0, 1, 2))
	hold := take(t, build(t, d, 0, sleep(50*time.Millisecond)))
	x, one := tensor(t, d, ramp(n, 0)), tensor(t, d, slices.Repeat([]float32{1}, n))
	hold.Bind(nil, []uint64{0})
	d.Submit(1, hold)
	var ins []backend.Instance
	for k := range programs { // x ← x + k, and every other time x ← x + k·x
		in := take(t, c)
		in.Bind([]unsafe.Pointer{x, [2]unsafe.Pointer{one, x}[k%2], x}, scalar(float32(k%3)))
		d.Submit(uint64(k)+2, in)
		ins = append(ins, in)
	}
	if d.Await(programs+1, time.Millisecond) {
		t.Error("the last program is complete before the first")
	}
	if !d.Await(programs+1, time.Minute) {
		t.Error("the last program is not complete")
	}
	want := float32(0)
	for k, in := range ins {
		if r := d.Wait(uint64(k)+2, in); !r.OK() {
			t.Fatalf("%+v", r)
		}
		if k%2 == 0 {
			want += float32(k % 3)
		} else {
			want += float32(k%3) * want
		}
	}
	wantAll(t, "x", get(t, d, x, n), func(int) float32 { return want })
}

// A program that is run is on the stream before the one after it that is submitted
// first.
func TestSubmitWaitsForItsTurn(t *testing.T) {
	d := open(t)
	c := build(t, d, 0, sleep(time.Millisecond))
	first, second := take(t, c), take(t, c)
	first.Bind(nil, []uint64{0})
	second.Bind(nil, []uint64{0})
	done := make(chan backend.Result)
	go func() {
		d.Submit(2, second)
		done <- d.Wait(2, second)
	}()
	time.Sleep(10 * time.Millisecond)
	run(t, d, 1, first)
	if r := <-done; !r.OK() {
		t.Errorf("%+v", r)
	}
}

// Transfers and memory do not wait for a program that runs.
func TestTransfersBesideAProgram(t *testing.T) {
	d := open(t)
	const n = 3 << 20 // three pieces of the staging memory
	hold := take(t, build(t, d, 0, sleep(2*time.Second)))
	hold.Bind(nil, []uint64{0})
	spare := tensor(t, d, ramp(n, 2))
	d.Submit(1, hold)
	start := time.Now()
	p := tensor(t, d, ramp(n, 3))
	wantAll(t, "what was uploaded", get(t, d, p, n), func(i int) float32 { return 3 * float32(i) })
	d.Free(spare)
	d.Free(p)
	if took := time.Since(start); took > time.Second {
		t.Errorf("transfers waited for the program: %v", took)
	}
	if d.Await(1, 0) {
		t.Error("the program is complete already: the test says nothing")
	}
	if r := d.Wait(1, hold); !r.OK() {
		t.Errorf("%+v", r)
	}
}

func TestOutOfMemory(t *testing.T) {
	d := open(t)
	if p := d.Alloc(math.MaxInt64 / 2); p != nil {
		t.Error("got memory that cannot be")
	}
	var held []unsafe.Pointer
	for { // of a real card
		p := d.Alloc(16 << 30)
		if p == nil {
			break
		}
		held = append(held, p)
	}
	t.Logf("%d times 16 GiB", len(held))
	for _, p := range held {
		d.Free(p)
	}
	if p := d.Alloc(1 << 20); p == nil {
		t.Error("nothing is left after memory was given back")
	}
}

func TestBuildErrors(t *testing.T) {
	d := open(t)
	broken := "extern \"C\" __global__ void kt_broken(int *p) { *p = nobody_knows_it; }\n"
	other := "extern \"C\" __global__ void kt_other(int *p) { *p = 1 }\n"
	for _, c := range []struct {
		cmds []backend.Command
		want []string
	}{
		{[]backend.Command{single("kt_broken", &broken, 0, 0), single("kt_other", &other, 0, 0)},
			[]string{"kernel kt_broken does not compile", "nobody_knows_it", "kernel kt_other does not compile"}},
		{[]backend.Command{single("kt_absent", &addSource, 0, 0)}, []string{"kt_absent does not define it", "CUDA_ERROR_NOT_FOUND"}},
		{[]backend.Command{{Kind: backend.Kernel, Name: "kt_add", Source: &addSource, Grid: [3]int64{1, 1, 1}, Threads: 1025}}, []string{"blocks of 1025 threads", "allow 1024"}},
		{[]backend.Command{{Kind: backend.Host, Name: "h"}}, []string{"h has no CUDA source"}},
		{[]backend.Command{{Kind: backend.Kernel, Name: "k", Source: &addSource}}, []string{"grid of [0 0 0]"}},
		{[]backend.Command{{Kind: backend.Fill, Name: "f", OnFault: true, Bufs: bufs(0)}}, []string{"only a copy can"}},
	} {
		_, err := d.Build(&backend.Program{Slots: 1, Commands: c.cmds})
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", c.cmds[0].Name, err, want)
			}
		}
	}
}

// A source is compiled once for a device, and once for all devices of a cache.
func TestCompiledOnce(t *testing.T) {
	d := open(t)
	own := d.Compiled()
	again := string(append([]byte(nil), addSource...)) // equal, elsewhere
	cmd := add(10, 0, 1, 2)
	build(t, d, 3, add(10, 0, 1, 2), cmd)
	cmd.Source = &again
	build(t, d, 3, cmd)
	if n := d.Compiled() - own; n != 1 {
		t.Errorf("compiled %d times", n)
	}
	e := openCached(t)
	build(t, e, 3, cmd)
	if n := e.Compiled(); n != 0 {
		t.Errorf("%d sources compiled that are in the cache", n)
	}
	path := d.cachePath(addSource)
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	f := openCached(t)
	build(t, f, 3, cmd)
	if n := f.Compiled(); n != 1 {
		t.Errorf("compiled %d times where the file is damaged", n)
	}
}

// The times of a run grow, on the clock of Now; a timed run is not a replay.
func TestTimes(t *testing.T) {
	d := open(t)
	in := take(t, build(t, d, 0, sleep(20*time.Millisecond), sleep(time.Millisecond)))
	in.Bind(nil, []uint64{0})
	run(t, d, 1, in)
	run(t, d, 2, in)
	replays := d.Replays()
	if err := in.Timed(true); err != nil {
		t.Fatal(err)
	}
	before := d.Now()
	run(t, d, 3, in)
	after := d.Now()
	times := in.Times()
	if len(times) != 3 || times[0] < before || times[2] > after || d.Replays() != replays {
		t.Fatalf("%v in [%d, %d], %d replays", times, before, after, d.Replays()-replays)
	}
	first, second := time.Duration(times[1]-times[0]), time.Duration(times[2]-times[1])
	if first < 19*time.Millisecond || first > 25*time.Millisecond || second < time.Millisecond || second > 5*time.Millisecond {
		t.Errorf("took %v and %v", first, second)
	}
	if err := in.Timed(false); err != nil {
		t.Fatal(err)
	}
	run(t, d, 4, in)
	if d.Replays() != replays+1 {
		t.Error("no replay after times are off")
	}
}

// Closing a device leaves a new one all it needs.
func TestClose(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for range 3 {
		d, err := Open(0)
		if err != nil {
			t.Fatal(err)
		}
		in, err := build(t, d, 3, add(10, 0, 1, 2)).Instance()
		if err != nil {
			t.Fatal(err)
		}
		x := tensor(t, d, ramp(10, 1))
		in.Bind([]unsafe.Pointer{x, x, x}, scalar(1))
		run(t, d, 1, in)
		wantAll(t, "x", get(t, d, x, 10), func(i int) float32 { return 2 * float32(i) })
		in.Release()
		d.Free(x)
		d.Close()
	}
}

func TestNoSuchCard(t *testing.T) {
	_, err := Open(1000)
	var e *Error
	if !errors.As(err, &e) || e.Code != 101 || !strings.Contains(err.Error(), "cards") {
		t.Errorf("got %v", err)
	}
}

// What a small program costs, by itself and as a replay.
func BenchmarkRun(b *testing.B) {
	b.Setenv("XDG_CACHE_HOME", b.TempDir())
	d := openCached(b)
	x := tensor(b, d, ramp(256, 1))
	seq := uint64(0)
	for _, n := range []int{1, 10, 100} {
		cmds := slices.Repeat([]backend.Command{add(256, 0, 0, 0)}, n)
		c := build(b, d, 1, cmds...)
		for _, mode := range []string{"replayed", "launched"} {
			in := take(b, c)
			in.(*instance).launchAlways(mode == "launched")
			b.Run(fmt.Sprintf("%s/%d", mode, n), func(b *testing.B) {
				for b.Loop() {
					in.Bind([]unsafe.Pointer{x}, scalar(0))
					seq++
					run(b, d, seq, in)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/command")
			})
		}
	}
}
