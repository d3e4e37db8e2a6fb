package optest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/runtime"
)

// Param is a value for a scalar argument.
type Param struct {
	name  string
	value runtime.Scalar
}

// Default gives a scalar argument the value that is tried first.
func Default[V float32 | int32 | uint32 | uint64 | bool](name string, v V) Param {
	return Param{name, runtime.ScalarOf(v)}
}

// Check runs every variant of op, and of its gradient if it has one, on the
// default device and on the reference device and compares the results; and it
// compares the gradient with the slope of the operation. Arguments are made for
// several shapes, with extents of one and of zero among them and each axis long
// in some, such that the conditions of the op hold. The default device has
// guards, so that it also shows what a kernel writes where it must not, or does
// not write. Outputs that a kernel may compute in the memory of an input are
// computed there too, and must have the same bits.
func Check(t *testing.T, op *runtime.Op, params ...Param) {
	t.Helper()
	dev := open(t, runtime.WithGuards())
	ref := open(t, runtime.Reference())
	c := &checker{dev: dev, ref: ref, params: params}
	for i := range op.Variants {
		t.Run(variantName(&op.Variants[i]), func(t *testing.T) {
			c.parity(t, op, i)
			inPlace(t, op, i, params)
		})
	}
	if op.Grad == nil {
		return
	}
	for i := range op.Grad.Op.Variants {
		t.Run("grad/"+variantName(&op.Grad.Op.Variants[i]), func(t *testing.T) {
			c.parity(t, op.Grad.Op, i)
			inPlace(t, op.Grad.Op, i, params)
		})
	}
	t.Run("slope", func(t *testing.T) { c.slope(t, op) })
}

// checker holds the devices of one Check.
type checker struct {
	dev, ref *runtime.Device
	params   []Param
}

func open(t *testing.T, opts ...runtime.Option) *runtime.Device {
	t.Helper()
	d, err := runtime.Open(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// variantName names a variant by the types of its arguments: "f32,i32-f32".
func variantName(v *runtime.Variant) string {
	return typeList(v.Ins) + "-" + typeList(v.Outs)
}

func typeList(types []runtime.DType) string {
	var names []string
	for _, t := range types {
		names = append(names, t.String())
	}
	return strings.Join(names, ",")
}

// reporter is the part of a test that checks report to.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// parity compares both devices for all rounds of arguments.
func (c *checker) parity(t reporter, op *runtime.Op, variant int) {
	tried := 0
	for round := range roundsOf(op) {
		a, ok := newArguments(op, variant, round, c.params)
		if !ok {
			continue
		}
		tried++
		c.compare(t, a)
	}
	if tried == 0 {
		t.Errorf("%s: found no arguments that meet its conditions", op.Name)
	}
}

func (c *checker) compare(t reporter, a *arguments) {
	t.Helper()
	want, wantErr := a.run(c.ref)
	got, gotErr := a.run(c.dev)
	if wantErr != nil || gotErr != nil {
		if !sameError(wantErr, gotErr) && !(a.empty() && onlyFault(wantErr, gotErr)) {
			t.Errorf("%s: error %v, the reference gives %v", a, gotErr, wantErr)
		}
		return
	}
	// How far results move is known only after several more runs, which most calls do
	// not need: their results are near enough for inputs that do not move.
	if a.differ(got, want, nil) == "" {
		return
	}
	spread, err := a.spread(c.ref, want)
	if err != nil {
		t.Errorf("%s: %v", a, err)
		return
	}
	if msg := a.differ(got, want, spread); msg != "" {
		t.Errorf("%s: %s", a, msg)
	}
}

// differ describes the first results that differ by more than their spread allows, ""
// if none do. Without spreads the inputs are taken for exact.
func (a *arguments) differ(got, want []array, spread [][]float64) string {
	for i := range want {
		far := make([]float64, len(want[i].data))
		if spread != nil {
			far = spread[i]
		}
		if msg := differ(got[i], want[i], far); msg != "" {
			return a.resultName(i) + msg
		}
	}
	return ""
}

// sameError reports whether two devices refuse the same arguments for the same
// reason.
func sameError(a, b error) bool {
	if a == nil || b == nil {
		return a == b
	}
	var fa, fb *runtime.FaultError
	if errors.As(a, &fa) && errors.As(b, &fb) {
		return fa.Tensor == fb.Tensor && slices.Equal(fa.Index, fb.Index) && fa.Value == fb.Value && fa.Bound == fb.Bound
	}
	return a.Error() == b.Error()
}

// onlyFault reports whether one device found a bad value and the other nothing.
// Where an extent is zero a kernel may read no value and so find none.
func onlyFault(a, b error) bool {
	if a == nil {
		a, b = b, a
	}
	var f *runtime.FaultError
	return b == nil && errors.As(a, &f)
}

// empty reports whether an axis has no positions.
func (a *arguments) empty() bool { return slices.Contains(a.size, 0) }

// String names the arguments in messages: shapes and scalars.
func (a *arguments) String() string {
	var parts []string
	for i, in := range a.ins {
		parts = append(parts, fmt.Sprintf("%s%v", a.op.Ins[i].Name, in.shape))
	}
	for i, p := range a.op.Params {
		parts = append(parts, fmt.Sprintf("%s=%s", p.Name, scalarText(p.Type, a.params[i])))
	}
	for i, axis := range a.op.Axes {
		if axis.Free {
			parts = append(parts, fmt.Sprintf("%s=%v", axis.Name, a.dims[i]))
		}
	}
	return a.op.Name + "(" + strings.Join(parts, " ") + ")"
}

func scalarText(t runtime.ParamType, s runtime.Scalar) string {
	switch t {
	case runtime.ParamF32:
		return fmt.Sprint(s.F32())
	case runtime.ParamI32:
		return fmt.Sprint(s.I32())
	case runtime.ParamBool:
		return fmt.Sprint(s.Bool())
	}
	return fmt.Sprint(s.U64())
}
