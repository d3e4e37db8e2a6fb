package gpu

import (
	"fmt"
	"strings"

	"github.com/kernelgen/kgen/gen/ir"
)

// Mangle turns a name of the IR into an identifier: it gets an underscore at its
// end. A name that starts with one, where the implementation has words such as
// __METAL__, gets "_u" instead. Different names stay different.
func Mangle(name string) string {
	if strings.HasPrefix(name, "_") {
		return name + "_u"
	}
	return name + "_"
}

// fieldNames gives each field of a parameter block an identifier of its own: an
// extent and a parameter may have one name. The later one gets a number at the
// end, where no mangled name has one.
func fieldNames(fields []*ir.Field) map[*ir.Field]string {
	of := map[*ir.Field]string{}
	taken := map[string]bool{}
	for _, f := range fields {
		id := Mangle(f.Name)
		for i := 2; taken[id]; i++ {
			id = fmt.Sprintf("%s%d", Mangle(f.Name), i)
		}
		of[f], taken[id] = id, true
	}
	return of
}
