package expr

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/gen/diag"
	"github.com/kernelgen/kgen/gen/spec"
	"github.com/kernelgen/kgen/internal/tomltree"
)

const playground = `
dtypes = ["f16"]
[param.f]
type = "f32"
[param.n]
type = "i32"
[param.u]
type = "u32"
[param.s]
type = "u64"
[param.c]
type = "bool"
[in.x]
shape = "R... D"
fill = 0
[in.i]
shape = "D"
type = "i32"
[in.w]
shape = ""
[let.m]
over = "D"
reduce = "sum"
expr = "x"
[let.b]
expr = "x > 0"
[out.y]
shape = "R... D"
expr = "x + i + w + m + f + n + where(b && c, 1, 0) + uniform(u) + uniform(philox(s, 1))"
`

// newEnv returns a step's environment in which expressions can be checked.
func newEnv(t testing.TB) *env {
	t.Helper()
	set, list := spec.ParseSet("specs/g/playground.toml", []byte(playground))
	c := newChecker(set)
	u := c.units[0]
	in := &instance{c: c, u: u, types: []DType{F16}, list: &diag.List{}}
	in.build()
	if list = append(append(list, u.list...), *in.list...); len(list) > 0 {
		t.Fatal(list.Err())
	}
	return &env{in: in, list: &diag.List{}}
}

// recheck parses and checks text, which must be right.
func recheck(t testing.TB, e *env, text, from string) Expr {
	t.Helper()
	a, err := parseExpr(tomltree.NewText("expr", text))
	if err != nil {
		t.Fatalf("%q, printed from %q: %v", text, from, err)
	}
	e.list = &diag.List{}
	x := e.check(a)
	if x == nil {
		t.Fatalf("%q, printed from %q: %v", text, from, e.list.Err())
	}
	return x
}

func roundTrip(t testing.TB, e *env, x Expr, from string) {
	t.Helper()
	text := Format(x)
	y := recheck(t, e, text, from)
	if Key(x) != Key(y) {
		t.Fatalf("%q is printed as %q, which is\n%s\nnot\n%s", from, text, Key(y), Key(x))
	}
	if again := Format(y); again != text {
		t.Fatalf("%q is printed as %q the second time", text, again)
	}
}

// TestFormat checks the text of expressions: no parenthesis too many, no
// conversion that the language makes by itself.
func TestFormat(t *testing.T) {
	e := newEnv(t)
	tests := map[string]string{
		"((x))+(f*(x))":                  "x + f * x",
		"x-(f-w)-x":                      "x - (f - w) - x",
		"(x-f)-w":                        "x - f - w",
		"x/(f/w)*x":                      "x / (f / w) * x",
		"(x+f)*w":                        "(x + f) * w",
		"-(x+f)":                         "-(x + f)",
		"-x*f":                           "-x * f",
		"-(x*f)":                         "-(x * f)",
		"x - -f":                         "x - -f",
		"x--f":                           "x - -f",
		"- -x":                           "-(-x)",
		"--x":                            "-(-x)",
		"x<-1":                           "x < -1",
		"2*x":                            "2 * x",
		"x*2.50":                         "x * 2.5",
		"1.0*2.0":                        "1.0 * 2.0",
		"-2*-3.0*x":                      "-2.0 * -3.0 * x",
		"n*x":                            "n * x",
		"f32(n)*x":                       "n * x",
		"f32(n)*f32(D)":                  "f32(n) * f32(D)",
		"f32(n/2)*x":                     "f32(n / 2) * x",
		"f32(3)*x":                       "f32(3) * x",
		"x + (n+D)":                      "x + (n + D)",
		"x * (n+D)":                      "x * (n + D)",
		"f16(n) + T(x) + bf16(2.0)":      "f16(n) + f16(x) + bf16(2.0)",
		"i32(x)/n%2":                     "i32(x) / n % 2",
		"n/(2%D)":                        "n / (2 % D)",
		"n<<2&1|n^3":                     "n << 2 & 1 | n ^ 3",
		"n<<(2&1)":                       "n << (2 & 1)",
		"c&&(b||x>0)":                    "c && (b || x > 0)",
		"c&&b||x>0":                      "c && b || x > 0",
		"!(c&&b)":                        "!(c && b)",
		"!c&&b":                          "!c && b",
		"!(x<f)":                         "!(x < f)",
		"where(c, 1, x)":                 "where(c, 1, x)",
		"where(c, 1.0, 2.0)":             "where(c, 1.0, 2.0)",
		"where(c, n, 2)":                 "where(c, n, 2)",
		"max(x, 0)":                      "max(x, 0)",
		"max(0, n, D)":                   "max(max(0, n), D)",
		"max(1.0, 2.0)":                  "max(1.0, 2.0)",
		"pow(x, 2) + exp(n)":             "pow(x, 2) + exp(n)",
		"abs(n) + abs(f32(n))":           "max(n, -n) + abs(f32(n))",
		"x[R, D-1] + w + m":              "x[R, D - 1] + w + m",
		"x[0, -1]":                       "x[0, -1]",
		"uniform(philox(s, 7))":          "uniform(philox(s, 7))",
		"philox(s + 1, flat(y)+u64(n))":  "philox(s + 1, flat(y) + u64(n))",
		"u * u32(3)":                     "u * 3",
		"u32(2) * 3 + u":                 "u32(2) * u32(3) + u",
		"s + 18446744073709551615":       "s + 18446744073709551615",
		"u == 4294967295":                "u == 4294967295",
		"stop(x)*inf() + nan() - -inf()": "stop(x) * inf() + nan() - -inf()",
		"-0.0*x":                         "-0.0 * x",
		"1e-5 + 1e30*x":                  "1e-05 + 1e+30 * x",
		"16777217.0*x":                   "1.6777217e+07 * x",
		"size(R)*size(D) + R":            "size(R) * size(D) + R",
		"c == true":                      "c",
		"c != b":                         "c && !b || !c && b",
		"isnan(x) || isinf(1)":           "isnan(x) || isinf(1)",
		"fma(x, 2, n)":                   "fma(x, 2, n)",
	}
	for from, want := range tests {
		x := recheck(t, e, from, from)
		if got := Format(x); got != want {
			t.Errorf("Format(%q) = %q, want %q", from, got, want)
		}
		roundTrip(t, e, x, from)
	}
}

// TestFormatRandom prints and reads back random expressions of every kind.
func TestFormatRandom(t *testing.T) {
	e := newEnv(t)
	r := rand.New(rand.NewPCG(1, 2))
	checked := 0
	for range 20000 {
		from := randomText(r, 4)
		a, err := parseExpr(tomltree.NewText("expr", from))
		if err != nil {
			t.Fatalf("%q: %v", from, err)
		}
		e.list = &diag.List{}
		if x := e.check(a); x != nil {
			checked++
			roundTrip(t, e, x, from)
		} else if len(*e.list) == 0 {
			t.Fatalf("%q is refused without a word", from)
		}
	}
	if checked < 2000 {
		t.Errorf("only %d random expressions are right; the test has lost its sense", checked)
	}
}

// randomText returns an expression that is valid syntax, and often right.
func randomText(r *rand.Rand, depth int) string {
	leaves := strings.Fields("x x f w m n i u s c b R D 0 1 2 3.0 0.5 1e9 size(D) size(R) flat(y) true inf()")
	if depth == 0 || r.IntN(5) == 0 {
		return leaves[r.IntN(len(leaves))]
	}
	sub := func() string { return randomText(r, depth-1) }
	binary := strings.Fields("+ - * / % < <= > >= == != && || & | ^ << >> + - * + - *")
	switch r.IntN(10) {
	case 0, 1, 2, 3:
		return fmt.Sprintf("(%s)%s(%s)", sub(), binary[r.IntN(len(binary))], sub())
	case 4:
		return fmt.Sprintf("%s %s %s", sub(), binary[r.IntN(len(binary))], sub())
	case 5:
		return fmt.Sprintf("where(%s > %s, %s, %s)", sub(), sub(), sub(), sub())
	case 6:
		fns := strings.Fields("exp abs f32 f16 i32 u32 u64 stop uniform isnan T sign")
		return fmt.Sprintf("%s(%s)", fns[r.IntN(len(fns))], sub())
	case 7:
		fns := strings.Fields("min max pow philox")
		return fmt.Sprintf("%s(%s, %s)", fns[r.IntN(len(fns))], sub(), sub())
	case 8:
		return fmt.Sprintf("x[%s, %s]", sub(), sub())
	}
	return []string{"-", "!"}[r.IntN(2)] + "(" + sub() + ")"
}

// FuzzParse checks that no text upsets parser or checker, that each mistake has
// a place inside the text, and that what is right survives printing.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"x + 1", "where(x > 0, x, -x)", "x[R, D - 1]", "((((x))))", "x<-1", "a--b", "\"s\" == x", "`r`", "0x1p-2",
		"1_000", "'c'", "x;y", "x //c\n+1", "x /*", "max(,)", "f(x", "x[", "--", "\x00", "é", "0o17 & 010", "i32(x) &^ 3",
		"uniform(philox(s, flat(y)))", "f32(n)/2", "size(D)", "!c", "x ? y : z", "relu(x)", "true && !false", "99999999999999999999",
		"//line foo:9\nx", "philox(s, 18446744073709551615)", "-9223372036854775808 + n",
	} {
		f.Add(s)
	}
	e := newEnv(f)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseExpr(tomltree.NewText("expr", text))
		if err != nil {
			if lines := strings.Split(text, "\n"); err.Pos.Line < 1 || err.Pos.Line > len(lines) || err.Pos.Col < 1 || err.Pos.Col > len(lines[err.Pos.Line-1])+1 {
				t.Fatalf("%q: mistake outside the text: %v", text, err)
			}
			return
		}
		e.list = &diag.List{}
		x := e.check(a)
		if x == nil {
			if len(*e.list) == 0 {
				t.Fatalf("%q is refused without a word", text)
			}
			return
		}
		roundTrip(t, e, x, text)
	})
}
