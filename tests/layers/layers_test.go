// Package layers holds the module to the order of its parts: what may import
// what, as docs/design.md says it.
package layers

import (
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

const module = "github.com/kernelgen/kgen/"

// A rule forbids packages below from to import, directly or not, packages below
// any of the others.
type rule struct {
	from  string
	never []string
}

var rules = []rule{
	{"cmd/kgen", []string{"generated", "runtime", "msl", "nn", "graph"}},
	{"cmd/kgenvet", []string{"generated", "runtime", "msl", "nn", "graph"}},
	{"cmd/eftrain", []string{"gen", "graph"}},
	{"cmd/eftexteval", []string{"gen", "graph"}},
	{"gen/", []string{"generated", "runtime", "cmd", "msl"}},
	{"runtime", []string{"gen", "generated", "cmd", "msl", "graph", "nn", "internal"}},
	{"graph", []string{"gen", "cmd", "nn"}}, // graph/calibrate has msl by the generated operations
	{"generated/", []string{"gen", "cmd", "graph", "nn"}},
	{"nn", []string{"gen", "cmd", "graph", "safetensors", "checkpoint", "dataset", "tokenizer", "train"}},
	{"vet", []string{"gen", "generated", "runtime", "graph", "nn", "cmd", "msl"}},
	{"safetensors", []string{"gen", "generated", "runtime", "graph", "nn", "cmd", "msl", "checkpoint"}},
	{"checkpoint", []string{"gen", "generated", "graph", "nn", "cmd", "msl"}},
	{"dataset", []string{"gen", "generated", "runtime", "graph", "nn", "cmd", "msl"}},
	{"tokenizer", []string{"gen", "generated", "runtime", "graph", "nn", "cmd", "msl", "dataset"}},
	{"train", []string{"gen", "cmd", "graph", "tokenizer"}},
	{"train/schedule", []string{"gen", "generated", "runtime", "graph", "nn", "cmd", "msl"}},
	{"train/optim", []string{"gen", "cmd", "graph", "safetensors", "checkpoint", "dataset", "tokenizer", "nn/models", "train/schedule", "train/metrics"}},
	{"train/config", []string{"gen", "generated", "runtime", "graph", "nn", "cmd", "msl", "dataset", "tokenizer", "checkpoint"}},
	{"train/eval", []string{"gen", "generated", "runtime", "graph", "nn", "cmd", "msl", "dataset", "tokenizer", "checkpoint"}},
	{"train/metrics", []string{"gen", "generated", "runtime", "graph", "nn", "cmd", "msl"}},
	{"train/report", []string{"gen", "generated", "runtime", "graph", "nn", "cmd", "msl"}},
	{"msl", []string{"gen", "generated", "runtime", "graph", "cmd"}},
	{"internal/tomltree", []string{"gen", "generated", "runtime", "cmd", "train"}},
	{"internal/textrun", []string{"gen", "graph", "cmd"}},
	{"internal/softmetal", []string{"generated", "runtime", "graph", "cmd", "msl"}},
	{"gen/diag", []string{"gen/spec", "gen/expr"}},
	{"gen/spec", []string{"gen/expr", "gen/plan", "gen/emit"}},
	{"gen/expr", []string{"gen/plan", "gen/ir", "gen/emit"}},
	{"gen/oracle", []string{"gen/plan", "gen/ir", "gen/lower", "gen/emit"}},
	{"gen/grad", []string{"gen/plan", "gen/ir", "gen/lower", "gen/emit"}},
	{"gen/plan", []string{"gen/ir", "gen/lower", "gen/emit"}},
	{"gen/ir", []string{"gen/plan", "gen/lower", "gen/emit"}},
	{"gen/lower", []string{"gen/emit", "gen/bind"}},
	{"gen/emit/c", []string{"gen/plan", "gen/lower"}},
	{"gen/emit/msl", []string{"gen/plan", "gen/lower"}},
	{"gen/emit/cuda", []string{"gen/plan", "gen/lower"}},
	{"gen/emit/gpu", []string{"gen/plan", "gen/lower"}},
	{"gen/emit/goref", []string{"gen/plan", "gen/lower", "gen/ir", "gen/bind"}},
	{"gen/out", []string{"gen/spec", "gen/expr", "gen/emit", "gen/plan"}},
}

// diagnostics, places in files and what is wrong there, know nothing of the compiler.
const diagnostics = "gen/diag"

func TestLayers(t *testing.T) {
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps,
		Dir:  "../..",
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) < 20 {
		t.Fatalf("%d packages loaded, want the whole module", len(pkgs))
	}
	for _, r := range rules {
		seen := false
		for _, p := range pkgs {
			path, inside := strings.CutPrefix(p.PkgPath, module)
			if !inside || !below(path, r.from) {
				continue
			}
			seen = true
			for _, chain := range reach(p) {
				for _, bad := range r.never {
					if last := chain[len(chain)-1]; below(last, bad) && last != diagnostics {
						t.Errorf("%s must not depend on %s: %s", path, bad, strings.Join(chain, " → "))
					}
				}
			}
		}
		if !seen {
			t.Errorf("no package is below %q: the rule guards nothing", r.from)
		}
	}
}

// below reports whether path is dir or inside it.
func below(path, dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return path == dir || strings.HasPrefix(path, dir+"/")
}

// reach returns, for each package of the module that p depends on, a shortest
// chain of imports from p.
func reach(p *packages.Package) [][]string {
	var chains [][]string
	seen := map[string]bool{p.PkgPath: true}
	type step struct {
		p     *packages.Package
		chain []string
	}
	queue := []step{{p, []string{strings.TrimPrefix(p.PkgPath, module)}}}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for path, q := range s.p.Imports {
			name, inside := strings.CutPrefix(path, module)
			if !inside || seen[path] {
				continue
			}
			seen[path] = true
			chain := append(append([]string(nil), s.chain...), name)
			chains = append(chains, chain)
			queue = append(queue, step{q, chain})
		}
	}
	return chains
}
