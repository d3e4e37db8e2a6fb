package train

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/kernelgen/kgen/checkpoint"
	"github.com/kernelgen/kgen/dataset"
	"github.com/kernelgen/kgen/nn"
	"github.com/kernelgen/kgen/safetensors"
)

// positionKey is the metadata of a checkpoint under which a run's position is.
const positionKey = "train"

// position is what a run needs to be continued, beside tensors.
type position struct {
	Step   int             `json:"step"`
	Phases []phasePosition `json:"phases"`
}

type phasePosition struct {
	Data     dataset.State     `json:"data"`
	Dropouts []dropoutPosition `json:"dropouts"`
}

type dropoutPosition struct {
	Seed   uint64 `json:"seed"`
	Offset uint64 `json:"offset"`
}

// Save writes a checkpoint, as a whole or not at all, with metadata of the caller's, under
// any key but "train".
func (t *Trainer) Save(path string, metadata map[string]string) (err error) {
	if _, ok := metadata[positionKey]; ok {
		return fmt.Errorf("train: the metadata %q is the trainer's own: take another key", positionKey)
	}
	encoded, err := json.Marshal(t.position())
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	state, views, err := t.tensors()
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	defer func() { err = errors.Join(err, views.close()) }()
	all := map[string]string{positionKey: string(encoded)}
	maps.Copy(all, metadata)
	return checkpoint.Save(path, state, all)
}

// Resume goes on from a checkpoint of a trainer of the same models and configuration, on
// the same data, and returns the metadata that Save was given. The schedule may be another
// one, of no fewer steps than were taken. After an error the trainer is not to be used.
func (t *Trainer) Resume(path string) (metadata map[string]string, err error) {
	f, err := safetensors.Open(path)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	metadata = maps.Clone(f.Metadata())
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	var p position
	if err := json.Unmarshal([]byte(metadata[positionKey]), &p, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("train: %s is no checkpoint of a trainer: its metadata %q is %q: %w", path, positionKey, metadata[positionKey], err)
	}
	delete(metadata, positionKey)
	if err := t.fits(p); err != nil {
		return nil, fmt.Errorf("train: %s does not fit: %w", path, err)
	}
	state, views, err := t.tensors()
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	defer func() { err = errors.Join(err, views.close()) }()
	if _, err := checkpoint.Load(path, state); err != nil {
		return nil, err
	}
	t.invalidate()
	if err := t.restore(p); err != nil {
		return nil, fmt.Errorf("train: %s does not fit: %w", path, err)
	}
	return metadata, nil
}

func (t *Trainer) position() position {
	p := position{Step: t.done}
	for _, phase := range t.phases {
		at := phasePosition{Data: phase.data.State()}
		for _, d := range phase.dropouts() {
			at.Dropouts = append(at.Dropouts, dropoutPosition{d.Seed(), d.Offset()})
		}
		p.Phases = append(p.Phases, at)
	}
	return p
}

// fits returns why a position is not one of this trainer.
func (t *Trainer) fits(p position) error {
	if p.Step < 0 || p.Step > t.config.Schedule.Steps {
		return fmt.Errorf("%d steps were taken, the schedule has %d", p.Step, t.config.Schedule.Steps)
	}
	if len(p.Phases) != len(t.phases) {
		return fmt.Errorf("the run has %d phases, this one %d", len(p.Phases), len(t.phases))
	}
	for i, phase := range t.phases {
		if got, want := len(p.Phases[i].Dropouts), len(phase.dropouts()); got != want {
			return fmt.Errorf("the model has %d dropouts, this one %d", got, want)
		}
	}
	return nil
}

// restore goes to a position that fits.
func (t *Trainer) restore(p position) error {
	for i, phase := range t.phases {
		if err := phase.data.Restore(p.Phases[i].Data); err != nil {
			return err
		}
		for j, d := range phase.dropouts() {
			d.SetSeed(p.Phases[i].Dropouts[j].Seed)
			d.SetOffset(p.Phases[i].Dropouts[j].Offset)
		}
	}
	t.done = p.Step
	return nil
}

// tensors names all that a checkpoint holds. What two models share is in it under both
// names, so that each can be loaded by itself.
func (t *Trainer) tensors() (checkpoint.State, *views, error) {
	state, v := checkpoint.State{}, &views{}
	for _, p := range t.phases {
		prefix := "optim."
		if p.name != "" {
			prefix += strings.ToLower(p.name) + "."
		}
		kept, err := p.optimizer.State(prefix)
		if err == nil {
			err = v.add(state, p.params())
		}
		if err != nil {
			return nil, nil, errors.Join(err, v.close())
		}
		maps.Copy(state, kept)
	}
	return state, v, nil
}

// invalidate says that the masters of all parameters were written to.
func (t *Trainer) invalidate() {
	for _, p := range t.phases {
		invalidate(p.params())
	}
}

func invalidate(params []nn.Named) {
	for _, p := range params {
		p.Invalidate()
	}
}

// LoadModel fills the parameters of a model from a checkpoint of a trainer: part is
// encoder or decoder.
func LoadModel(path, part string, m nn.Module) (err error) {
	state, v, params := checkpoint.State{}, &views{}, nn.Under(part, m)
	defer func() { err = errors.Join(err, v.close()) }()
	if err := v.add(state, params); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	if _, err := checkpoint.LoadPart(path, part+".", state); err != nil {
		return err
	}
	invalidate(params)
	return nil
}
