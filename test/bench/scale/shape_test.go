package scale

import (
	"fmt"
	"net/http"
)

// shape is how names are published: in groups, or one by one.
type shape struct {
	name        string
	each        int // names of an owner
	perEndpoint int // names of a DNSEndpoint

	publish func(w *world, owner int)
	host    func(owner int) string // a name of the owner
	service func(owner int) string // that this name follows, and no other owner's name
	edit    func(w *world, owner, ttl int)
	accept  func(w *world, owner, ttl int)
	plan    func(w *world, owner int)
	status  func(owner int) string // its path
}

const (
	groupEach   = 100
	intentsEach = 10 // DNS intents of a group
	groupsPath  = "projects/shop/composite-apps/store/v1/deployment-intent-groups"
)

func groupPath(group int) string { return fmt.Sprintf("%s/g%05d", groupsPath, group) }

func groupHost(group, intent, name int) string {
	return fmt.Sprintf("n%d.i%d.g%05d.lab.example", name, intent, group)
}

func groupService(group, intent int) string { return fmt.Sprintf("g%05d-%d", group, intent) }

// writeIntent writes a DNS intent of a group, with ten names of a Service of its own.
func writeIntent(w *world, group, intent, ttl int) {
	var hosts []string
	for name := range groupEach / intentsEach {
		hosts = append(hosts, groupHost(group, intent, name))
	}
	w.put(fmt.Sprintf("%s/dns-intents/i%d", groupPath(group), intent),
		map[string]any{"app": "web", "serviceName": groupService(group, intent), "hostnames": hosts, "ttl": ttl})
}

// groups is a shape: groups of 100 names in 10 DNS intents.
func groups() shape {
	return shape{
		name: "groups", each: groupEach, perEndpoint: groupEach / intentsEach,
		publish: func(w *world, group int) {
			w.put(groupPath(group), map[string]any{"logicalCloud": "eu", "apps": []any{map[string]any{"name": "web"}}})
			for intent := range intentsEach {
				w.edge.SetService("shop", groupService(group, intent), unmoved)
				writeIntent(w, group, intent, 30)
			}
			w.ask(http.MethodPost, "/v2/"+groupPath(group)+"/instantiate", "")
		},
		host:    func(group int) string { return groupHost(group, 0, 0) },
		service: func(group int) string { return groupService(group, 0) },
		edit:    func(w *world, group, ttl int) { writeIntent(w, group, 0, ttl) },
		accept:  func(w *world, group, _ int) { w.ask(http.MethodPost, "/v2/"+groupPath(group)+"/update", "") },
		plan:    func(w *world, group int) { w.ask(http.MethodPost, "/v2/"+groupPath(group)+"/plan?for=update", "") },
		status:  func(group int) string { return "/v2/" + groupPath(group) + "/status" },
	}
}

func nameHost(n int) string { return fmt.Sprintf("n%06d.lab.example", n) }

// Names share a Service by the hundred, but for the tenth and the last of each hundred, which have
// one of their own.
func nameService(n int) string {
	if last := n % 100; last == 9 || last == 99 {
		return fmt.Sprintf("n%06d", n)
	}
	return fmt.Sprintf("shared-%d", n/100)
}

func writeName(w *world, n, ttl int, query string) {
	w.ask(http.MethodPut, "/v2/projects/shop/names/"+nameHost(n)+query, fmt.Sprintf(
		`{"metadata":{"name":%q},"spec":{"service":"shop/%s","clusters":["edge/paris"],"provider":"lab","ttl":%d}}`, nameHost(n), nameService(n), ttl))
}

// single is a shape: names that are documents of their own.
func single() shape {
	return shape{
		name: "names", each: 1, perEndpoint: 1,
		publish: func(w *world, n int) {
			if last := n % 100; last == 9 || last == 99 || last == 0 {
				w.edge.SetService("shop", nameService(n), unmoved)
			}
			writeName(w, n, 30, "")
		},
		host:    nameHost,
		service: nameService,
		edit:    func(*world, int, int) {},
		accept:  func(w *world, n, ttl int) { writeName(w, n, ttl, "") },
		plan:    func(w *world, n int) { writeName(w, n, 7, "?dryRun=true") },
		status:  func(n int) string { return "/v2/projects/shop/names/" + nameHost(n) },
	}
}
