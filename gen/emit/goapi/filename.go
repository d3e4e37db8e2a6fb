package goapi

import (
	"slices"
	"strings"
)

// Parts of file names that have a meaning to the go command. The lists are
// those of go/build, which only ever grow for systems that exist.
var (
	systems = strings.Fields("aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd " +
		"openbsd plan9 solaris wasip1 windows zos")
	architectures = strings.Fields("386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le " +
		"mips64p32 mips64p32le ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm")
	// ours are endings that files of other purpose have.
	ours = []string{"cgo", "nocgo", "op", "ref", "test"}
)

// FileBase returns the name, without extension, of the files of the spec with
// the given name. It is the name itself, unless that has a meaning to the go
// command (mask_linux, pool_arm64, loss_test, _z) or to this package: such a
// name gets the suffix _op, and a leading underscore the prefix op.
func FileBase(name string) string {
	base := name
	if strings.HasPrefix(base, "_") {
		base = "op" + base
	}
	if i := strings.LastIndexByte(base, '_'); i >= 0 && special(base[i+1:]) {
		base += "_op"
	}
	return base
}

func special(end string) bool {
	end = strings.ToLower(end)
	return slices.Contains(systems, end) || slices.Contains(architectures, end) || slices.Contains(ours, end)
}
