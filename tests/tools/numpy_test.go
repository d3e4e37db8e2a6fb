package tools

import (
	"encoding/json"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/internal/pytest"
)

// figures are those that NumPy computes from the same weights and samples.
type figures struct {
	KD struct {
		Cosine    float64            `json:"cosine"`
		MSE       float64            `json:"mse"`
		Loss      float64            `json:"loss"`
		Retrieval map[string]float64 `json:"retrieval"`
	} `json:"kd"`
	CE struct {
		Loss             float64 `json:"loss"`
		Perplexity       float64 `json:"perplexity"`
		IDs              int     `json:"ids"`
		NatsPerCharacter float64 `json:"nats_per_character"`
		BitsPerByte      float64 `json:"bits_per_byte"`
	} `json:"ce"`
	Lengths map[string]int `json:"lengths"`
	IDs     int            `json:"ids"`
}

// numPy computes both models in float64, sentence by sentence without padding, from the
// weights that eftrain exports, and measures them.
const numPy = `
import json, struct, sys
import numpy as np, tokenizers
from safetensors.numpy import load_file

weights, samples, vocabulary = sys.argv[1:]
w = {k: v.astype(float) for k, v in load_file(weights).items()}

def read(path):
    data = open(path, "rb").read()
    _, count, dim = struct.unpack_from("<4sII", data)
    at = 12
    for _ in range(count):
        (n,) = struct.unpack_from("<I", data, at)
        yield np.frombuffer(data, "<u4", n, at + 4), np.frombuffer(data, "<f4", dim, at + 4 + 5 * n).astype(float)
        at += 4 + 5 * n + 4 * dim

def block(x, p, dilation):
    h = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    h = h * w[p + "norm.weight"] + w[p + "norm.bias"]
    taps = w[p + "conv1.weight"]
    k = taps.shape[2]
    padded = np.concatenate([np.zeros(((k - 1) * dilation, h.shape[1])), h])
    h = w[p + "conv1.bias"] + sum(padded[i * dilation : i * dilation + len(x)] @ taps[:, :, i].T for i in range(k))
    h = 0.5 * h * (1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h**3)))
    return x + h @ w[p + "conv2.weight"][:, :, 0].T + w[p + "conv2.bias"]

def linear(x, p):
    return x @ w[p + ".weight"].T + w[p + ".bias"]

def stack(x, blocks):
    for i, p in enumerate(blocks):
        x = block(x, p + ".", 2**i)
    return x

tokenizer = tokenizers.Tokenizer.from_file(vocabulary)
own = ["encoder.stack.blocks.0", "encoder.stack.blocks.1"]
predicted, targets, lengths, nats, foretold, text = [], [], [], 0.0, 0, ""
for ids, target in list(read(samples))[450:]:
    x = stack(w["encoder.embedding.weight"][ids], own)
    predicted.append(linear(x.mean(0), "encoder.out"))
    targets.append(target)
    lengths.append(len(ids))
    x = w["decoder.embedding.weight"][ids[:-1]] + linear(target, "decoder.cond")
    logits = linear(stack(x, ["decoder.stack.blocks.0", own[1]]), "decoder.out")
    top = logits.max(1)
    nats += (top + np.log(np.exp(logits - top[:, None]).sum(1)) - logits[np.arange(len(ids) - 1), ids[1:]]).sum()
    foretold += len(ids) - 1
    text += tokenizer.decode(ids[1:].tolist())
predicted, targets = np.array(predicted), np.array(targets)
unit = lambda v: v / np.linalg.norm(v, axis=1, keepdims=True)
scores = unit(predicted) @ unit(targets).T
place = (np.argsort(-scores, axis=1) == np.arange(len(scores))[:, None]).argmax(1)
cosine, mse = np.diag(scores).mean(), ((predicted - targets) ** 2).mean()
print(json.dumps({
    "kd": {"cosine": cosine, "mse": mse, "loss": 1 - cosine + 0.5 * mse, "retrieval": {k: (place < int(k)).mean() for k in ["1", "5", "10"]}},
    "ce": {"loss": nats / foretold, "perplexity": np.exp(nats / foretold), "ids": foretold,
           "nats_per_character": nats / len(text), "bits_per_byte": nats / np.log(2) / len(text.encode())},
    "lengths": dict(zip(["least", "p5", "p25", "p50", "p75", "p95", "p99", "most"],
                        np.percentile(lengths, [0, 5, 25, 50, 75, 95, 99, 100], method="inverted_cdf").tolist())),
    "ids": sum(lengths),
}))
`

// What eftexteval says of a trained model, NumPy says of its weights.
func TestNumPy(t *testing.T) {
	samples, err := filepath.Abs("../../data/distil/validation.efb")
	if err != nil {
		t.Fatal(err)
	}
	vocabulary := filepath.Join(filepath.Dir(samples), "tokenizer.json")
	out := filepath.Join(t.TempDir(), "run")
	command(t, "eftrain", "-kind", "combined", "-train", samples, "-tokenizer", vocabulary, "-out", out, "-steps", "30", "-peak", "1e-2",
		"-width", "16", "-hidden", "24", "-blocks", "2", "-widths", "24,48,96", "-batch", "16", "-beta", "0.5", "-sample", "0", "-export", "f32")
	var got, want figures
	decode(t, command(t, "eftexteval", out, "-json"), &got)
	decode(t, pytest.Run(t, numPy, filepath.Join(out, "weights.safetensors"), samples, vocabulary), &want)
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-5*math.Abs(want)) {
			t.Errorf("%s is %v, NumPy has %v", what, got, want)
		}
	}
	near("cosine", got.KD.Cosine, want.KD.Cosine)
	near("MSE", got.KD.MSE, want.KD.MSE)
	near("distillation loss", got.KD.Loss, want.KD.Loss)
	near("cross entropy", got.CE.Loss, want.CE.Loss)
	near("perplexity", got.CE.Perplexity, want.CE.Perplexity)
	near("nats for a character", got.CE.NatsPerCharacter, want.CE.NatsPerCharacter)
	near("bits for a byte", got.CE.BitsPerByte, want.CE.BitsPerByte)
	for k, v := range want.KD.Retrieval {
		near("retrieval@"+k, got.KD.Retrieval[k], v)
	}
	for p, v := range want.Lengths {
		near("length "+p, float64(got.Lengths[p]), float64(v))
	}
	if got.IDs != want.IDs || got.CE.IDs != want.CE.IDs {
		t.Errorf("%d ids, %d foretold, NumPy counts %d and %d", got.IDs, got.CE.IDs, want.IDs, want.CE.IDs)
	}
}

// command runs a tool and returns what it prints.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	var stderr strings.Builder
	cmd := exec.Command(name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, stderr.String())
	}
	return string(out)
}

func decode(t *testing.T, text string, to any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), to); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}
