package report

import (
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/train/metrics"
)

// exampleRun returns what a run of alternating phases leaves: losses that fall like a
// power of the step with noise, a warm-up and half a cosine, and samples of a real
// text.
func exampleRun(t testing.TB, steps int) Run {
	t.Helper()
	book, err := os.ReadFile("../../data/moby-dick.txt")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	noise := func(size float64) float64 { return 1 + size*rng.NormFloat64() }
	run := Run{Name: "moby-dick, 0.8 M parameters", Config: exampleConfig}
	every := max(1, steps/20)
	for step := 1; step <= steps; step++ {
		done := float64(step) / float64(steps)
		rate := 3e-3 * min(done*20, (1+math.Cos(math.Pi*done))/2)
		r := metrics.Record{Step: step, Values: map[string]float64{
			"rate":              rate,
			"tokens_per_second": 41e3 * noise(0.04),
		}, Texts: map[string]string{"phase": "A"}}
		decoded := 1.45 + 2.9*math.Pow(1+400*done, -0.45)
		cosine := 0.78 - 0.7*math.Pow(1+100*done, -0.5)
		if step/max(1, steps/40)%2 == 0 {
			r.Values["kd_loss"] = (1 - cosine) * noise(0.06)
		} else {
			r.Texts["phase"] = "B"
			r.Values["ce_loss"] = decoded * noise(0.03)
		}
		run.Records = append(run.Records, r)
		if step%every == 0 {
			at := 5000 + 7000*(step/every)
			run.Records = append(run.Records, metrics.Record{Step: step, Values: map[string]float64{
				"validation_ce_loss": decoded * 1.03, "validation_kd_loss": (1 - cosine) * 1.08, "validation_cosine": cosine,
			}, Texts: map[string]string{"sample": strings.ToValidUTF8(string(book[at:at+400]), "")}})
		}
	}
	for i, name := range []string{"matmul_bias", "matmul", "layernorm", "layernorm_backward", "gelu_backward", "adamw", "cross_entropy", "embedding", "im2col", "add"} {
		run.Ops = append(run.Ops, Op{Name: name, Seconds: 120 * math.Pow(0.6, float64(i)), Calls: steps * (1 + i%3)})
	}
	return run
}

const exampleConfig = `[data]
train = "data/moby-dick.txt"  # the last tenth is held out
window = 256

[model]
kind = "decoder"
width = 128
hidden = 256
dilations = [1, 2, 4, 8, 16, 32]

[optimiser]
kind = "adamw"
decay = 0.01

[schedule]
peak = 3e-3
warmup = 500
steps = 10_000
`

// write returns the page of a run.
func write(t testing.TB, run Run) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, run); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func loss(values ...float64) []metrics.Record {
	var records []metrics.Record
	for i, v := range values {
		records = append(records, metrics.Record{Step: i, Values: map[string]float64{"loss": v}})
	}
	return records
}
