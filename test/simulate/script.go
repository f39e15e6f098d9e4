package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// longestPauseBetween is how many milliseconds pass between two actions of the
// script.
const longestPauseBetween = 6000

// plan draws what happens, and when.
func (u *users) plan() {
	w, at := u.world, time.Duration(0)
	deeds := u.deeds()
	total := 0
	for _, d := range deeds {
		total += d.weight
	}
	w.after(0, "instantiate", func() { u.request(u.group(), intent.Instantiate) })
	for range w.profile.actions {
		at += time.Duration(w.random.IntN(longestPauseBetween)) * time.Millisecond
		n := w.random.IntN(total)
		for _, d := range deeds {
			if n -= d.weight; n < 0 {
				w.after(at, d.name, d.do)
				break
			}
		}
	}
	u.planned = true
}

// deed is something that may happen, and how often compared to others.
type deed struct {
	weight int
	name   string
	do     func()
}

func (u *users) deeds() []deed {
	return slices.Concat([]deed{
		{6, "instantiate", func() { u.request(u.group(), intent.Instantiate) }},
		{5, "update", func() { u.request(u.group(), intent.Update) }},
		{5, "terminate", func() { u.request(u.group(), intent.Terminate) }},
		{2, "rollback", func() { u.request(u.group(), intent.Rollback) }},
		{2, "two requests at once", func() { u.request(prod, u.action()); u.request(test, u.action()) }},
		{3, "edit names", u.editNames},
		{2, "edit manifests", u.editManifests},
		{2, "edit record", func() { u.edit(lab, record("lab.example", u.world.policies()[u.world.random.IntN(2)])) }},
		{2, "edit association", u.editAssociation},
		{2, "update record", func() { u.updateRecord(lab) }},
		{1, "delete record", func() { u.remove([]intent.Path{lab, corp}[u.world.random.IntN(2)]) }},
		{1, "delete names", func() { u.remove(www(u.group())) }},
		{1, "put record", func() { u.edit(corp, record("corp.example", "sync")) }},
		{1, "plan", func() { u.planTwice(u.group(), "") }},
		{2, "status", func() { u.status(u.group()) }},
	}, u.operate(), u.world.ail(), u.world.trade(), u.rivalry(), u.publishing(), u.world.mishaps())
}

func (u *users) group() intent.Path {
	groups := u.world.groups()
	return groups[u.world.random.IntN(len(groups))]
}

func (u *users) action() intent.Action {
	return []intent.Action{intent.Instantiate, intent.Update, intent.Rollback, intent.Terminate}[u.world.random.IntN(4)]
}

func appOf(group intent.Path) string {
	return map[intent.Path]string{prod: "web", test: "api", loan: "pay"}[group]
}

func (u *users) editNames() {
	group := u.group()
	app := appOf(group)
	choices := [][]string{{app + ".lab.example"}, {app + ".lab.example", "new-" + app + ".lab.example"}, {app + ".lab.example", app + ".corp.example"}}
	if u.world.profile.rivalled {
		choices = append(choices, contested(), contested()[:1])
	}
	u.edit(www(group), u.world.profile.names(app, choices[u.world.random.IntN(len(choices))]...))
}

func (u *users) editManifests() {
	group := u.group()
	u.edition++
	u.edit(group, spec(appOf(group), 1+u.edition), cloudOf(group))
}

func (u *users) editAssociation() {
	records := []string{`{"key1":"lab"}`, `{"key1":"lab"},{"key2":"corp"}`}[u.world.random.IntN(2)]
	owner := []intent.Path{eu, "cluster-providers/edge/clusters/berlin"}[u.world.random.IntN(2)]
	u.edit(association(owner), `{"kv":[`+records+`]}`)
}

// mishaps are what clusters, strangers and fate do.
func (w *world) mishaps() []deed {
	return []deed{
		{4, "addresses change", w.changeAddresses},
		{3, "outage", w.outage},
		{2, "cluster hangs", w.hangUp},
		{3, "edit by hand", w.editByHand},
		{3, "delete by hand", w.deleteByHand},
		{2, "stranger", w.settleStranger},
		{1, "strangers leave", w.evict},
		{2, "crash", func() { w.onSomebody(w.crash) }},
		{2, "standstill", func() { w.onSomebody(w.freeze) }},
		{1, "lease lost", func() { w.onSomebody(w.loseLease) }},
	}
}

func (w *world) somewhere() *site { return w.sites[w.siteNames()[w.random.IntN(3)]] }

func (w *world) onSomebody(do func(*process)) {
	if living := w.living(); len(living) > 0 {
		do(living[w.random.IntN(len(living))])
	}
}

// offering draws a Service on a cluster.
func (w *world) offering() (s *site, service string) {
	s = w.sites[[]string{berlin, paris}[w.random.IntN(2)]]
	groups := w.groups()
	return s, serviceOf(groups[w.random.IntN(len(groups))])
}

func (w *world) changeAddresses() {
	s, service := w.offering()
	var addresses []string
	for range w.random.IntN(3) {
		addresses = append(addresses, fmt.Sprintf("203.0.113.%d", 30+w.random.IntN(100)))
	}
	slices.Sort(addresses)
	s.offer(service, slices.Compact(addresses)...)
}

func (w *world) outage() { w.breakOff(w.somewhere()) }

// breakOff has a cluster refuse connections for a while.
func (w *world) breakOff(s *site) {
	s.down = true
	w.after(time.Duration(3+w.random.IntN(40))*time.Second, s.name+" is back", func() { s.down = false; s.version++ })
}

func (w *world) hangUp() {
	s := w.somewhere()
	s.hung = true
	w.after(time.Duration(3+w.random.IntN(40))*time.Second, s.name+" goes on", func() { s.hung = false; s.version++ })
}

// ours draws one of our objects in a cluster.
func (w *world) ours(s *site) (bundle.ID, bool) {
	ids := slices.DeleteFunc(s.Objects(), func(id bundle.ID) bool { return !s.ours(id) || id.Kind == "Namespace" })
	if len(ids) == 0 {
		return bundle.ID{}, false
	}
	return ids[w.random.IntN(len(ids))], true
}

// editByHand changes an object of ours, or takes its label off. An object
// without the label that the ledger does not know yet would be a stranger's.
func (w *world) editByHand() {
	s := w.somewhere()
	id, found := w.ours(s)
	if !found {
		return
	}
	var content map[string]any
	if err := json.Unmarshal(encode(s.Content(id)), &content); err != nil {
		panic(err)
	}
	if metadata, ok := content["metadata"].(map[string]any); ok && w.random.IntN(3) == 0 && w.recorded(s, id) {
		labels, _ := metadata["labels"].(map[string]any)
		delete(labels, bundle.LabelInstallation)
	} else {
		content["edited"] = "by hand"
	}
	w.trace.add("  " + id.String())
	s.version++
	s.Plant(bundle.Object{ID: id, JSON: encode(content)})
	s.highest = max(s.highest, number(s.Live(id).ResourceVersion))
}

// recorded tells whether the ledger knows an object as it is one of ours.
func (w *world) recorded(s *site, id bundle.ID) bool {
	uid := s.Live(id).UID
	id.Cluster = s.name
	e, found, err := ledger.New(w.kv).Get(context.Background(), id)
	return err == nil && found && e.CreatedByUs && e.UID == uid
}

func (w *world) deleteByHand() {
	s := w.somewhere()
	if id, found := w.ours(s); found {
		w.trace.add("  " + id.String())
		s.version++
		s.Remove(id)
	}
}

// settleStranger puts somebody else's object where one of ours may come, or
// beside ours.
func (w *world) settleStranger() {
	s := w.somewhere()
	candidates := []bundle.ID{
		{Kind: "ConfigMap", Namespace: "shop", Name: "web-settings"},
		{Kind: "ConfigMap", Namespace: "shop", Name: "theirs"},
		{Kind: "ConfigMap", Namespace: "shop-dns", Name: "theirs"},
		{Kind: "ServiceAccount", Namespace: "shop-dns", Name: "external-dns-lab"},
		{Kind: "Namespace", Name: "shop"},
	}
	id := candidates[w.random.IntN(len(candidates))]
	if s.Live(id) != nil {
		return
	}
	w.trace.add("  " + id.String())
	content := map[string]any{"apiVersion": "v1", "kind": id.Kind, "metadata": map[string]any{"name": id.Name, "namespace": id.Namespace}}
	id.Cluster = s.name
	w.plant(s, bundle.Object{ID: id, JSON: encode(content)})
}

// evict takes all strangers' objects of a cluster away. With a namespace goes
// what is in it, whosever that is.
func (w *world) evict() {
	s := w.somewhere()
	left := map[string]bool{}
	for _, id := range slices.SortedFunc(maps.Keys(s.strangers), bundle.Compare) {
		s.version++
		s.Remove(id)
		delete(s.strangers, id)
		left[id.Name] = left[id.Name] || id.Kind == "Namespace"
	}
	for _, id := range s.Objects() {
		if left[id.Namespace] {
			s.version++
			s.Remove(id)
		}
	}
}

// freeze has a process stand still for longer than its lease lasts; what it
// had under way goes on afterwards.
func (w *world) freeze(p *process) {
	w.stoodStill = true
	p.frozen = time.Now().Add(time.Duration(18+w.random.IntN(8)) * time.Second)
	for _, l := range p.leases {
		w.after(leaseRunsOut, "lease of "+p.name+" runs out", l.runOut)
	}
}

// loseLease ends a process' lease while it works.
func (w *world) loseLease(p *process) {
	for _, l := range p.leases {
		l.runOut()
	}
}
