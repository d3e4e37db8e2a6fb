package gen

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kernelgen/kgen/gen/bind"
	"github.com/kernelgen/kgen/gen/diag"
	emitc "github.com/kernelgen/kgen/gen/emit/c"
	emitcuda "github.com/kernelgen/kgen/gen/emit/cuda"
	"github.com/kernelgen/kgen/gen/emit/goapi"
	"github.com/kernelgen/kgen/gen/emit/gpu"
	emitmsl "github.com/kernelgen/kgen/gen/emit/msl"
	"github.com/kernelgen/kgen/gen/ir"
	"github.com/kernelgen/kgen/gen/out"
	"github.com/kernelgen/kgen/gen/spec"
)

// opsPackage is the name of the generated Go package.
const opsPackage = "ops"

// bindAll plans, lowers and binds every op. Pinned families that a plan cannot
// keep to are mistakes in the list.
func (m *Module) bindAll(specs []*Spec, pos func(file string) diag.Pos) (diag.List, error) {
	errs := make([]error, len(specs))
	each(len(specs), func(i int) {
		for _, op := range specs[i].all() {
			if err := op.bind(m.OpsPath(), specs[i]); err != nil {
				errs[i] = errors.Join(errs[i], fmt.Errorf("%s: %w", specs[i].File, err))
			}
		}
		if errs[i] == nil {
			bind.Share(specs[i].bound())
		}
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	groups := map[string][]*bind.Result{}
	for _, s := range specs {
		groups[s.Group] = append(groups[s.Group], s.bound()...)
	}
	for _, ops := range groups {
		bind.ShareC(ops)
	}
	for _, s := range specs {
		for _, g := range s.gradients() {
			if g.home != nil {
				g.bindHome()
			}
		}
	}
	var list diag.List
	for _, s := range specs {
		for _, op := range s.all() {
			if op.Programs[0].Family != "" && len(op.Bound.Plans[0].Kernels) == 0 {
				list.Add(pos(s.File), "%v", op.Bound.Unlowered[bind.C])
			}
		}
	}
	return list, nil
}

// all returns the spec's ops and those of its gradient, but for one that runs
// the kernels of another spec.
func (s *Spec) all() []*Op {
	return slices.DeleteFunc(append(slices.Clone(s.Ops), s.gradients()...), func(op *Op) bool { return op.home != nil })
}

// bound returns what became of the spec's ops and of those of its gradient.
func (s *Spec) bound() []*bind.Result {
	var list []*bind.Result
	for _, op := range s.all() {
		list = append(list, op.Bound)
	}
	return list
}

// render renders every file of the module.
func (m *Module) render(res *Result) error {
	specs := append(slices.Clone(res.Specs), res.internal...)
	errs := make([]error, len(specs))
	each(len(specs), func(i int) {
		s := specs[i]
		if s.Files, errs[i] = m.renderSpec(s); errs[i] != nil {
			errs[i] = fmt.Errorf("%s: %w", s.File, errs[i])
		}
	})
	var shaders []goapi.Shader
	var groups []*kernelGroup
	for _, s := range specs {
		groups = m.addSource(groups, s)
		for _, f := range s.Files {
			if rest, ok := strings.CutPrefix(f.Path, shaderDir+"/"); ok {
				shaders = append(shaders, goapi.Shader{Spec: s.Name, Path: rest})
			}
		}
	}
	var err error
	res.shared, err = m.renderShared(groups, shaders)
	if len(res.fusions) > 0 {
		text, wrong := goapi.Fusions(m.OpsPath(), res.emittedFusions())
		res.shared = append(res.shared, opsFile("fusions.go", text))
		errs = append(errs, wrong)
	}
	return errors.Join(append(errs, err)...)
}

// kernelGroup is the package of the C kernels of one group of specs.
type kernelGroup struct {
	group   string
	sources []goapi.CSource
	bytes   []int    // of the text of each source
	product bool     // a kernel multiplies matrices
	cuda    []string // specs with CUDA sources
}

// unitBytes is about how much text of kernels is compiled at once: the units of a
// large group are compiled side by side.
const unitBytes = 200 << 10

// units returns the files that are compiled together, in units of about the same size.
func (g *kernelGroup) units() [][]string {
	total := 0
	for i, c := range g.sources {
		if !c.Alone {
			total += g.bytes[i]
		}
	}
	n := (total + unitBytes - 1) / unitBytes
	units := make([][]string, n)
	before := 0
	for i, c := range g.sources {
		if !c.Alone {
			at := (before + g.bytes[i]/2) * n / total // where its middle lies
			units[at] = append(units[at], c.File)
			before += g.bytes[i]
		}
	}
	return slices.DeleteFunc(units, func(u []string) bool { return len(u) == 0 })
}

// addSource adds the C kernels of s to its group.
func (m *Module) addSource(groups []*kernelGroup, s *Spec) []*kernelGroup {
	if !s.hasC() {
		return groups
	}
	c := goapi.CSource{Spec: s.Name, File: s.cFile(), Alone: s.Raw != nil, Hash: m.sourceID(s) + "_hash"}
	for _, op := range s.all() {
		for _, f := range op.cFuncs() {
			c.Symbols = append(c.Symbols, f.Symbol)
		}
	}
	i := slices.IndexFunc(groups, func(g *kernelGroup) bool { return g.group == s.Group })
	if i < 0 {
		i = len(groups)
		groups = append(groups, &kernelGroup{group: s.Group})
	}
	for _, op := range s.all() {
		groups[i].product = groups[i].product || emitc.Multiplies(op.cFuncs())
	}
	if slices.ContainsFunc(s.all(), (*Op).hasCUDA) {
		groups[i].cuda = append(groups[i].cuda, s.Name)
	}
	groups[i].sources = append(groups[i].sources, c)
	file := slices.IndexFunc(s.Files, func(f out.File) bool { return path.Base(f.Path) == c.File })
	groups[i].bytes = append(groups[i].bytes, len(s.Files[file].Data))
	return groups
}

// cFile is the name of the spec's C file. What is written by hand is compiled
// alone: its macros are not those of other kernels.
func (s *Spec) cFile() string {
	if s.Raw != nil {
		return goapi.FileBase(s.Name) + rawExt + ".c"
	}
	return goapi.FileBase(s.Name) + emitc.Ext
}

// sourceID begins the symbols of a spec's C source.
func (m *Module) sourceID(s *Spec) string { return bind.Prefix(m.OpsPath()) + "_" + s.Name }

// kernelsPackage is the name of the package of a group's C kernels, and that of
// its directory: c and the letters and digits of the group, so that no group
// gives a keyword; where that loses something, a hash tells groups apart.
func kernelsPackage(group string) string {
	name := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, group)
	if name != group {
		name += fmt.Sprintf("%x", sha256.Sum256([]byte(group)))[:6]
	}
	return "c" + name
}

// kernelsPath is the import path of the package of a group's C kernels.
func (m *Module) kernelsPath(group string) string {
	return m.OpsPath() + "/internal/" + kernelsPackage(group)
}

// renderShared renders the files that all specs give together.
func (m *Module) renderShared(groups []*kernelGroup, shaders []goapi.Shader) ([]out.File, error) {
	schema, err := spec.Schema(out.JSONMarker)
	if err != nil {
		return nil, err
	}
	headers, err := emitc.Headers()
	if err != nil {
		return nil, err
	}
	files := []out.File{{Path: schemaFile, Data: schema}, opsFile("doc.go", goapi.PackageDoc(opsPackage, m.Path))}
	for _, g := range groups {
		pkg := kernelsPackage(g.group)
		units, suffix := g.units(), ""
		if len(units) > 1 && g.product {
			suffix = "_" + bind.Prefix(m.OpsPath()) + "_" + pkg
			files = append(files, kernelsFile(g.group, "products.c", emitc.Products(suffix)))
		}
		for i, unit := range units {
			name := "kernels.c"
			if len(units) > 1 {
				name = fmt.Sprintf("kernels_%d.c", i+1)
			}
			files = append(files, kernelsFile(g.group, name, emitc.Group(unit, suffix)))
		}
		files = append(files,
			kernelsFile(g.group, "kernels_cgo.go", goapi.KernelsCgo(pkg, g.group, g.sources)),
			kernelsFile(g.group, "kernels_nocgo.go", goapi.KernelsNoCgo(pkg, g.group, g.sources)))
		if len(g.cuda) > 0 {
			files = append(files, kernelsFile(g.group, "kernels_cuda.go", goapi.KernelsCUDA(pkg, g.cuda)))
		}
		for name, text := range headers {
			files = append(files, kernelsFile(g.group, name, append([]byte(out.Marker("specs")), text...)))
		}
	}
	if len(shaders) > 0 {
		files = append(files, out.File{
			Path: path.Join(shaderDir, "msl.go"), Data: goapi.Shaders("msl", m.Path, shaders),
		})
	}
	slices.SortFunc(files, func(a, b out.File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// shadersPath is the import path of the package of the Metal sources.
func (m *Module) shadersPath() string { return m.Path + "/" + shaderDir }

func opsFile(name string, data []byte) out.File {
	return out.File{Path: path.Join(opsDir, name), Data: data}
}

func kernelsFile(group, name string, data []byte) out.File {
	return out.File{Path: path.Join(opsDir, "internal", kernelsPackage(group), name), Data: data}
}

// renderSpec renders the files of one spec.
func (m *Module) renderSpec(s *Spec) ([]out.File, error) {
	base := goapi.FileBase(s.Name)
	file := m.apiFile(s)
	source, err := goapi.Source(file)
	if err != nil {
		return nil, err
	}
	ref, err := goapi.Reference(file)
	if err != nil {
		return nil, err
	}
	files := []out.File{opsFile(base+".go", source), opsFile(base+"_ref.go", ref)}
	if !s.internal {
		tests, err := goapi.Tests(file)
		if err != nil {
			return nil, err
		}
		if tests != nil {
			files = append(files, opsFile(base+"_test.go", tests))
		}
	}
	kernels, err := m.renderKernels(s, base)
	return append(files, kernels...), err
}

// renderKernels renders the sources of the kernels of one spec.
func (m *Module) renderKernels(s *Spec, base string) ([]out.File, error) {
	var files []out.File
	c, err := m.RenderC(s)
	if err != nil {
		return nil, err
	}
	if c != nil {
		files = append(files, kernelsFile(s.Group, s.cFile(), c))
	}
	shader := out.File{Path: path.Join(shaderDir, s.Group, base+".metal")}
	if s.Raw != nil {
		shader.Data, err = renderRaw(s, shader.Path, s.Raw.Metal, emitmsl.EmitRaw)
	} else {
		shader.Data, err = renderSIMT(s, (*Op).hasMSL, emitmsl.Emit)
	}
	if err != nil {
		return nil, err
	}
	if shader.Data != nil {
		files = append(files, shader)
	}
	cuda := kernelsFile(s.Group, base+".cu", nil)
	if s.Raw != nil {
		cuda.Data, err = renderRaw(s, cuda.Path, s.Raw.CUDA, emitcuda.EmitRaw)
	} else {
		cuda.Data, err = renderSIMT(s, (*Op).hasCUDA, emitcuda.Emit)
	}
	if cuda.Data != nil {
		files = append(files, cuda)
	}
	if s.Raw == nil || err != nil {
		return files, err
	}
	refs, err := m.renderReference(s)
	return append(files, append(refs, m.rawHeader(s, base))...), err
}

// RenderC renders the C source of a spec, nil when no op of it has C kernels.
func (m *Module) RenderC(s *Spec) ([]byte, error) {
	if !s.hasC() {
		return nil, nil
	}
	base := goapi.FileBase(s.Name)
	if s.Raw != nil {
		return m.renderRawC(s, base), nil
	}
	f := &emitc.File{Name: base + emitc.Ext, Spec: s.File, Doc: s.Doc, Hash: s.Hash, ID: m.sourceID(s)}
	for _, op := range s.all() {
		f.Funcs = append(f.Funcs, op.cFuncs()...)
		for k := range op.Bound.Kernels {
			shared := emitc.Shared{Kernel: k.Symbol, Func: k.C}
			if k.C != "" && k.C != k.Symbol && !slices.Contains(f.Shared, shared) {
				f.Shared = append(f.Shared, shared)
			}
		}
	}
	return emitc.Emit(f)
}

// hasC reports whether an op of the spec has C kernels.
func (s *Spec) hasC() bool {
	return slices.ContainsFunc(s.all(), func(op *Op) bool {
		for k := range op.Bound.Kernels {
			if k.C != "" {
				return true
			}
		}
		return false
	})
}

// renderSIMT renders the source of a spec for a GPU, nil when no op of it has kernels
// there.
func renderSIMT(s *Spec, has func(*Op) bool, emit func(*gpu.File) ([]byte, error)) ([]byte, error) {
	var kernels []*ir.Func
	for _, op := range s.all() {
		if has(op) {
			kernels = append(kernels, op.Bound.MSL...)
		}
	}
	if len(kernels) == 0 {
		return nil, nil
	}
	return emit(&gpu.File{Spec: s.File, Doc: s.Doc, Source: s.Source, Hash: s.Hash, Kernels: kernels})
}

// hasMSL reports whether the op has Metal kernels.
func (op *Op) hasMSL() bool { return op.Bound.Unlowered[bind.MSL] == nil }

// hasCUDA reports whether the op has CUDA kernels: those of Metal in another language,
// beside C kernels, whose package holds their source.
func (op *Op) hasCUDA() bool {
	if raw := op.Programs[0].Raw; raw != nil {
		return raw.HasCUDA
	}
	return op.hasMSL() && op.Bound.Unlowered[bind.C] == nil
}

// cFuncs returns the op's C kernels, none unless there are all.
func (op *Op) cFuncs() []*ir.Func {
	if op.Bound.Unlowered[bind.C] != nil {
		return nil
	}
	return op.Bound.C
}
