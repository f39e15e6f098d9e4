package simulate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// The further clusters of an installation of regions.
const (
	boston = "edge+boston"
	dallas = "edge+dallas"
)

// singles is how many names of their own releases an installation has at most.
const singles = 6

// owner is a group or a name of an installation.
type owner struct {
	path      intent.Path
	service   string   // "namespace/name"
	clusters  []string // that may give it addresses
	spec      string   // of a name
	region    string   // of a group's app; empty: all clusters of its logical cloud
	suspended bool     // a group is
}

// narrow leaves a group the clusters of a region, if there are any.
func (o *owner) narrow(to string) {
	some := slices.DeleteFunc(slices.Clone(o.clusters), func(name string) bool { return region(name) != to })
	if len(some) > 0 {
		o.region, o.clusters = to, some
	}
}

// group is the spec of a group.
func (o *owner) group() string {
	text := spec(appOf(o.path), 1)
	if o.region != "" {
		text = strings.Replace(text, `"manifests"`, fmt.Sprintf(`"clusterLabels":{"region":%q},"manifests"`, o.region), 1)
	}
	return text
}

// region is where a cluster is.
func region(name string) string {
	switch name {
	case berlin, paris:
		return "eu"
	case boston, dallas:
		return "us"
	}
	return "none"
}

// install draws an installation: clusters in two regions, two groups, names, and providers with
// homes in different clusters.
func (w *world) install() {
	u := w.users
	u.put("cluster-providers/edge", `{}`)
	for _, name := range w.siteNames() {
		u.put(pathOfSite(name), fmt.Sprintf(`{"kubeconfigRef":"sealed","labels":{"region":%q}}`, region(name)))
	}
	cloud := shop.Child("logical-clouds", "eu")
	u.put(shop, `{"namespace":"shop-dns","namespaces":["shop"]}`)
	for n, path := range []intent.Path{lab, corp} {
		home, _ := intent.ParseCluster([]string{hub, w.anySite()}[n])
		u.put(path, fmt.Sprintf(`{"deployOn":%s,%s`, encode(home), record(path.Name()+".example", "sync")[1:]), home.Path())
	}
	u.put(cloud, `{"namespace":"shop","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
	clusters := w.someSites()
	for _, name := range clusters {
		ref, _ := intent.ParseCluster(name)
		u.put(cloud.Child("cluster-references", ref.Cluster), string(encode(ref)), ref.Path())
	}
	u.put(association(cloud), `{"kv":[{"key1":"lab"},{"key2":"corp"}]}`)
	u.put(shop.Child("composite-apps", "store/v1"), `{"compositeAppVersion":"v1"}`)
	shared := w.oneOf("", "shared.lab.example") // by both groups
	for _, group := range []intent.Path{prod, test} {
		app, policy := appOf(group), w.policy(clusters)
		hosts := []string{app + ".lab.example", app + "." + w.oneOf("lab", "corp") + ".example"}
		if shared != "" {
			hosts, policy = append(hosts, shared), fmt.Sprintf(`,"health":{"unreachableAfter":%q}}`, unreachableAfter)
		}
		slices.Sort(hosts)
		one := owner{path: group, service: serviceOf(group), clusters: clusters}
		if shared != "" {
			one.narrow(w.oneOf("", "eu", "us"))
		}
		u.put(group, one.group(), cloudOf(group))
		u.put(group.Child("traffic-group-intents", "front"), `{}`)
		u.put(www(group), fmt.Sprintf(`{"app":%q,"serviceName":%q,"hostnames":%s%s`, app, app, encode(slices.Compact(hosts)), policy))
		w.installed = append(w.installed, one)
	}
	for n := range 2 + w.random.IntN(singles-1) {
		w.installed = append(w.installed, w.single(n))
	}
	for n := range w.installed {
		w.weather(n)
	}
}

func (w *world) oneOf(texts ...string) string { return texts[w.random.IntN(len(texts))] }

// anySite draws a cluster that gives addresses.
func (w *world) anySite() string { return w.oneOf(berlin, boston, dallas, paris) }

// someSites draws one or more of them.
func (w *world) someSites() []string {
	all := []string{berlin, boston, dallas, paris}
	var some []string
	for _, n := range w.random.Perm(len(all))[:1+w.random.IntN(len(all))] {
		some = append(some, all[n])
	}
	slices.Sort(some)
	return some
}

// policy draws the end of an intent: its TTL, its routing over clusters, and its health.
func (w *world) policy(clusters []string) string {
	ttl := w.oneOf(``, `,"ttl":30`)
	order := slices.Clone(clusters)
	w.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	routing := w.oneOf(``, ``, `,"routing":{"policy":"failover"}`, fmt.Sprintf(`,"routing":{"policy":"failover","order":%s}`, encode(order)))
	health := w.oneOf(``, ``, ``, `,"whenAllUnhealthy":"remove"`)
	return fmt.Sprintf(`%s%s,"health":{"unreachableAfter":%q%s}}`, ttl, routing, unreachableAfter, health)
}

// single draws a name. It names its clusters, or chooses them by labels, or has fixed addresses.
func (w *world) single(n int) owner {
	provider := w.oneOf("lab", "corp")
	out := owner{path: shop.Child("names", fmt.Sprintf("n%d.%s.example", n, provider)), service: fmt.Sprintf("shop/n%d", n)}
	var given string
	switch w.random.IntN(5) {
	case 0:
		out.spec = fmt.Sprintf(`{"addresses":["203.0.113.25%d"],"provider":%q}`, n%5, provider)
		return out
	case 1, 2:
		region := w.oneOf("eu", "us")
		given = fmt.Sprintf(`{"selector":{"region":%q}}`, region)
		out.clusters = map[string][]string{"eu": {berlin, paris}, "us": {boston, dallas}}[region]
	default:
		out.clusters = w.someSites()
		var names []string
		for _, name := range out.clusters {
			names = append(names, listed(name))
		}
		given = string(encode(names))
	}
	out.spec = fmt.Sprintf(`{"service":%q,"clusters":%s,"provider":%q%s`, out.service, given, provider, w.policy(out.clusters))
	return out
}

// weather has each cluster offer the Service of an owner as chance will have it: with or without an address,
// and with or without a ready endpoint.
func (w *world) weather(of int) {
	const most = 10 // addresses of a Service
	service := w.installed[of].service
	for n, at := range w.siteNames() {
		s := w.sites[at]
		addresses := []string{fmt.Sprintf("203.0.113.%d", 1+most*of+2*n+w.random.IntN(2))}
		switch w.random.IntN(8) {
		case 0:
			addresses = nil
		case 1:
			addresses = append(addresses, fmt.Sprintf("2001:db8:%x::%d", of+1, n+1))
		case 2:
			w.turn(s, service)
		}
		s.offer(service, addresses...)
	}
}

// deploy brings the groups and names of the installation into the clusters. One group may be
// suspended then.
func (w *world) deploy() {
	for _, one := range w.installed {
		w.await("deploy "+string(one.path), func(ctx context.Context, p *process) error {
			if one.spec == "" {
				_, err := p.service.Instantiate(ctx, one.path, "", "ann")
				return err
			}
			request, err := p.publication(ctx, one.path, one.spec)
			if err == nil {
				_, err = p.service.PublishName(ctx, one.path, request)
			}
			return err
		})
	}
	w.rest()
	if n := w.random.IntN(4); n < 2 {
		w.suspend(n, true)
	}
}

// suspend suspends a group, or resumes it.
func (w *world) suspend(n int, yes bool) {
	w.installed[n].suspended = yes
	group := w.installed[n].path
	text := w.installed[n].group()
	if yes {
		text = suspending + text[1:]
	}
	w.await("suspend "+group.Name(), func(ctx context.Context, p *process) error {
		_, err := p.documents.Put(ctx, write(group, text, cloudOf(group)))
		return err
	})
}

// await has somebody ask, and waits for the answer, which has to be a good one.
func (w *world) await(what string, do func(ctx context.Context, p *process) error) {
	if err := w.answer(what, do); err != nil {
		w.breaks("I1", "%s: %v", what, err)
	}
}

// answer has somebody ask, and waits for the answer.
func (w *world) answer(what string, do func(ctx context.Context, p *process) error) (err error) {
	w.users.planned = true
	w.users.ask(what, do, func(answer error) { err = answer })
	if !w.run(w.users.done, convergeWithin) && w.broken == nil {
		w.breaks("I3", "%s is not answered", what)
	}
	return err
}

// Bounds of virtual time, for installations.
const (
	calmFor   = 25 * time.Second // for so long nothing has changed in one that rests: longer than the turn of a Service is damped
	calmLooks = 40               // until it has to rest
)

// rest waits until nothing changes any more.
func (w *world) rest() {
	never := func() bool { return false }
	for range calmLooks {
		before := w.picture()
		w.run(never, calmFor)
		if w.picture() == before || w.broken != nil {
			return
		}
	}
	w.breaks("I3", "the installation does not come to rest")
}

// change has a cluster die or answer again, a group be suspended or resumed, or a Service offer
// something else.
func (w *world) change() {
	switch w.random.IntN(5) {
	case 0:
		w.die()
	case 1:
		n := w.random.IntN(2)
		if w.answering() { // else a home may keep what Signpost no longer wants there, and nobody looks until the group is resumed
			w.suspend(n, !w.installed[n].suspended)
		}
	case 2, 3:
		w.weather(w.random.IntN(len(w.installed)))
	}
	w.rest()
}

// answering tells whether all clusters do.
func (w *world) answering() bool {
	return !slices.ContainsFunc(w.siteNames(), func(name string) bool { return w.sites[name].down })
}

// die has one cluster not answer any more, and the one that was dead answer again.
func (w *world) die() {
	dead := w.anySite()
	for _, name := range w.siteNames() {
		s := w.sites[name]
		if s.down = name == dead && !s.down; s.down {
			s.diedAt = time.Now()
		}
		s.version++
	}
	w.run(func() bool { return false }, 2*unreachableAfter)
}
