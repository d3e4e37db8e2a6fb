package vet_test

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/kernelgen/kgen/vet"
)

// TestRules runs each rule on the package of testdata of its name: a module that
// uses runtime and the generated operations as they are.
func TestRules(t *testing.T) {
	t.Setenv("CGO_ENABLED", "0")
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	// One analyzer with all rules, so that the packages are loaded once.
	rules := &analysis.Analyzer{Name: "rules", Doc: "run the rule that the package is named after"}
	byName := map[string]*analysis.Analyzer{}
	var packages []string
	for _, a := range vet.Analyzers {
		byName[a.Name] = a
		rules.Requires = a.Requires
		packages = append(packages, "./"+a.Name)
	}
	ran := map[string]bool{}
	rules.Run = func(pass *analysis.Pass) (any, error) {
		name, _, _ := strings.Cut(path.Base(pass.Pkg.Path()), " ")
		a := byName[name]
		if a == nil {
			return nil, nil
		}
		ran[name] = true
		return a.Run(pass)
	}
	analysistest.Run(t, dir, rules, packages...)
	for name := range byName {
		if !ran[name] {
			t.Errorf("rule %s did not run", name)
		}
	}
}
