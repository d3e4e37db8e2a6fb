//go:build cgo

package peers

import (
	"fmt"
	"math"
	"time"
)

// contest times cases with several contestants.
type contest struct {
	ours  contestant
	peers []*peer
	turn  time.Duration
	limit time.Duration // of the turns of one case
}

// outcome is what one case gave.
type outcome struct {
	benchCase
	Ours  float64            `json:"ours_s"`
	Peers map[string]float64 `json:"peers_s"` // by peer; those that have the case
	Ratio map[string]float64 `json:"ratios"`  // time of the peer over ours
	Notes []string           `json:"notes,omitempty"`
}

// merge keeps the shorter times of o and of another outcome of the same case.
func (o *outcome) merge(other *outcome) {
	o.Ours = min(o.Ours, other.Ours)
	for name, t := range other.Peers {
		o.Peers[name] = min(o.Peers[name], t)
		o.Ratio[name] = o.Peers[name] / o.Ours
	}
}

// pause lets the threads of the last turn go to sleep.
const pause = 4 * time.Millisecond

// run times one case.
func (k *contest) run(c *benchCase) (*outcome, error) {
	want, _, err := k.ours.prepare(c)
	if err != nil {
		return nil, err
	}
	o := &outcome{benchCase: *c, Peers: map[string]float64{}, Ratio: map[string]float64{}}
	names, list := []string{""}, []contestant{k.ours}
	for _, p := range k.peers {
		got, has, err := p.prepare(c)
		if err != nil {
			return nil, err
		}
		if has {
			names, list = append(names, p.name), append(list, p)
			o.Notes = append(o.Notes, differences(p.name, got, want)...)
		}
	}
	best, err := k.turns(list)
	if err != nil {
		return nil, err
	}
	o.Ours = best[0].Seconds()
	for i, one := range list {
		if err := one.drop(); err != nil {
			return nil, err
		}
		if i > 0 {
			o.Peers[names[i]] = best[i].Seconds()
			o.Ratio[names[i]] = best[i].Seconds() / best[0].Seconds()
		}
	}
	return o, nil
}

// turns lets the contestants take turns at the prepared case and returns the
// shortest time of each. It ends when some rounds have brought nothing better,
// which takes longer on a machine that does other work, or at the time limit.
func (k *contest) turns(list []contestant) ([]time.Duration, error) {
	const quiet = 3       // rounds without progress at the end
	const progress = 0.97 // a time that is better by less is the same
	best := make([]time.Duration, len(list))
	begin := time.Now()
	for still := 0; still < quiet && time.Since(begin) < k.limit; still++ {
		for i, one := range list {
			time.Sleep(pause)
			t, err := one.measure(k.turn)
			if err != nil {
				return nil, err
			}
			if best[i] == 0 || float64(t) < progress*float64(best[i]) {
				still = -1
			}
			if best[i] == 0 || t < best[i] {
				best[i] = t
			}
		}
	}
	return best, nil
}

// differences says which results have another mean magnitude than ours: they may
// differ by rounding, and where they are random.
func differences(name string, got, want []float64) []string {
	const tolerance = 0.03
	if len(got) != len(want) {
		return []string{fmt.Sprintf("%s gives %d results, ours are %d", name, len(got), len(want))}
	}
	var notes []string
	for i, w := range want {
		if d := math.Abs(got[i] - w); !(d <= tolerance*math.Abs(w)) {
			notes = append(notes, fmt.Sprintf("%s: the mean magnitude of result %d is %g, ours is %g", name, i+1, got[i], w))
		}
	}
	return notes
}
