package spec

import (
	"strings"
	"testing"
)

// TestOrder checks that tensors come in the order of the file, whatever their
// tables.
func TestOrder(t *testing.T) {
	s, list := Parse("specs/g/n.toml", []byte(`
[let.c]
expr = "1"
[in]
z.shape = ""
a.shape = ""
[out.y]
shape = ""
expr = "c"
[inout.m]
shape = ""
expr = "m"
[in.b]
shape = ""
[let.d]
expr = "2"
`))
	if len(list) > 0 {
		t.Fatal(list.Err())
	}
	var got []string
	for _, x := range s.Tensors {
		got = append(got, x.Kind.String()+"."+x.Name.Value)
	}
	want := "let.c in.z in.a out.y inout.m in.b let.d"
	if strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
}
