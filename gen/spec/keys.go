package spec

import (
	"math"
	"slices"
)

// kind says what the value of a key is.
type kind uint8

const (
	textKind    kind = iota // a string
	textsKind               // a list of strings, no two the same
	tilesKind               // a list of strings
	flagKind                // true or false
	valueKind               // a number or a bool
	wholeKind               // an integer from lo to hi
	shapeKind               // a string, or a table from conditions on static choices to strings
	casesKind               // a table from conditions on static choices to such
	entriesKind             // a table from names to strings
	listsKind               // a table from names to lists of strings
	tableKind               // a table
	tablesKind              // a table from names to tables
)

// need says whether a key must be there.
type need uint8

const (
	optional need = iota
	always
	unlessRaw // but for a kernel whose sources are written by hand
)

// key is a key of a table: what the decoder reads and the schema describes.
type key struct {
	name   string
	kind   kind
	need   need
	with   string   // another key that must be there, too
	words  []string // what a string, or each of a list, may be; nil: anything
	what   string   // what one of words is called
	lo, hi int64    // of wholeKind
	most   int      // elements of a list; 0: any number
	keys   []key    // of tableKind and tablesKind
	doc    string
}

var (
	families   = []string{"map", "rows", "cols", "reduce", "matmul", "gather", "scatter", "window"}
	floatTypes = []string{"f32", "f16", "bf16"}
	paramTypes = []string{"f32", "i32", "u32", "u64", "bool"}
	reductions = []string{"sum", "mean", "max", "min", "prod", "any", "all", "argmax", "argmin"}
)

// The limits of a launch.
const (
	maxGroupDims = 3
	maxThreads   = 1024
)

// fileKeys are the keys of a spec file.
var fileKeys = []key{
	{name: "go", doc: "The exported Go name; default: the name of the file in Go's style."},
	{name: "also", kind: textsKind, doc: "Other names of the kernel."},
	{name: "doc", doc: "What the kernel does, one paragraph."},
	{name: "source", doc: "Where the formula comes from: paper and equation."},
	{name: "family", words: families, what: "family", doc: "What the kernel must become; the spec is refused if it becomes something else."},
	{name: "dtypes", kind: textsKind, words: floatTypes, what: "float type", doc: "The storage types of T."},
	{name: "types", kind: listsKind, words: floatTypes, what: "float type", doc: "The storage types of each type variable, where there are several."},
	{name: "static", kind: listsKind, doc: "Compile-time choices and their values; each gives a Go function of its own."},
	{name: "param", kind: tablesKind, keys: paramKeys, doc: "Scalar arguments of the Go function."},
	{name: "raw", kind: tablesKind, keys: launchKeys, doc: "Launches of a kernel whose sources are written by hand."},
	{name: "in", kind: tablesKind, keys: inKeys, doc: "Inputs, in the order of the call."},
	{name: "inout", kind: tablesKind, keys: inoutKeys, doc: "Tensors that are read and written; expr is the new value, reads give the old one."},
	{name: "let", kind: tablesKind, keys: letKeys, doc: "Steps, in order; visible to later ones."},
	{name: "out", kind: tablesKind, keys: outKeys, doc: "Outputs."},
	{name: "temp", kind: tablesKind, keys: tempKeys, doc: "Workspaces between the launches of a kernel written by hand."},
	{name: "axes", kind: entriesKind, doc: "Extents that no input shape gives: an int expression, or caller."},
	{name: "require", kind: entriesKind, doc: "Conditions that the host checks at call time."},
	{name: "save", kind: tableKind, keys: saveKeys, doc: "Steps that are kept for the gradient."},
	{name: "grad", kind: tableKind, keys: gradKeys, doc: "The gradient: derived with respect to wrt, or the spec named kernel."},
	{name: "fuses", kind: tableKind, keys: fusesKeys, doc: "What the kernel takes the place of."},
}

var (
	docKey      = key{name: "doc", doc: "Shown in the documentation of the Go function."}
	shapeKey    = key{name: "shape", kind: shapeKind, need: always, doc: "Axes; NAME... is a group of any number of axes, (C K) one dimension of extent C*K, the empty shape a device scalar."}
	typeKey     = key{name: "type", doc: "The storage type: f32, f16, bf16, i32, u8 or a type variable; default: the first type variable."}
	optionalKey = key{name: "optional", kind: flagKind, doc: "Gives two variants, with and without this tensor."}
	exprKey     = key{name: "expr", need: unlessRaw, doc: "The value, at the own axes."}
	readKeys    = []key{
		{name: "fill", kind: valueKind, doc: "What a read outside of the tensor gives."},
		{name: "bounds", doc: "An int expression: each element is at least 0 and less than it, else there is a device fault."},
		{name: "except", with: "bounds", doc: "A parameter whose value bounds lets pass."},
	}
	reduceKeys = []key{
		{name: "over", with: "reduce", doc: "The axes that are reduced away."},
		{name: "reduce", with: "over", words: reductions, what: "reduction", doc: "How the values along over become one."},
	}
)

var (
	paramKeys = []key{
		{name: "type", need: always, words: paramTypes, what: "parameter type", doc: "The type of the argument."},
		docKey,
		{name: "default", kind: valueKind, doc: "Becomes a Go constant."},
	}
	inKeys    = slices.Concat([]key{docKey, shapeKey, typeKey, optionalKey}, readKeys, []key{{name: "list", doc: "The axis along which the input is given in pieces."}})
	inoutKeys = slices.Concat([]key{docKey, shapeKey, typeKey, optionalKey}, readKeys, []key{exprKey})
	letKeys   = slices.Concat([]key{docKey, exprKey}, reduceKeys)
	outKeys   = slices.Concat([]key{docKey, shapeKey, typeKey, optionalKey, exprKey}, reduceKeys)
	tempKeys  = []key{docKey, shapeKey, typeKey}
	saveKeys  = []key{
		{name: "names", kind: textsKind, doc: "Names of steps whose values are results as well."},
		{name: "lazy", kind: textsKind, doc: "Names of steps that are kept where a gradient reads them, and are no results."},
	}
	gradKeys = []key{
		{name: "wrt", kind: textsKind, doc: "The inputs that the gradient is taken with respect to."},
		{name: "from", kind: textsKind, doc: "The outputs that carry a cotangent; default: all float outputs but saved ones."},
		{name: "name", doc: "The public name; default: NAME_grad."},
		{name: "kernel", doc: "The spec that computes the gradient."},
		{name: "static", kind: casesKind, with: "kernel", doc: "Its static choices, by those of this spec."},
		{name: "in", kind: entriesKind, with: "kernel", doc: "What its inputs stand for."},
		{name: "out", kind: entriesKind, with: "kernel", doc: "What its outputs stand for."},
	}
	fusesKeys  = []key{{name: "pattern", need: always, doc: "The sequence of calls that this kernel replaces."}}
	launchKeys = []key{
		{name: "items", kind: tilesKind, need: always, doc: "C: the work items, as axes and tiles of them."},
		{name: "cost", doc: "C: the axes whose extents make the cost of an item."},
		{name: "cost_ps", kind: wholeKind, lo: 1, hi: math.MaxInt32, doc: "C: picoseconds for each position of cost; default 1000."},
		{name: "scratch", kind: wholeKind, hi: 1 << 30, doc: "C: bytes of memory for each worker."},
		{name: "groups", kind: tilesKind, with: "threads", most: maxGroupDims, doc: "GPU: the threadgroups, fastest dimension first."},
		{name: "threads", kind: wholeKind, with: "groups", lo: 1, hi: maxThreads, doc: "GPU: the threads of a group."},
		{name: "shared", kind: entriesKind, with: "groups", doc: "GPU: arrays that a group shares, such as \"f32 16\"."},
	}
)
