package train_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/nn/models"
	"github.com/kernelgen/kgen/runtime"
	"github.com/kernelgen/kgen/train"
	"github.com/kernelgen/kgen/train/metrics"
	"github.com/kernelgen/kgen/train/optim"
	"github.com/kernelgen/kgen/train/report"
	"github.com/kernelgen/kgen/train/schedule"
)

// A run that a signal interrupts leaves a checkpoint and its metrics; continued, it has
// the metrics of all steps once, of which a page can be made, and shows its progress.
func TestSession(t *testing.T) {
	const steps = 9
	make := trials[runtime.Float16]()["combined"]
	dir := t.TempDir()
	path, log := filepath.Join(dir, "run.safetensors"), filepath.Join(dir, "metrics.jsonl")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	w := must[*metrics.Writer](t)(metrics.Create(log))
	self := must[*os.Process](t)(os.FindProcess(os.Getpid()))
	err := make(t, 1, config(steps, 2)).Run(ctx, train.Session{Metrics: w, Checkpoint: path, Every: 2, After: func(ctx context.Context, step int) error {
		if step == 5 {
			if err := self.Signal(os.Interrupt); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err() // as a validation does that was under way
		}
		return nil
	}})
	var interrupted *train.InterruptedError
	if !errors.As(err, &interrupted) || interrupted.Step != 5 {
		t.Fatalf("the error is %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c := make(t, 2, config(steps, 2))
	must[map[string]string](t)(c.Resume(path))
	w = must[*metrics.Writer](t)(metrics.Resume(log, c.Done()))
	var bar bytes.Buffer
	err = c.Run(context.Background(), train.Session{Metrics: w, Progress: &bar, After: func(_ context.Context, step int) error {
		return w.Write(metrics.Record{Step: step, Values: map[string]float64{"validation_cosine": 0.5}, Texts: map[string]string{"sample": "Call me"}})
	}})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if !barText.Match(bar.Bytes()) {
		t.Errorf("the bar is %q", bar.String())
	}
	checkRecords(t, must[[]metrics.Record](t)(metrics.Read(log)), steps)
}

var barText = regexp.MustCompile(`step 9 of 9, kd_loss \d+\.\d{4}, ce_loss \d+\.\d{4}, \d+\.\d steps/s \[.*100\.00%`)

func checkRecords(t *testing.T, records []metrics.Record, steps int) {
	t.Helper()
	step := 0
	for _, r := range records {
		if _, ok := r.Values["validation_cosine"]; ok {
			continue
		}
		step++
		names := []string{"rate", "gradient_norm", "tokens_per_second", "loss_scale", "kd_loss", "cosine", "mse"}
		if r.Texts["phase"] == "B" {
			names = append(names[:4], "ce_loss")
		}
		for _, name := range names {
			if _, ok := r.Values[name]; !ok {
				t.Errorf("step %d has no %s: %v", r.Step, name, r)
			}
		}
		if r.Step != step || len(r.Values) != len(names) {
			t.Errorf("record %d is %+v", step, r)
		}
	}
	if step != steps {
		t.Errorf("%d steps are recorded, want %d", step, steps)
	}
	if err := report.Write(&bytes.Buffer{}, report.Run{Name: "a test", Records: records}); err != nil {
		t.Error(err)
	}
}

// Checkpoints come every so many steps and at the end; what After says ends the run.
func TestCheckpointsAndAfter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.safetensors")
	c := trials[float32]()["text"](t, 1, config(5, 1))
	var seen []int
	failure := errors.New("the disk of samples is full")
	session := train.Session{Checkpoint: path, Every: 2, After: func(_ context.Context, step int) error {
		seen = append(seen, at(t, path))
		if step == 4 {
			return failure
		}
		return nil
	}}
	err := c.Run(context.Background(), session)
	if !errors.Is(err, failure) {
		t.Errorf("the error is %v", err)
	}
	wantError(t, err, "train: after step 4: ")
	if err := c.Run(context.Background(), session); err != nil {
		t.Fatal(err)
	}
	if got := append(seen, at(t, path)); !slices.Equal(got, []int{0, 0, 2, 2, 2, 5}) {
		t.Errorf("checkpoints of steps %v were there, want 0, 0, 2, 2, 2 and 5", got)
	}
}

// at returns the step of a checkpoint, 0 if there is none.
func at(t *testing.T, path string) int {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return 0
	}
	c := trials[float32]()["text"](t, 1, config(5, 1))
	must[map[string]string](t)(c.Resume(path))
	return c.Done()
}

// A checkpoint of another trainer, other data or no trainer is refused.
func TestResumeRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.safetensors")
	text := trials[float32]()["text"]
	c := text(t, 1, config(5, 1))
	if err := c.Run(context.Background(), train.Session{Checkpoint: path}); err != nil {
		t.Fatal(err)
	}
	resume := func(c *trial, path string) error {
		_, err := c.Resume(path)
		return err
	}
	wantError(t, resume(text(t, 1, config(4, 1)), path), "does not fit: 5 steps were taken, the schedule has 4")
	wantError(t, resume(trials[float32]()["combined"](t, 1, config(5, 1)), path), "the run has 1 phases, this one 2")
	wantError(t, resume(trials[float32]()["samples"](t, 1, config(5, 1)), path), "missing: decoder.cond.bias")
	wantError(t, resume(trials[runtime.Float16]()["text"](t, 1, config(5, 1)), path), "missing: optim.scale")
	wantError(t, resume(text(t, 1, config(5, 1)), book), "train: ")
	wantError(t, c.Save(path, map[string]string{"train": ""}), "is the trainer's own")

	d := open(t)
	m := writer[float32](t, d, 1)
	data := must[*dataset.RandomWindows](t)(dataset.NewRandomWindows(make([]int32, 99), 24, 4, 3))
	other := must[*train.DecoderTrainer[float32]](t)(train.NewDecoderTrainer(m, train.CE{Data: data, Optim: adamw[float32]()}, config(5, 1)))
	defer other.Close()
	wantError(t, resume(newTrial(t, d, other.Trainer, nil), path), "the state is of another text")
}

func TestTrainersRefuse(t *testing.T) {
	d := open(t)
	e, m := encoder[float32](t, d, 1), speaker[float32](t, d, 1)
	kd := train.KD{Alpha: 1, Data: loader(t, sentences(t, 4), 4, 0), Optim: adamw[float32]()}
	ce := train.CE{Data: kd.Data, Optim: kd.Optim}
	encoderError := func(kd train.KD, c train.Config) error {
		_, err := train.NewEncoderTrainer(e, kd, c)
		return err
	}
	wantError(t, encoderError(kd, train.Config{Accumulate: -1}), "train: schedule: the peak is 0", "a step of -1 micro-batches")
	for _, bad := range []train.KD{{Alpha: -1, Beta: 1}, {}} {
		wantError(t, encoderError(bad, config(2, 1)), "distillation: alpha and beta are", "there is no data: set Data")
	}
	kd.Optim.Method = nil
	wantError(t, encoderError(kd, config(2, 1)), "train: optim: the method is <nil>")
	kd.Optim.Method = optim.SGD{}
	_, err := train.NewCombinedTrainer(e, m, kd, ce, train.Ratio{A: 1, B: 1}, config(2, 1))
	wantError(t, err, "join them with ShareLastBlock")

	wide := shape
	wide.Width = 8
	narrow := must[*models.TextDecoder[float32]](t)(models.NewTextDecoder[float32](d, models.DecoderConfig{Vocab: 9, StackConfig: wide}, 1))
	wantError(t, train.ShareLastBlock(e, narrow), "the encoder's stack is 16 wide and the decoder's 8")
	narrow.Stack.Blocks = nil
	wantError(t, train.ShareLastBlock(e, narrow), "no last one to share")
	for range 2 {
		if err := train.ShareLastBlock(e, m); err != nil {
			t.Fatal(err)
		}
	}
	_, err = train.NewCombinedTrainer(e, m, kd, ce, train.Ratio{A: 0, B: 1}, config(2, 1))
	wantError(t, err, "phase A has 0 steps in a turn")

	c := trials[float32]()["text"](t, 1, config(2, 1))
	wantError(t, c.Run(context.Background(), train.Session{Every: 2}), "set Session.Checkpoint")
	wantError(t, c.Run(context.Background(), train.Session{Every: -2, Checkpoint: "x"}), "must not be negative")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Step(ctx); !errors.Is(err, context.Canceled) || c.Done() != 0 {
		t.Errorf("a step whose context has ended gives %v and %d steps", err, c.Done())
	}
}

// Samples of one id have nothing to be foretold: those are passed over, and an epoch of
// them is an error.
func TestNothingToForetell(t *testing.T) {
	d := open(t)
	m := writer[float32](t, d, 1)
	src := ones{}
	tr := must[*train.DecoderTrainer[float32]](t)(train.NewDecoderTrainer(m, train.CE{
		Data:  must[*dataset.Loader](t)(dataset.NewLoader(src, dataset.Config{Batch: 2})),
		Optim: optim.Config{Method: optim.SGD{}},
	}, train.Config{Schedule: schedule.Cosine{Peak: 1, Steps: 1}}))
	defer tr.Close()
	wantError(t, tr.Run(context.Background(), train.Session{}), "train: step 1: no micro-batch of a whole epoch")
}

// ones is samples of one id each.
type ones struct{}

func (ones) Len() int       { return 3 }
func (ones) Tokens(int) int { return 1 }
func (ones) Dim() int       { return 0 }
func (ones) Read(_ int, s *dataset.Sample) error {
	s.IDs, s.Mask, s.Target = append(s.IDs[:0], 1), append(s.Mask[:0], 1), s.Target[:0]
	return nil
}

// Biases and normalisations are in the group without decay, all else is in the other.
func TestGroups(t *testing.T) {
	d := open(t)
	groups := train.Groups(0.1)
	if groups[0].WeightDecay != 0 || groups[1].WeightDecay != 0.1 || groups[0].Rate != 1 || groups[1].Rate != 1 {
		t.Errorf("groups %+v", groups)
	}
	var decayed []string
	for _, p := range speaker[float32](t, d, 1).Params() {
		free := false
		for _, pattern := range groups[0].Names {
			ok := must[bool](t)(filepath.Match(pattern, "decoder."+p.Name))
			free = free || ok
		}
		if !free {
			decayed = append(decayed, p.Name)
		}
	}
	want := "embedding.weight cond.weight stack.blocks.0.conv1.weight stack.blocks.0.conv2.weight stack.blocks.1.conv1.weight stack.blocks.1.conv2.weight out.weight"
	if got := strings.Join(decayed, " "); got != want {
		t.Errorf("decay on %s, want %s", got, want)
	}
}
