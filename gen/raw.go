package gen

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"

	"github.com/kernelgen/kgen/gen/diag"
	emitc "github.com/kernelgen/kgen/gen/emit/c"
	"github.com/kernelgen/kgen/gen/emit/goapi"
	"github.com/kernelgen/kgen/gen/emit/goref"
	"github.com/kernelgen/kgen/gen/emit/gpu"
	"github.com/kernelgen/kgen/gen/out"
	"github.com/kernelgen/kgen/gen/spec"
)

// referenceFunc is the function that a reference written by hand has, and
// referenceArg the type of what it takes.
const (
	referenceFunc = "reference"
	referenceArg  = "args"
)

// checkReference reads the Go source of a reference and returns the name of its
// package.
func checkReference(src *spec.RawSource) (string, diag.List) {
	var list diag.List
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, src.File, src.Text, parser.SkipObjectResolution)
	if err != nil {
		if errs, ok := err.(scanner.ErrorList); ok {
			for _, e := range errs {
				list.Add(diag.Pos{File: src.File, Line: e.Pos.Line, Col: e.Pos.Column}, "%s", e.Msg)
			}
			return "", list
		}
		list.Add(diag.Pos{File: src.File, Line: 1, Col: 1}, "%v", err)
		return "", list
	}
	name := file.Name.Name
	if name == "main" || name == "_" {
		at := fset.PositionFor(file.Name.Pos(), false)
		list.Add(diag.Pos{File: src.File, Line: at.Line, Col: at.Column}, "the package of a reference cannot be called %s", name)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == referenceFunc {
			return name, list
		}
	}
	at := fset.PositionFor(file.Name.Pos(), false)
	list.AddHint(diag.Pos{File: src.File, Line: at.Line, Col: at.Column}, "func "+referenceFunc+"(a *"+referenceArg+")",
		"the source has no function %s", referenceFunc)
	return name, list
}

// checkRaw looks at the reference of a kernel written by hand.
func (s *Spec) checkRaw() diag.List {
	if s.Raw == nil || s.Raw.Go == nil {
		return nil
	}
	var list diag.List
	s.refPackage, list = checkReference(s.Raw.Go)
	return list
}

// rawReference describes the package of a spec's reference.
func (m *Module) rawReference(s *Spec) *goref.Raw {
	if s.Raw == nil {
		return nil
	}
	return &goref.Raw{Path: m.OpsPath() + "/" + refDir(s), Name: s.refPackage, Spec: s.Spec}
}

// refDir is the folder of the reference, below that of the generated package.
// No group of C sources has its name: those begin with c.
func refDir(s *Spec) string { return "internal/ref_" + s.Name }

// renderReference renders the package of a reference: its source, byte for byte,
// under a line that leads errors to it, and what calls it.
func (m *Module) renderReference(s *Spec) ([]out.File, error) {
	args, err := m.rawReference(s).RawArgs(out.Marker(s.File))
	if err != nil {
		return nil, err
	}
	dir := path.Join(opsDir, refDir(s))
	// The go command looks for the file from the folder of the generated one.
	up := ""
	for d := dir; d != "."; d = path.Dir(d) {
		up += "../"
	}
	text := out.Marker(s.File) + "\n//line " + up + s.Raw.Go.File + ":1\n" + s.Raw.Go.Text
	return []out.File{
		{Path: path.Join(dir, goapi.FileBase(s.Name)+".go"), Data: []byte(text)},
		{Path: path.Join(dir, "args_ref.go"), Data: args},
	}, nil
}

// rawExt tells the C files of kernels written by hand from those of a group.
const rawExt = ".raw"

// rawHeaderName is the name of the file that holds the C source of a kernel
// written by hand, beside the one that compiles it for each instance.
func rawHeaderName(base string) string { return base + rawExt + ".h" }

func (m *Module) rawHeader(s *Spec, base string) out.File {
	return kernelsFile(s.Group, rawHeaderName(base), emitc.RawHeader(s.File, s.Raw.C.File, s.Raw.C.Text))
}

// renderRawC renders the C file of a kernel written by hand.
func (m *Module) renderRawC(s *Spec, base string) []byte {
	f := &emitc.RawFile{
		Name: s.cFile(), Header: rawHeaderName(base), Spec: s.File, Doc: s.Doc, Hash: s.Hash, ID: m.sourceID(s),
	}
	for _, op := range s.Ops {
		f.Instances = append(f.Instances, op.Bound.Raw...)
	}
	return emitc.EmitRaw(f)
}

// renderRaw renders the file at the given path around a source for a GPU, nil when
// there is no source.
func renderRaw(s *Spec, file string, src *spec.RawSource, emit func(*gpu.RawFile) ([]byte, error)) ([]byte, error) {
	if src == nil {
		return nil, nil
	}
	f := &gpu.RawFile{
		File: gpu.File{Spec: s.File, Doc: s.Doc, Source: s.Source, Hash: s.Hash},
		Path: file, Text: src.Text, TextPath: src.File,
	}
	for _, op := range s.Ops {
		f.Instances = append(f.Instances, op.Bound.Raw...)
	}
	return emit(f)
}
