package runtime_test

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/runtime/internal/backend"
)

// card is a backend whose memory no host address leads to, and whose programs do
// nothing.
type card struct {
	backend.Backend // of the reference: its clock
	free            uintptr
	built           []*backend.Program
}

func (c *card) Name() string { return "cuda" }

func (c *card) Alloc(n int64) unsafe.Pointer {
	at := c.free
	c.free += uintptr(n+255) &^ 255
	return unsafe.Add(unsafe.Pointer(nil), at)
}

func (c *card) Free(unsafe.Pointer) {}

func (c *card) Upload(_, src unsafe.Pointer, n int64) error {
	copy(make([]byte, n), unsafe.Slice((*byte)(src), n))
	return nil
}

func (c *card) Download(dst, _ unsafe.Pointer, n int64) error {
	clear(unsafe.Slice((*byte)(dst), n))
	return nil
}

func (c *card) Build(p *backend.Program) (backend.Code, error) {
	c.built = append(c.built, p)
	return c, nil
}

func (c *card) Instance() (backend.Instance, error)          { return blank{}, nil }
func (c *card) Run(uint64, backend.Instance) backend.Result  { return backend.Result{} }
func (c *card) Submit(uint64, backend.Instance)              {}
func (c *card) Wait(uint64, backend.Instance) backend.Result { return backend.Result{} }

type blank struct{}

func (blank) Bind([]unsafe.Pointer, []uint64) {}
func (blank) After([]uint64) error            { return nil }
func (blank) Command() int                    { return -1 }
func (blank) Timed(bool) error                { return nil }
func (blank) Times() []int64                  { return nil }
func (blank) Release()                        {}

func openCard(t *testing.T) (*runtime.Device, *card) {
	c := &card{Backend: runtime.NewReferenceBackend(), free: 1 << 40}
	d := runtime.OpenCUDAOn(c)
	t.Cleanup(func() { d.Close() })
	return d, c
}

// twice is y = 2x over a matrix: a grid of rows, and of columns in tiles.
func twice(source *string) *runtime.Op {
	shape := []runtime.Dim{{0}, {1}}
	return &runtime.Op{
		Name: "twice", Hash: 900, CUDA: source, Axes: []runtime.Axis{{Name: "R"}, {Name: "C"}},
		Ins: []runtime.Arg{{Name: "x", Shape: shape}}, Outs: []runtime.Arg{{Name: "y", Shape: shape}},
		Variants: []runtime.Variant{{
			Ins: []runtime.DType{runtime.F32}, Outs: []runtime.DType{runtime.F32},
			Kernel: []runtime.Kernel{{
				Symbol: "kt_twice", Buffers: []runtime.Buffer{{Tensor: 0}, {Tensor: 1, Write: true, InPlace: []uint8{0}}},
				Block: []runtime.Field{{Size: []uint8{0}}, {Offset: 8, Size: []uint8{1}}}, BlockBytes: 16,
				GPU: runtime.GPULaunch{Grid: []runtime.GridDim{{Axes: []uint8{1}, Tile: 256}, {Axes: []uint8{0}}}, Threads: 128},
			}},
		}},
	}
}

func callTwice(b *runtime.Batch, op *runtime.Op, x tensor) tensor {
	var c runtime.Call
	c.Begin(b, op)
	c.In(x.Untyped())
	c.Record("")
	return runtime.Out[float32](&c, 0)
}

func kernels(p *backend.Program) []backend.Command {
	var k []backend.Command
	for _, c := range p.Commands {
		if c.Kind == backend.Kernel {
			k = append(k, c)
		}
	}
	return k
}

func TestCUDALaunch(t *testing.T) {
	d, c := openCard(t)
	source := "the source"
	op := twice(&source)
	x := from(t, d, sequence(3*1000), 3, 1000)
	b := d.Batch("launch")
	y := callTwice(b, op, callTwice(b, op, x))
	r := runtime.Read(b, y)
	mustSync(t, b)
	if got := value(t, r); len(got) != 3000 {
		t.Errorf("%d elements read", len(got))
	}
	k := kernels(c.built[0])
	if len(k) != 2 {
		t.Fatalf("%d kernels", len(k))
	}
	for _, k := range k {
		if k.Name != "kt_twice" || k.Source != &source || k.Grid != [3]int64{4, 3, 1} || k.Threads != 128 {
			t.Errorf("launch %s %v × %d", k.Name, k.Grid, k.Threads)
		}
		if k.Func != nil || k.Items != 0 || len(k.Block) != 16 || k.Block[0] != 3 {
			t.Errorf("%+v", k)
		}
		if k.Bufs[0] == k.Bufs[1] {
			t.Error("the result is in the operand's memory, which only the C function allows")
		}
	}
}

// A form with smaller tiles runs where the large ones would leave the card idle.
func TestCUDASmallForm(t *testing.T) {
	d, c := openCard(t)
	source := ""
	op := twice(&source)
	tiles := func(side int64) []runtime.GridDim {
		return []runtime.GridDim{{Axes: []uint8{1}, Tile: side}, {Axes: []uint8{0}, Tile: side}}
	}
	op.Variants[0].Kernel[0].GPU = runtime.GPULaunch{Grid: tiles(128), Threads: 256, Small: &runtime.GPULaunch{Grid: tiles(64), Threads: 128}}
	for i, want := range []struct {
		rows, columns int
		name          string
		grid          [3]int64
		threads       int
	}{
		{3, 1000, "kt_twice_small", [3]int64{16, 1, 1}, 128},
		{1024, 1024, "kt_twice_small", [3]int64{16, 16, 1}, 128},
		{1280, 1280, "kt_twice", [3]int64{10, 10, 1}, 256},
		{2048, 2048, "kt_twice", [3]int64{16, 16, 1}, 256},
		{64, 65536, "kt_twice_small", [3]int64{1024, 1, 1}, 128},
	} {
		b := d.Batch("forms")
		b.Keep(callTwice(b, op, from(t, d, make([]float32, want.rows*want.columns), want.rows, want.columns)))
		mustSync(t, b)
		k := kernels(c.built[i])[0]
		if k.Name != want.name || k.Grid != want.grid || k.Threads != want.threads {
			t.Errorf("%d x %d: launch %s %v × %d, want %s %v × %d", want.rows, want.columns, k.Name, k.Grid, k.Threads, want.name, want.grid, want.threads)
		}
	}
}

// Blocks of rows whose columns are summed up fill the card once: their number follows from
// the threads that a row takes.
func TestCUDABlocks(t *testing.T) {
	d, c := openCard(t)
	source := ""
	op := twice(&source)
	op.Axes = append(op.Axes, runtime.Axis{Name: "R_blocks", ChunkOf: []uint8{0}, Chunk: 16, Blocks: true})
	op.Outs[0].Shape = op.Outs[0].Shape[1:]
	v := &op.Variants[0]
	v.Temps = []runtime.Temp{{Type: runtime.F32, Axes: []uint8{2, 1}}}
	rows, sum := v.Kernel[0], v.Kernel[0]
	rows.Buffers = []runtime.Buffer{{Tensor: 0}, {Tensor: 2, Write: true}}
	rows.GPU = runtime.GPULaunch{Grid: []runtime.GridDim{{Axes: []uint8{2}, Tile: 1}}, Row: runtime.GridDim{Axes: []uint8{1}, Tile: 8}, Threads: 512}
	sum.Buffers = []runtime.Buffer{{Tensor: 2}, {Tensor: 1, Write: true}}
	sum.GPU = runtime.GPULaunch{Grid: []runtime.GridDim{{Axes: []uint8{1}, Tile: 16}}, Threads: 256}
	v.Kernel = []runtime.Kernel{rows, sum}
	for i, want := range []struct{ rows, columns, blocks int }{
		{16384, 4096, 256},
		{16385, 4096, 253}, // of 65 rows
		{4096, 1024, 1024},
		{1024, 1024, 256}, // of four rows
		{3, 40, 1},
		{1 << 16, 8, 4096},
		{1 << 21, 1, 8192}, // of 256 rows
	} {
		b := d.Batch("blocks")
		b.Keep(callTwice(b, op, from(t, d, make([]float32, want.rows*want.columns), want.rows, want.columns)))
		mustSync(t, b)
		k := kernels(c.built[i])[0]
		if k.Grid != [3]int64{int64(want.blocks), 1, 1} || k.Bufs[1].Bytes != int64(4*want.blocks*want.columns) {
			t.Errorf("%d x %d: %v blocks, %d bytes for their sums, want %d", want.rows, want.columns, k.Grid, k.Bufs[1].Bytes, want.blocks)
		}
	}
}

func TestCUDAGrids(t *testing.T) {
	d, c := openCard(t)
	source := ""
	op := twice(&source)
	b := d.Batch("nothing")
	b.Keep(callTwice(b, op, from[float32](t, d, nil, 0, 5)))
	mustSync(t, b)
	if n := len(c.built[0].Commands); n != 0 {
		t.Errorf("%d commands for a tensor without elements", n)
	}
	b = d.Batch("tall")
	b.Keep(callTwice(b, op, from(t, d, sequence(1<<16), 1<<16, 1)))
	err := b.Sync(background)
	if !errors.Is(err, runtime.ErrShape) || !strings.Contains(err.Error(), "kt_twice would have [1 65536 1] blocks") {
		t.Errorf("got %v", err)
	}
}

func TestNoCUDAKernel(t *testing.T) {
	d, _ := openCard(t)
	b := d.Batch("none")
	callTwice(b, twice(nil), from(t, d, sequence(4), 2, 2))
	err := b.Sync(background)
	if !errors.Is(err, runtime.ErrNoKernel) || !strings.Contains(err.Error(), "no CUDA kernel was generated") {
		t.Errorf("got %v", err)
	}
}

func TestCUDAOptions(t *testing.T) {
	for _, opts := range [][]runtime.Option{
		{runtime.CUDA(-1)},
		{runtime.CUDA(0), runtime.WithGuards()},
		{runtime.WithISA("baseline"), runtime.CUDA(0)},
		{runtime.WithTF32()},
		{runtime.WithTF32(), runtime.WithoutLibraries(), runtime.CUDA(0)},
		{runtime.Reference(), runtime.CUDA(0)},
	} {
		if _, err := runtime.Open(opts...); !errors.Is(err, runtime.ErrOption) {
			t.Errorf("got %v", err)
		}
	}
	d, err := runtime.Open(runtime.CUDA(1000)) // no machine has it
	if err == nil {
		d.Close()
	}
	if !errors.Is(err, runtime.ErrUnavailable) || !strings.Contains(err.Error(), "cuda: ") {
		t.Errorf("got %v", err)
	}
}

// multiply is c = gelu(a bᵀ + bias), which keeps the argument of the GELU as a lazy
// output: as the compiler would describe it.
func multiply(source *string) *runtime.Op {
	return &runtime.Op{
		Name: "multiply", Hash: 901, CUDA: source, Axes: []runtime.Axis{{Name: "Z", Group: true}, {Name: "M"}, {Name: "K"}, {Name: "N"}},
		Ins: []runtime.Arg{{Name: "a", Shape: []runtime.Dim{{0}, {1}, {2}}}, {Name: "b", Shape: []runtime.Dim{{0}, {3}, {2}}}, {Name: "bias", Shape: []runtime.Dim{{3}}}},
		Outs: []runtime.Arg{
			{Name: "c", Shape: []runtime.Dim{{0}, {1}, {3}}}, {Name: "pre", Shape: []runtime.Dim{{0}, {1}, {3}}, Lazy: true},
		},
		Variants: []runtime.Variant{{
			Ins: []runtime.DType{runtime.F32, runtime.F32, runtime.F32}, Outs: []runtime.DType{runtime.F32, runtime.F32},
			Kernel: []runtime.Kernel{{
				Symbol:  "kt_multiply",
				Buffers: []runtime.Buffer{{Tensor: 0}, {Tensor: 1}, {Tensor: 2}, {Tensor: 3, Write: true}, {Tensor: 4, Write: true}},
				Product: &runtime.Product{Type: runtime.F32, A: 0, B: 1, C: 3, Bias: 3, Batch: []uint8{0}, M: []uint8{1}, N: []uint8{3}, K: []uint8{2}, TransB: true, GELU: true},
				GPU:     runtime.GPULaunch{Threads: 128},
			}},
		}},
	}
}

// A kernel that a library has, too, is said to be that with its sizes, unless more of it
// is wanted, nothing is summed, or no library may be used.
func TestCUDAProducts(t *testing.T) {
	source := ""
	op := multiply(&source)
	product := func(k int, lazy bool, opts ...runtime.Option) *backend.Product {
		c := &card{Backend: runtime.NewReferenceBackend(), free: 1 << 40}
		d := runtime.OpenCUDAOn(c, opts...)
		t.Cleanup(func() { d.Close() })
		b := d.Batch("product")
		var call runtime.Call
		call.Begin(b, op)
		call.In(from(t, d, make([]float32, 2*3*5*k), 2, 3, 5, k).Untyped())
		call.In(from(t, d, make([]float32, 2*3*7*k), 2, 3, 7, k).Untyped())
		call.In(from(t, d, make([]float32, 7), 7).Untyped())
		call.Record("")
		b.Keep(runtime.Out[float32](&call, 0))
		if lazy {
			runtime.Read(b, runtime.Out[float32](&call, 1))
		}
		mustSync(t, b)
		return kernels(c.built[0])[0].Product
	}
	want := backend.Product{Type: backend.F32, A: 0, B: 1, C: 3, Bias: 2, Batch: 6, M: 5, N: 7, K: 4, TransB: true, GELU: true}
	if got := product(4, false); got == nil || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	want.TF32 = true
	if got := product(4, false, runtime.WithTF32()); got == nil || *got != want {
		t.Errorf("with TF32: got %+v, want %+v", got, want)
	}
	for what, got := range map[string]*backend.Product{
		"the lazy output is read": product(4, true),
		"the sum is over nothing": product(0, false),
		"without libraries":       product(4, false, runtime.WithoutLibraries()),
	} {
		if got != nil {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// A product of few tiles and a long sum runs in parts, which leave their sums in a
// workspace, and a launch that joins them.
func TestCUDASplitForm(t *testing.T) {
	source := ""
	op := multiply(&source)
	op.Outs = op.Outs[:1]
	v := &op.Variants[0]
	v.Outs = v.Outs[:1]
	k := &v.Kernel[0]
	k.Buffers = k.Buffers[:4]
	grid := func(tile int64, z ...uint8) []runtime.GridDim {
		return []runtime.GridDim{{Axes: []uint8{3}, Tile: tile}, {Axes: []uint8{1}, Tile: tile}, {Axes: z, Tile: 1}}
	}
	k.GPU = runtime.GPULaunch{Grid: grid(128, 0), Threads: 256, Small: &runtime.GPULaunch{Grid: grid(64, 0), Threads: 128}}
	k.Split = &runtime.SplitForm{Depth: []uint8{2}, Sums: []uint8{4, 0, 1, 3}, Parts: runtime.Kernel{
		Symbol: "kt_parts", Buffers: []runtime.Buffer{{Tensor: 0}, {Tensor: 1}, {Tensor: 4, Write: true}},
		Block: []runtime.Field{{Size: []uint8{2}}, {Offset: 8, Size: []uint8{4}}}, BlockBytes: 16,
		GPU: runtime.GPULaunch{Grid: grid(64, 4, 0), Threads: 128},
	}, Join: runtime.Kernel{
		Symbol: "kt_join", Buffers: []runtime.Buffer{{Tensor: 4}, {Tensor: 2}, {Tensor: 3, Write: true}},
		Block: []runtime.Field{{Size: []uint8{4}}}, BlockBytes: 8,
		GPU: runtime.GPULaunch{Grid: []runtime.GridDim{{Axes: []uint8{0, 1, 3}, Tile: 32}}, Threads: 512},
	}}
	launched := func(m, n, k int, opts ...runtime.Option) []backend.Command {
		c := &card{Backend: runtime.NewReferenceBackend(), free: 1 << 40}
		d := runtime.OpenCUDAOn(c, opts...)
		t.Cleanup(func() { d.Close() })
		b := d.Batch("product")
		var call runtime.Call
		call.Begin(b, op)
		call.In(from(t, d, make([]float32, m*k), 1, m, k).Untyped())
		call.In(from(t, d, make([]float32, n*k), 1, n, k).Untyped())
		call.In(from(t, d, make([]float32, n), n).Untyped())
		call.Record("")
		b.Keep(runtime.Out[float32](&call, 0))
		mustSync(t, b)
		return kernels(c.built[0])
	}
	for _, c := range []struct{ m, n, k, parts int }{
		{5, 7, 4096, 16},
		{5, 7, 1 << 17, 256},
		{128, 512, 4096, 16},
		{1, 4096, 4096, 4},
		{1, 4160, 4096, 1}, // tiles enough for half of the card
		{5, 7, 1023, 1},
		{0, 7, 4096, 0},
	} {
		list := launched(c.m, c.n, c.k, runtime.WithoutLibraries())
		if c.parts < 2 {
			if len(list) != c.parts || c.parts == 1 && list[0].Name != "kt_multiply_small" {
				t.Errorf("%+v: %d launches, %+v", c, len(list), list)
			}
			continue
		}
		if len(list) != 2 || list[0].Name != "kt_parts" || list[1].Name != "kt_join" {
			t.Errorf("%+v: %+v", c, list)
			continue
		}
		parts, join := list[0], list[1]
		blocks := [3]int64{int64(c.n+63) / 64, int64(c.m+63) / 64, int64(c.parts)}
		if parts.Grid != blocks || parts.Threads != 128 || join.Grid != [3]int64{int64(c.m*c.n+31) / 32, 1, 1} || join.Threads != 512 {
			t.Errorf("%+v: launches %v × %d and %v × %d", c, parts.Grid, parts.Threads, join.Grid, join.Threads)
		}
		sums := parts.Bufs[2]
		if sums.Bytes != int64(4*c.parts*c.m*c.n) || !sums.Write || sums.Slot != join.Bufs[0].Slot || sums.Off != join.Bufs[0].Off || join.Bufs[0].Write {
			t.Errorf("%+v: the workspace is %+v and %+v", c, sums, join.Bufs[0])
		}
		if n := *(*int64)(unsafe.Pointer(&parts.Block[8])); n != int64(c.parts) || n != *(*int64)(unsafe.Pointer(&join.Block[0])) {
			t.Errorf("%+v: blocks of %d parts", c, n)
		}
	}
	if list := launched(5, 7, 4096); len(list) != 1 || list[0].Product == nil {
		t.Errorf("what a library may do is split: %+v", list)
	}
}

// Kernels compute with 64 bits where a tensor has more elements than 32 reach.
func TestCUDAIndex64(t *testing.T) {
	source := "the source"
	op := &runtime.Op{
		Name: "spread", Hash: 902, CUDA: &source, Axes: []runtime.Axis{{Name: "R", Free: true}, {Name: "C"}},
		Ins: []runtime.Arg{{Name: "x", Shape: []runtime.Dim{{1}}}}, Outs: []runtime.Arg{{Name: "y", Shape: []runtime.Dim{{0}, {1}}}},
		Variants: []runtime.Variant{{
			Ins: []runtime.DType{runtime.F16}, Outs: []runtime.DType{runtime.F16},
			Kernel: []runtime.Kernel{{
				Symbol: "kt_spread", Buffers: []runtime.Buffer{{Tensor: 0}, {Tensor: 1, Write: true}},
				GPU: runtime.GPULaunch{Grid: []runtime.GridDim{{Axes: []uint8{0, 1}, Tile: 2048}}, Threads: 256},
			}},
		}},
	}
	for _, c := range []struct {
		rows int
		far  bool
	}{{1, false}, {1<<21 - 1<<10, false}, {1<<21 - 1<<10 + 1, true}, {1 << 23, true}} {
		d, card := openCard(t)
		b := d.Batch("far")
		var call runtime.Call
		call.Begin(b, op)
		call.In(from(t, d, make([]runtime.Float16, 1024), 1024).Untyped())
		call.Free(c.rows)
		call.Record("")
		b.Keep(runtime.Out[runtime.Float16](&call, 0))
		mustSync(t, b)
		k := kernels(card.built[0])[0]
		if far := strings.HasPrefix(*k.Source, "#define KG_INDEX_64\n"); far != c.far || !strings.HasSuffix(*k.Source, source) {
			t.Errorf("%d rows: the source is %q", c.rows, *k.Source)
		}
	}
}
