package gen

import (
	"strings"
	"testing"
)

// Patterns that the runtime could not match are mistakes with the place and what
// to do.
func TestWrongPatterns(t *testing.T) {
	const twice = `doc = "Twice gives a number times x, and then squares it."
source = "none"
dtypes = ["f32"]
[param.by]
type = "f32"
doc = "the number"
[in.x]
shape = "P..."
doc = "values"
[out.y]
shape = "P..."
doc = "results"
expr = "by * x * (by * x)"
[fuses]
pattern = "PATTERN"
`
	specs := map[string]string{
		"go.mod": "module example.com/fuse\n",
		"specs/a/scaled.toml": `doc = "Scaled gives s x."
source = "none"
dtypes = ["f32"]
[param.s]
type = "f32"
doc = "factor"
[in.x]
shape = "P..."
doc = "values"
[out.y]
shape = "P..."
doc = "results"
expr = "s * x"
`,
		"specs/a/squared.toml": `doc = "Squared gives the square of x."
source = "none"
dtypes = ["f32"]
[in.x]
shape = "P..."
doc = "values"
[out.y]
shape = "P..."
doc = "results"
expr = "x * x"
`,
		"specs/a/made.toml": `doc = "Made gives as many zeros as it is told."
source = "none"
dtypes = ["f32"]
[in.x]
shape = "P"
fill = 0
doc = "values"
[axes]
N = "caller"
[out.y]
shape = "N"
doc = "results"
expr = "0.0 * x[0]"
`,
	}
	for _, c := range []struct{ pattern, want string }{
		{"squared(scaled(x, by))", ""},
		{"squared(scaled(x))", "must give the parameter s of scaled"},
		{"squared(x)", "no call of the pattern has a parameter for by of twice"},
		{"scaled(scaled(x, by), by)", "must give the parameter s of scaled: one of twice that no other call has"},
		{"squared(made(x))", "calls made, which has an extent that the caller gives"},
	} {
		specs["specs/a/twice.toml"] = strings.Replace(twice, "PATTERN", c.pattern, 1)
		got := mistakes(t, specs)
		for line := range strings.Lines(got) {
			if !strings.HasPrefix(line, "specs/a/twice.toml:15:") {
				t.Errorf("%s: a mistake at another place than the pattern: %s", c.pattern, line)
			}
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: mistakes %q, want %q", c.pattern, got, c.want)
		}
	}
}
