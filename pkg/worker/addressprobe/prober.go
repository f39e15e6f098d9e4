// Package addressprobe asks published addresses whether they serve (ADR 0072).
package addressprobe

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// Prober probes the addresses that one cluster's DNSEndpoints ask for. Each address has a
// goroutine of its own, so that one that does not answer holds up nothing else (I7). It
// needs nothing of the cluster, and goes on while that cannot be reached.
type Prober struct {
	cluster *state.Cluster
	vantage *Vantage
	targets map[key]*target
	refused map[key]string // targets that are not probed, with their project
	turned  state.Signal   // a target has found something
	running sync.WaitGroup
}

// New makes a Prober. Nothing is probed without a Vantage.
func New(of *state.Cluster, vantage *Vantage) *Prober {
	return &Prober{cluster: of, vantage: vantage, targets: map[key]*target{}, turned: make(state.Signal, 1)}
}

// Run probes what is asked for, until ctx ends.
func (p *Prober) Run(ctx context.Context) {
	if p.vantage == nil {
		return
	}
	defer p.running.Wait()
	for {
		if p.cluster.Asks() {
			probed := p.cluster.Probed()
			p.follow(ctx, probed)
			p.hand(probed)
		}
		select {
		case <-ctx.Done():
			return
		case <-p.cluster.Signals.Addresses:
		case <-p.turned:
		}
	}
}

// follow begins to probe what is asked for, and ends what is not.
func (p *Prober) follow(ctx context.Context, probed map[string]*state.Wanted) {
	wanted := map[key]bundle.Probe{}
	for endpoint, want := range probed {
		for _, probe := range want.Object.Published.Probes {
			for _, address := range probe.Targets {
				wanted[key{endpoint, probe.Key(), address}] = probe
			}
		}
	}
	for at, t := range p.targets {
		if _, still := wanted[at]; !still {
			t.cancel()
			<-t.ended
			delete(p.targets, at)
		}
	}
	p.refused = map[key]string{}
	for _, at := range slices.SortedFunc(maps.Keys(wanted), compareKeys) {
		if p.targets[at] != nil {
			continue
		}
		t := newTarget(at, state.MarkOf(probed[at.endpoint].Object.ID, probed[at.endpoint]).Project, wanted[at].Spec, p.vantage, p.turned.Wake)
		if !p.vantage.enter(t) {
			p.refused[at] = t.project
			continue
		}
		within, cancel := context.WithCancel(ctx)
		t.cancel, p.targets[at] = cancel, t
		p.running.Go(func() { t.run(within) })
	}
}

func compareKeys(a, b key) int {
	return cmp.Or(cmp.Compare(a.endpoint, b.endpoint), cmp.Compare(a.probe, b.probe), cmp.Compare(a.address, b.address))
}

// hand gives to the observer what is known.
func (p *Prober) hand(probed map[string]*state.Wanted) {
	all := map[string]observed.Probes{}
	add := func(at key, seen observed.ProbeSeen) {
		of := all[at.endpoint]
		of.Owners, of.From, of.Of = probed[at.endpoint].Owners, p.vantage.name, append(of.Of, seen)
		all[at.endpoint] = of
	}
	for at, t := range p.targets {
		add(at, t.result())
	}
	for at, project := range p.refused {
		add(at, observed.ProbeSeen{Probe: at.probe, Target: at.address, Message: fmt.Sprintf("not probed: project %s has %d probed addresses already, as many as a worker probes for a project", project, mostOfProject)})
	}
	for _, of := range all {
		slices.SortFunc(of.Of, func(a, b observed.ProbeSeen) int {
			return cmp.Or(cmp.Compare(a.Probe, b.Probe), cmp.Compare(a.Target, b.Target))
		})
	}
	p.cluster.SetProbes(all)
}
