package controller

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// keepWatching watches until ctx ends, beginning again when that fails.
func (c *Controller) keepWatching(ctx context.Context) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := c.watch(ctx); err != nil && ctx.Err() == nil {
			c.service.Logger.WarnContext(ctx, "observations cannot be watched", "error", err)
		}
	}, time.Second)
}

// watch makes owners due whose Services were observed to change, whose placements have
// other nodes, or whose clusters become reachable or unreachable.
func (c *Controller) watch(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	defer end() // nobody would read what is watched any more
	owners, revision, err := c.readInterest(ctx)
	if err != nil {
		return err
	}
	if err := c.service.Renderer.KeepHealth(ctx); err != nil {
		return err
	}
	defer c.service.Renderer.LoseHealth()
	pointers := c.service.Contexts.Watch(ctx, revision+1)
	changes := c.service.Observed.Watch(ctx, revision+1)
	documents := c.documents(ctx, revision+1)
	claims := nameclaim.Store{KV: c.service.KV}.Watch(ctx, revision+1)
	if documents != nil {
		c.scan(ctx) // what has changed before was told to nobody, or to a watch that has ended
		c.failoverBegun()
	}
	tick, silent := time.NewTicker(scanEvery), map[string]address.Standing{}
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			silent = c.followSilent(ctx, owners, silent)
		case change, open := <-documents:
			if !open {
				return nil
			}
			c.followDocuments(ctx, change)
		case change, open := <-claims:
			if !open {
				return nil
			}
			c.followClaims(ctx, owners, change)
		case change := <-pointers:
			c.follow(owners, change)
			if change.Lost {
				if owners, _, err = c.readInterest(ctx); err != nil {
					return err
				}
			}
		case change := <-changes:
			if err := c.followObserved(ctx, owners, change); err != nil {
				return err
			}
		}
	}
}

// followObserved makes owners due that an observation concerns.
func (c *Controller) followObserved(ctx context.Context, owners *interest, change observed.Change) error {
	reached, all, err := c.followReached(ctx, change)
	if err != nil {
		return err
	}
	c.hear(change.Answers)
	if all {
		c.scan(ctx)
		return nil
	}
	change.Reached = reached
	c.concern(owners.in(change))
	return nil
}

// wholly is the work of owners, in order, so that histories repeat.
func wholly(all owners) []work {
	var out []work
	for _, owner := range slices.Sorted(maps.Keys(all)) {
		out = append(out, work{owner: owner})
	}
	return out
}

// concern puts work of this replica's share into the queue. A cluster may concern very many names, which read together.
func (c *Controller) concern(all []work) {
	if len(all) == 1 { // alone, it reads less by itself
		c.told(all[0])
		return
	}
	var whole []intent.Path
	for _, todo := range all {
		switch {
		case todo.service != "":
			c.told(todo)
		case c.share.has(todo.owner):
			whole = append(whole, todo.owner)
		}
	}
	c.lookAt(whole, false)
}

// follow takes up what matters to whom now, and what somebody has just done.
func (c *Controller) follow(owners *interest, change appcontext.Change) {
	for _, p := range change.Pointers {
		owners.take(p)
	}
	for _, t := range change.Touches {
		c.pace.heard(work{intent.Path(t.Owner), t.Service}, time.Now())
	}
}

// hear has answers of authoritative servers recorded in the past of names, if they have
// changed lately.
func (c *Controller) hear(all []observed.Answers) {
	const lately = 10 * time.Minute
	if c.service.Store.Names == nil {
		return
	}
	for _, answers := range all {
		for _, n := range answers.Names {
			verdict := verify.Verdict(n.Verdict)
			right := verdict == verify.Matches || verdict == verify.Gone
			if !right && verdict.Status() != "False" || c.service.Now().Sub(n.Since) > lately {
				continue
			}
			c.service.Store.Names.Heard(intent.NameHeard{Project: answers.Project, Host: n.Name, Type: n.Type, Right: right, Message: n.Message, Since: n.Since})
		}
	}
}

// followReached keeps how clusters can be reached, and answers those of which the owners have
// to hear. When most of them fail at once, or do no more, it is everybody's concern: all says so.
func (c *Controller) followReached(ctx context.Context, change observed.Change) (reached []string, all bool, err error) {
	switch {
	case change.Lost:
		return change.Reached, true, c.service.Renderer.KeepHealth(ctx)
	case len(change.Reached) == 0:
		return nil, false, nil
	}
	if reached, err = c.service.Renderer.FollowReached(ctx, change.Reached); err != nil {
		return nil, false, err
	}
	all, err = c.service.Renderer.NoteFrozen(ctx)
	return reached, all, err
}

func (c *Controller) readInterest(ctx context.Context) (*interest, int64, error) {
	pointers, revision, err := c.service.Contexts.Pointers(ctx)
	all := newInterest()
	for _, p := range pointers {
		all.take(p)
	}
	return all, revision, err
}

// interest says by the current pointers what matters to which owner. An
// external-dns is none of them.
type interest struct {
	pointers map[appcontext.Owner]matter
	services map[address.Service]owners // to whom it matters
	sources  map[string]owners          // by cluster: to whom any of its Services matters
	placed   map[string]owners          // by cluster: to whom its nodes matter
}

type owners map[intent.Path]bool

// matter is what is observed that matters to an owner, as its pointer says.
type matter struct {
	services   map[string][]string
	placements map[string][]placement.Placement
}

func newInterest() *interest {
	return &interest{
		pointers: map[appcontext.Owner]matter{}, services: map[address.Service]owners{},
		sources: map[string]owners{}, placed: map[string]owners{},
	}
}

// take takes up an owner's pointer in place of the one before.
func (i *interest) take(p appcontext.Pointer) {
	if _, _, _, isProvider := p.Owner.Provider(); isProvider {
		return
	}
	owner, now := intent.Path(p.Owner), matter{p.Services, p.Placements}
	i.note(owner, i.pointers[p.Owner], false)
	i.note(owner, now, true)
	if len(p.Services)+len(p.Placements) == 0 {
		delete(i.pointers, p.Owner) // nothing that is observed matters to it
		return
	}
	i.pointers[p.Owner] = now
}

// note writes down what matters to an owner, or that it no longer does.
func (i *interest) note(owner intent.Path, of matter, matters bool) {
	for cluster, names := range of.services {
		mark(i.sources, cluster, owner, matters)
		for _, service := range names {
			namespace, name, _ := strings.Cut(service, "/")
			mark(i.services, address.Service{Cluster: cluster, Namespace: namespace, Name: name}, owner, matters)
		}
	}
	for cluster, placements := range of.placements {
		mark(i.placed, cluster, owner, matters && len(placements) > 0)
	}
}

func mark[Key comparable](index map[Key]owners, key Key, owner intent.Path, matters bool) {
	switch {
	case !matters:
		delete(index[key], owner)
		if len(index[key]) == 0 {
			delete(index, key)
		}
	case index[key] == nil:
		index[key] = owners{owner: true}
	default:
		index[key][owner] = true
	}
}

// in is what there is to do about a change.
func (i *interest) in(change observed.Change) []work {
	var out []work
	added := map[work]bool{}
	add := func(all owners, service string) {
		for _, owner := range slices.Sorted(maps.Keys(all)) {
			if todo := (work{owner, service}); !added[todo] {
				added[todo], out = true, append(out, todo)
			}
		}
	}
	for _, cluster := range change.Placements {
		add(i.placed[cluster], "")
	}
	for _, cluster := range change.Reached {
		add(i.sources[cluster], "")
	}
	for _, owner := range change.Probed {
		add(owners{intent.Path(owner): true}, "")
	}
	for _, service := range change.Services {
		add(i.services[service], service.Namespace+"/"+service.Name)
	}
	return out
}
