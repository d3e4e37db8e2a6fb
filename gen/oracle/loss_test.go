package oracle_test

import (
	"errors"
	"math"
	"testing"

	"github.com/kernelgen/kgen/gen/oracle"
)

func entropy(name string, ignore int64, shape []int, logits []float64, target ...float64) op {
	return op{
		name:   name,
		ins:    arrays{"logits": mat(shape, logits...), "target": mat(shape[:len(shape)-1], target...)},
		params: map[string]oracle.Value{"ignore_index": oracle.Int(ignore)},
	}
}

func TestEveryTargetIgnored(t *testing.T) {
	logits := make([]float64, 50)
	for i := range logits {
		logits[i] = math.Sin(float64(i))
	}
	shape, ignored := []int{1, 5, 10}, repeat(-100, 5)
	mean := entropy("cross_entropy_mean", -100, shape, logits, ignored...)
	r := mean.run(t)
	near(t, "loss", r["loss"], 0)
	near(t, "count", r["count"], 0)
	near(t, "d_logits", mean.back(t, arrays{"loss": oracle.Scalar(1)})["logits"], make([]float64, 50)...)

	acc := entropy("accuracy", -100, shape, logits, ignored...).run(t)
	near(t, "accuracy", acc["accuracy"], 0)
	near(t, "accuracy count", acc["count"], 0)
}

func TestIgnoredRowsMayHoldAnything(t *testing.T) {
	o := entropy("cross_entropy", -100, []int{2, 2}, []float64{nan, -inf, 0, 0}, -100, 1)
	r := o.run(t)
	near(t, "loss", r["loss"], 0, math.Ln2)
	near(t, "lse", r["lse"], 0, math.Ln2)
	near(t, "d_logits", o.back(t, arrays{"loss": vec(1, 1)})["logits"], 0, 0, 0.5, -0.5)
}

func TestCrossEntropyTargets(t *testing.T) {
	ln3 := math.Log(3)
	target := []float64{0, 1, 255, 0, 1, 2}
	none := entropy("cross_entropy", 255, []int{6, 3}, make([]float64, 18), target...)
	near(t, "loss", none.run(t)["loss"], ln3, ln3, 0, ln3, ln3, ln3)
	mean := entropy("cross_entropy_mean", 255, []int{6, 3}, make([]float64, 18), target...).run(t)
	near(t, "mean", mean["loss"], ln3)
	near(t, "count", mean["count"], 5)

	for _, bad := range []struct{ target, ignore float64 }{{-4, -1}, {3, -100}} {
		for _, name := range []string{"cross_entropy", "cross_entropy_mean", "accuracy", "perplexity"} {
			err := entropy(name, int64(bad.ignore), []int{2, 3}, make([]float64, 6), 1, bad.target).fails(t)
			var fault *oracle.BoundsError
			if !errors.As(err, &fault) || fault.Tensor != "target" || fault.Pos != 1 || fault.Value != int64(bad.target) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	within(t, "ignored class", 1e-7, entropy("cross_entropy", 0, []int{1, 3}, []float64{0, 1, 1}, 1).run(t)["loss"], 0.86199480)
	far := entropy("cross_entropy", -100, []int{2, 2}, []float64{1000, 0, 1000, 0}, 0, 1)
	near(t, "far", far.run(t)["loss"], 0, 1000)
	near(t, "d_logits", far.back(t, arrays{"loss": vec(1, 1)})["logits"], 0, 0, 1, -1)
	near(t, "NaN", entropy("cross_entropy", -100, []int{1, 2}, []float64{nan, 0}, 1).run(t)["loss"], nan)
}

func TestKLDistillAtZeroProbability(t *testing.T) {
	kl := func(student, teacher []float64) op {
		n := len(student)
		return op{name: "kl_distill", ins: arrays{
			"student": mat([]int{1, n}, student...), "teacher": mat([]int{1, n}, teacher...),
		}}
	}
	near(t, "teacher 0", kl([]float64{0, 0}, []float64{0, -inf}).run(t)["loss"], math.Ln2)
	near(t, "both 0", kl([]float64{0, -inf}, []float64{0, -inf}).run(t)["loss"], 0)
	near(t, "student 0", kl([]float64{0, -inf}, []float64{0, 0}).run(t)["loss"], inf)
	near(t, "masked teacher", kl([]float64{0, 1}, []float64{-inf, -inf}).run(t)["loss"], 0)
	d := kl([]float64{0, 0}, []float64{0, -inf}).back(t, arrays{"loss": vec(1)})
	near(t, "d_student", d["student"], -0.5, 0.5)
}

func TestCosineOfZeroRows(t *testing.T) {
	o := op{name: "cosine_similarity", ins: arrays{"a": mat([]int{1, 2}, 0, 0), "b": mat([]int{1, 2}, 3, 4)}}
	near(t, "y", o.run(t)["y"], 0)
	d := o.back(t, arrays{"y": vec(1)})
	near(t, "d_a", d["a"], 0.6e6, 0.8e6)
	near(t, "d_b", d["b"], 0, 0)
}
