package expr
import ("testing";"fmt";"github.com/kernelgen/kgen/gen/spec")
func TestZZ(t *testing.T) {
	for _, r := range []string{"1 > 0", "start >= 0 && start + len <= size(L)", "size(P) == size(L) && k + start + len > -5"} {
	set, list := spec.ParseSet("specs/test/k.toml", []byte(`
dtypes = ["f32"]
[param.k]
type = "i32"
[param.start]
type = "i32"
[param.len]
type = "i32"
[in.x]
shape = "B L"
[axes]
W = "size(L) * k"
P = "caller"
[require]
k = "0 < k"
p = "`+r+`"
l = "size(P) > start + len || true"
[out.y]
shape = "B W P"
expr = "x[B, W / k]"
`))
	_, l := Check(set)
	fmt.Println(r, list, l)
	}
}
