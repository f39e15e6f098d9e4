package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/plan/workloads"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
)

// oracle says in plain words what clusters should hold: the objects of the
// current releases, rendered anew by the pure planner from what is true of the
// clusters, and nothing else of ours. It reads the documents as they are
// stored, and none of what the controller or the workers have written down on
// their way.
type oracle struct {
	world *world
	hung  string // a cluster of which nothing new can be seen: what it was last seen to offer counts, until it is unreachable for too long
}

// lifecycles are those of groups and names, by path.
func (o oracle) lifecycles() map[intent.Path]state.Lifecycle {
	out := map[intent.Path]state.Lifecycle{}
	for _, group := range o.world.owners() {
		if l, there := o.world.lifecycle(group); there {
			out[group] = l
		}
	}
	return out
}

func deployed(l state.Lifecycle) bool { return l.Seq > 0 && l.Wanted != intent.Terminate }

// record is a record as it is deployed.
func (o oracle) record(path intent.Path) plan.Record {
	var l state.RecordLifecycle
	o.world.read(intent.Join(intent.LifecycleCollection, string(path)), &l)
	return l.Record
}

// home is the cluster where a record's names of a scope live now. Only those of
// public names move.
func (o oracle) home(record intent.Path, scope intent.Scope, frozen string) string {
	if home := o.record(record).Home; scope == intent.Public && home != nil {
		return home.String()
	}
	return frozen
}

// release reads what was frozen under a context id.
func (o oracle) release(contextID string) (r state.Release, err error) {
	items, _, err := o.world.kv.Range(context.Background(), kv.Range{Prefix: "/signpost/release/" + contextID + "/"})
	if err != nil {
		return r, err
	}
	var raw bytes.Buffer
	for _, item := range items {
		raw.Write(item.Value)
	}
	return state.Unpack(nil, &raw)
}

// wanted are the objects that the clusters should hold. Where owners differ,
// the first one's counts.
func (o oracle) wanted() (map[bundle.ID]bundle.Object, error) {
	owners := map[appcontext.Owner][]bundle.Object{}
	users := map[state.Use][]string{}
	for group, l := range o.lifecycles() {
		if !deployed(l) {
			continue
		}
		var err error
		if o.refused(group, l) {
			err = o.asTheyAre(owners, group, l)
		} else {
			owners[appcontext.Owner(group)], err = o.group(l)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", group, err)
		}
		for _, use := range l.Uses {
			use.Cluster = o.home(use.Record, use.Scope, use.Cluster)
			users[use] = append(users[use], string(group))
		}
	}
	for use, groups := range users {
		slices.Sort(groups)
		objects, findings, err := provider.Render(plan.Provider{Record: o.record(use.Record), Scope: use.Scope, Cluster: use.Cluster, Users: groups})
		if err != nil || len(findings) > 0 {
			return nil, fmt.Errorf("%s: %v %w", use.Record, findings, err)
		}
		owners[ownerOfProvider(use)] = objects
	}
	out := map[bundle.ID]bundle.Object{}
	for _, owner := range slices.Sorted(maps.Keys(owners)) {
		for _, object := range owners[owner] {
			if _, taken := out[object.ID]; !taken {
				out[object.ID] = object
			}
		}
	}
	return out, nil
}

// asTheyAre are the objects of a group that is refused, and of the providers that
// it has not come to leave: they stay as they are current.
func (o oracle) asTheyAre(owners map[appcontext.Owner][]bundle.Object, group intent.Path, l state.Lifecycle) error {
	contexts := appcontext.NewStore(o.world.kv, time.Now)
	kept := []appcontext.Owner{appcontext.Owner(group)}
	for _, use := range l.Leaving {
		kept = append(kept, ownerOfProvider(use))
	}
	for _, owner := range kept {
		p, err := contexts.Current(context.Background(), owner)
		if err != nil {
			return err
		}
		if owners[owner], err = contexts.Objects(context.Background(), p); err != nil {
			return err
		}
	}
	return nil
}

func ownerOfProvider(use state.Use) appcontext.Owner {
	return appcontext.ProviderOwner(string(use.Record), string(use.Scope), use.Cluster)
}

// group renders a group's release with the addresses that its clusters offer.
func (o oracle) group(l state.Lifecycle) ([]bundle.Object, error) {
	r, err := o.release(l.ContextID)
	if err != nil {
		return nil, err
	}
	objects, _, err := workloads.Render(context.Background(), r.Group)
	if err != nil {
		return nil, err
	}
	drained := o.world.drained()
	for _, b := range unyielded(r.Group, l).Bindings {
		b.Cluster = o.home(projectOf(r.Group.Path).Child("dns-update-records", b.Record), b.Scope, b.Cluster)
		rule := address.Rule{Scope: b.Scope}
		for _, host := range b.Hosts {
			rule.Names = append(rule.Names, host.Name)
		}
		var offers []address.Offer
		for _, name := range b.Sources {
			if b.Scope == intent.Public && drained[name] {
				continue
			}
			offers = append(offers, o.offer(name, b))
		}
		if b.Service == "" { // of a name with fixed targets
			offers = append(offers, address.FixedOffer(string(r.Group.Path), b.Cluster, b.Hosts[0].Targets))
		}
		var choices []address.Choice
		for _, host := range b.Hosts {
			previous := o.previous(r.Group, b, host)
			choice, _ := address.Fold(address.Input{
				Rule: rule, Routing: host.Routing, Health: host.Health, Offers: offers,
				Previous: previous, Now: time.Now().UTC(),
			})
			if neverSeen(b, offers) && !choice.Some() {
				choice.Sets = previous
			}
			choices = append(choices, stays(l, b, choice, previous))
		}
		object, some, err := endpoints.Render(r.Group, b, choices)
		if err != nil {
			return nil, err
		}
		if some {
			objects = append(objects, object)
		}
	}
	return objects, nil
}

// offer is what a cluster truly offers, or was last seen to offer if it hangs.
func (o oracle) offer(name string, b plan.Binding) address.Offer {
	offer := address.Offer{Service: address.Service{Cluster: name, Namespace: b.Namespace, Name: b.Service}}
	if name == o.hung {
		offer.Standing.UnreachableSince = o.world.sites[name].hungAt
		last, err := observed.New(o.world.kv).Service(context.Background(), offer.Service)
		if err == nil && last != nil {
			offer.Observation = &last.Observation
		}
		return offer
	}
	seen := o.world.sites[name].services[b.Namespace+"/"+b.Service]
	offer.Observation = &seen
	return offer
}

// neverSeen tells whether nobody has ever looked at what a binding leads to, because no
// cluster of it answers. A name that turned to it keeps what it had.
func neverSeen(b plan.Binding, offers []address.Offer) bool {
	return len(offers) > 0 && len(offers) == len(b.Sources) && !slices.ContainsFunc(offers, func(o address.Offer) bool {
		return o.Observation != nil || o.Standing.UnreachableSince.IsZero()
	})
}

// previous is what a host name has now, which stays while nobody is healthy.
func (o oracle) previous(g plan.Group, b plan.Binding, host plan.Host) []address.Set {
	id := bundle.ID{Group: groupOf(bundle.EndpointKind), Kind: bundle.EndpointKind, Namespace: g.Project.Namespace, Name: endpoints.Name(g, b)}
	content := o.world.sites[b.Cluster].Content(id)
	if content == nil {
		return nil
	}
	published := endpointOn(b.Cluster, content).Published
	if published == nil {
		return nil
	}
	var sets []address.Set
	for _, n := range published.Names {
		if n.Host == host.Name && n.Name == host.Name {
			sets = append(sets, address.Set{Type: n.Type, Targets: n.Targets, ID: n.ID, Weight: n.Weight, Region: n.Region, Location: n.Location})
		}
	}
	return sets
}

// differences says in what the clusters are not as they should be, but for the
// one that hangs.
func (o oracle) differences() []string {
	wanted, err := o.wanted()
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, id := range slices.SortedFunc(maps.Keys(wanted), bundle.Compare) {
		if id.Cluster != o.hung {
			out = append(out, o.missing(wanted[id])...)
		}
	}
	for _, name := range o.world.siteNames() {
		s := o.world.sites[name]
		for _, id := range s.Objects() {
			id.Cluster = name
			if _, is := wanted[id]; !is && name != o.hung && s.ours(id) && !o.stays(s, id) {
				out = append(out, "left behind: "+id.String())
			}
		}
	}
	return out
}

// missing says in what a cluster's object is not as it should be. A stranger's
// object in its place is none of ours to change.
func (o oracle) missing(want bundle.Object) []string {
	s := o.world.sites[want.Cluster]
	local := want.ID
	local.Cluster = ""
	if _, theirs := s.strangers[local]; theirs {
		return nil
	}
	if o.usedAsItIs(s, want.ID) || waitsForAccount(s, want) {
		return nil
	}
	have := s.Content(want.ID)
	if have == nil {
		return []string{"missing: " + want.ID.String()}
	}
	raw, err := clustertest.Render(context.Background(), want, cluster.Options{Installation: installation})
	if err != nil {
		return []string{err.Error()}
	}
	var should map[string]any
	if err := json.Unmarshal(raw, &should); err != nil {
		return []string{err.Error()}
	}
	if !reflect.DeepEqual(have, should) {
		text := encode(have)
		return []string{fmt.Sprintf("other content: %s\n  has    %s\n  should %s", want.ID, text, raw)}
	}
	return nil
}

// waitsForAccount tells whether pods are to run as a ServiceAccount that is a
// stranger's: they stay as they are.
func waitsForAccount(s *site, want bundle.Object) bool {
	var manifest map[string]any
	if json.Unmarshal(want.JSON, &manifest) != nil {
		return false
	}
	return slices.ContainsFunc(grant.Accounts(manifest), func(account string) bool {
		_, theirs := s.strangers[bundle.ID{Kind: "ServiceAccount", Namespace: want.Namespace, Name: account}]
		return theirs
	})
}

// usedAsItIs tells whether an object without our label is used as somebody
// else's. A definition is never deleted but forgotten, so that one which was
// ours becomes a stranger's if its label is taken off.
func (o oracle) usedAsItIs(s *site, id bundle.ID) bool {
	if id.Kind != "CustomResourceDefinition" || s.Live(id) == nil || s.ours(id) {
		return false
	}
	e, found, err := ledger.New(o.world.kv).Get(context.Background(), id)
	return err == nil && found && !e.CreatedByUs
}

// stays tells what of ours may stay though nobody wants it: definitions, and
// namespaces that others use.
func (o oracle) stays(s *site, id bundle.ID) bool {
	if id.Kind == "CustomResourceDefinition" {
		return true
	}
	return id.Kind == "Namespace" && slices.ContainsFunc(s.Objects(), func(other bundle.ID) bool {
		_, theirs := s.strangers[other]
		return theirs && other.Namespace == id.Name
	})
}

// atRest tells whether the groups' lifecycles say so too: nothing is under way
// that no stranger holds up. A cluster that is back was seen to be: what it offers may be news.
func (o oracle) atRest() []string {
	var out []string
	for group, l := range o.lifecycles() {
		if o.refused(group, l) {
			continue
		}
		if l.Seq > 0 && !l.Settled && !o.heldUp(l) {
			out = append(out, fmt.Sprintf("%s is still %s", group, l.State()))
		}
		if l.Failure != "" {
			out = append(out, fmt.Sprintf("%s has failed: %s", group, l.Failure))
		}
	}
	for _, name := range o.world.siteNames() {
		var is observed.Reachability
		item, _, err := o.world.kv.Get(context.Background(), "/signpost/observed/"+name+"/reachability")
		if err == nil && item != nil && json.Unmarshal(item.Value, &is) == nil && !is.Reachable {
			out = append(out, name+" was not seen to be back")
		}
	}
	slices.Sort(out)
	return out
}

// heldUp tells whether a stranger's object stands where one of a group should.
func (o oracle) heldUp(l state.Lifecycle) bool {
	if !deployed(l) {
		return false
	}
	for _, s := range o.world.sites {
		for id := range s.strangers {
			if id.Kind != "Namespace" && !strings.HasPrefix(id.Name, "theirs") {
				return true
			}
		}
	}
	return false
}
