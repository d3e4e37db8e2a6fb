package checkpoint

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/kernelgen/kgen/internal/pytest"
)

// The figures are gigabytes a second of a checkpoint of 256 MiB in 64 tensors, and
// how many times those of Python's implementation with NumPy in the same run and the
// same folder, the best of some. Save here waits until the file is on the disk, which
// Python's does not.
func BenchmarkCheckpoint(b *testing.B) {
	d := open(b)
	const tensors, elements = 64, 1 << 20
	state := State{}
	for i := range tensors {
		state[fmt.Sprintf("layer%d.weight", i)] = from(b, d, make([]float32, elements), 1024, 1024)
	}
	dir := b.TempDir()
	var theirs struct{ Save, Load float64 }
	if err := json.Unmarshal([]byte(pytest.Run(b, `
import json, sys, time, numpy as np
from safetensors.numpy import save_file, load_file
state = {f"layer{i}.weight": np.zeros((1024, 1024), np.float32) for i in range(int(sys.argv[2]))}
best = {"Save": 1e9, "Load": 1e9}
for _ in range(5):
    start = time.perf_counter()
    save_file(state, sys.argv[1])
    best["Save"] = min(best["Save"], time.perf_counter() - start)
    start = time.perf_counter()
    loaded = load_file(sys.argv[1])
    best["Load"] = min(best["Load"], time.perf_counter() - start)
print(json.dumps(best))
`, filepath.Join(dir, "theirs.safetensors"), fmt.Sprint(tensors))), &theirs); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, "ours.safetensors")
	report := func(name string, theirs float64, run func() error) {
		b.Run(name, func(b *testing.B) {
			best := time.Hour
			for b.Loop() {
				start := time.Now()
				if err := run(); err != nil {
					b.Fatal(err)
				}
				best = min(best, time.Since(start))
			}
			b.ReportMetric(4*tensors*elements/1e9/best.Seconds(), "GB/s")
			b.ReportMetric(theirs/best.Seconds(), "×python")
		})
	}
	report("save", theirs.Save, func() error { return Save(path, state, nil) })
	report("load", theirs.Load, func() error { _, err := Load(path, state); return err })
}
