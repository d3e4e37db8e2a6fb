//go:build proof

package cpu

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestMathOfAllFloats measures the functions that have an error over all 2^32
// floats, and compares the errors with the table of docs/numerics.md. Where
// multiply-add is fused every instruction set gives the same bits (TestMath), so
// the best one stands for all of them, and the baseline for itself.
func TestMathOfAllFloats(t *testing.T) {
	table := documented(t)
	isas := machineISAs(t)
	host := target{name: "cc", cc: []string{"cc"}}
	program := host.build(t, "math_main.c", "math.c")
	for column, isa := range []int{slices.Max(isas), 0} {
		for _, name := range []string{"exp", "log", "tanh", "erf", "sigmoid", "log1p", "expm1"} {
			t.Run(fmt.Sprint(name, "/isa", isa), func(t *testing.T) {
				t.Parallel()
				out, err := host.start(program, strconv.Itoa(isa), "1", name).CombinedOutput()
				t.Logf("%s", out)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := strings.Fields(string(out))[1], table[name][column]; got != want {
					t.Errorf("the largest error is %s ulp, docs/numerics.md says %s", got, want)
				}
			})
		}
	}
}

// documented reads the errors of each function from the table: with fused
// multiply-add, and of the baseline.
func documented(t *testing.T) map[string][2]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/numerics.md")
	if err != nil {
		t.Fatal(err)
	}
	table := map[string][2]string{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) == 6 {
			table[strings.TrimSpace(cells[1])] = [2]string{strings.TrimSpace(cells[3]), strings.TrimSpace(cells[4])}
		}
	}
	return table
}
