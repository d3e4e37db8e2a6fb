//go:build softmetal && linux && cgo

package metal

/*
#cgo LDFLAGS: -L${SRCDIR}/../../../build/softmetal -lkgenmetal -Wl,-rpath,${SRCDIR}/../../../build/softmetal
*/
import "C"
