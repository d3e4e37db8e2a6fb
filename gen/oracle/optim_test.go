package oracle_test

import (
	"testing"

	"github.com/kernelgen/kgen/gen/oracle"
)

// adamStep is one step of adamw on one weight.
func adamStep(t *testing.T, step, g float64, w, m, v oracle.Array) arrays {
	t.Helper()
	o := op{
		name: "adamw",
		ins: arrays{
			"g": vec(g), "w": w, "m": m, "v": v, "step": oracle.Scalar(step),
			"inv_scale": oracle.Scalar(1), "clip": oracle.Scalar(1), "skip": oracle.Scalar(0),
		},
		params: map[string]oracle.Value{"lr": oracle.Float(0.1)},
	}
	return o.run(t)
}

func TestAdamCorrection(t *testing.T) {
	zero := vec(0)
	within(t, "one step", 1e-9, adamStep(t, 1, 1, zero, zero, zero)["w"], -0.099999999)
	within(t, "tiny gradient", 1e-8, adamStep(t, 1, 1e-8, zero, zero, zero)["w"], -0.05)
	state := arrays{"w": zero, "m": zero, "v": zero}
	want := []float64{-0.09999999900, -0.06338964653, -0.04972058033}
	for i, g := range []float64{1, -2, 0.5} {
		state = adamStep(t, float64(i+1), g, state["w"], state["m"], state["v"])
		within(t, "three steps", 1e-8, state["w"], want[i])
	}
	late := adamStep(t, 100000, 1, zero, vec(1), vec(1))
	within(t, "late", 1e-8, late["w"], -0.099999999)
}

func TestSkippedStepChangesNothing(t *testing.T) {
	for _, name := range []string{"adamw", "adam", "sgd"} {
		o := op{
			name: name, choices: []string{"shadow", "with"},
			ins: arrays{
				"g": vec(nan), "w": vec(3), "m": vec(2), "v": vec(1), "step": oracle.Scalar(0),
				"inv_scale": oracle.Scalar(inf), "clip": oracle.Scalar(nan), "skip": oracle.Scalar(1),
			},
			params: map[string]oracle.Value{"lr": oracle.Float(0.1)},
		}
		r := o.run(t)
		near(t, name+" w", r["w"], 3)
		near(t, name+" v", r["v"], 1)
		near(t, name+" shadow", r["shadow"], 3)
	}
}

func TestClipFactor(t *testing.T) {
	clip := func(norm, limit float64) arrays {
		o := op{
			name: "clip_factor", ins: arrays{"norm_sq": oracle.Scalar(norm * norm), "inv_scale": oracle.Scalar(0.5)},
			params: map[string]oracle.Value{"max_norm": oracle.Float(limit)},
		}
		return o.run(t)
	}
	near(t, "clipped", clip(8, 1)["clip"], 0.25)
	near(t, "below", clip(1, 1)["clip"], 1)
	near(t, "off", clip(8, 0)["clip"], 1)
	near(t, "finite", clip(8, 1)["skip"], 0)
	near(t, "overflow", clip(inf, 1)["skip"], 1)
	near(t, "NaN", clip(nan, 1)["skip"], 1)
}
