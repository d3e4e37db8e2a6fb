package vet

import (
	"go/types"
	"os"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestAPI holds the table to the API of package runtime: every function and
// method that has to do with what the rules follow is in it, and nothing else.
func TestAPI(t *testing.T) {
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps,
		Env:  append(os.Environ(), "CGO_ENABLED=0"),
	}, runtimePath)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	check := func(f *types.Func) {
		if !f.Exported() || !concerns(f.Signature()) {
			return
		}
		name := apiName(f)
		found[name] = true
		s := api[name]
		if s == nil {
			t.Errorf("%s is not in the table", name)
			return
		}
		args := f.Signature().Params().Len()
		if f.Signature().Recv() != nil {
			args++
		}
		if len(s.Args) > args {
			t.Errorf("%s has %d arguments, the table knows %d", name, args, len(s.Args))
		}
	}
	scope := pkgs[0].Types.Scope()
	for _, name := range scope.Names() {
		switch obj := scope.Lookup(name).(type) {
		case *types.Func:
			check(obj)
		case *types.TypeName:
			if named, ok := obj.Type().(*types.Named); ok && obj.Exported() {
				for m := range named.Methods() {
					check(m)
				}
			}
		}
	}
	for name := range api {
		if !found[name] {
			t.Errorf("the table has %s, package runtime has not", name)
		}
	}
}

// concerns reports whether a function has an argument or a result that is
// followed, or is part of the recording of a call.
func concerns(sig *types.Signature) bool {
	var list []*types.Var
	if r := sig.Recv(); r != nil {
		list = append(list, r)
	}
	for v := range sig.Params().Variables() {
		list = append(list, v)
	}
	for v := range sig.Results().Variables() {
		list = append(list, v)
	}
	for _, v := range list {
		elem := v.Type()
		if s, ok := elem.(*types.Slice); ok {
			elem = s.Elem()
		}
		switch apiType(elem) {
		case "Device", "Batch", "Tensor", "Handle", "Operand", "Readback", "Call":
			return true
		}
	}
	return false
}
