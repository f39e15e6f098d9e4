package bench

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

// answerWorld is a Signpost that publishes names by itself, and by Deployments of external-dns in a hub. External-dns has
// an etcd and a CoreDNS of its own, because it reads all keys at each change.
type answerWorld struct {
	*fixture.Fixture
	signpost *fixture.Signpost
	keys     *etcd.Server // of the built-in publisher
	coreDNS  *dns.Server  // that answers from them

	lab, corp *answerName   // by the built-in publisher, on CoreDNS and on BIND
	standby   []*answerName // have a failover, in a zone of their own
	cached    *answerName   // clients ask a resolver for it
	events    *answerName   // by external-dns with --events
	loop      []*answerName // by external-dns without it
}

const (
	parisAddress, berlinAddress = "198.18.200.1", "198.18.200.2" // of the names with a failover
	unmoved                     = "198.18.255.1"                 // the address of all names that stay as they are
	cachedTTL                   = 2 * time.Second
	namesOfAService             = 1000 // that stay as they are
	smallest                    = 10   // names in a zone
)

func newAnswerWorld(b *testing.B) *answerWorld {
	b.Helper()
	world, err := fixture.Start(b.Context(), fixture.Hub, fixture.Paris, fixture.Berlin)
	b.Cleanup(world.Close)
	require.NoError(b, err)
	w := &answerWorld{Fixture: world}
	w.keys, err = etcd.NewServer(b.Context(), filepath.Join(w.Dir, "keys"), w.Ports)
	w.start(b, w.keys.Process, err)
	w.coreDNS, err = dns.NewCoreDNS(b.Context(), filepath.Join(w.Dir, "built-in"), w.keys.URL, w.Ports)
	w.start(b, w.coreDNS.Process, err)
	program, err := fixture.Build(b.Context(), b.TempDir())
	require.NoError(b, err)
	w.signpost, err = fixture.NewSignpost(program, filepath.Join(w.Dir, "signpost"), "--publisher-servers", "127.0.0.1")
	w.start(b, w.signpost.Process, err)
	w.name()
	w.documents(b)
	w.providers(b)
	w.publish(b)
	return w
}

func (w *answerWorld) start(b *testing.B, p *process.Process, err error) {
	b.Helper()
	require.NoError(b, err)
	p.EndWith(b)
	require.NoError(b, p.Start(b.Context()))
}

// name names what is published. Each name that changes has a Service of its own.
func (w *answerWorld) name() {
	paris := w.Cluster(fixture.Paris)
	networks := netip.MustParseAddr("198.18.0.1")
	add := func(provider, service, host, server string) *answerName {
		name := &answerName{edge: paris, provider: provider, service: service, host: host, server: server, address: networks}
		next := networks.As4()
		next[2]++
		networks = netip.AddrFrom4(next)
		return name
	}
	w.lab = add("lab", "lab", "www.fast."+dns.CoreDNSZone, w.coreDNS.Address)
	w.corp = add("corp", "corp", "www."+dns.BINDZone, w.BIND.Address)
	const part = 4 // of all changes
	for n := range max(1, *changes/part) {
		name := &answerName{edge: paris, provider: "standby", service: fmt.Sprintf("standby-%d", n), host: fmt.Sprintf("www-%d.standby.%s", n, dns.CoreDNSZone), server: w.coreDNS.Address}
		name.address = netip.MustParseAddr(parisAddress)
		w.standby = append(w.standby, name)
	}
	w.cached = add("lab", "cached", "cached.fast."+dns.CoreDNSZone, w.coreDNS.Address)
	w.events = add("events", "events", "www.events."+dns.CoreDNSZone, w.CoreDNS.Address)
	const some = 10
	for n := range some {
		w.loop = append(w.loop, add("loop", fmt.Sprintf("loop-%d", n), fmt.Sprintf("www-%d.loop.%s", n, dns.CoreDNSZone), w.CoreDNS.Address))
	}
}

// documents writes those that have no names.
func (w *answerWorld) documents(b *testing.B) {
	b.Helper()
	require.NoError(b, fixture.DefineEndpoints(b.Context(), w.Cluster(fixture.Hub)))
	w.document(b, "cluster-providers", "edge", map[string]any{})
	for _, name := range []string{fixture.Hub, fixture.Paris, fixture.Berlin} {
		kubeconfig, err := w.Cluster(name).Kubeconfig(kube.Signpost)
		require.NoError(b, err)
		w.document(b, "cluster-providers/edge/clusters", name, map[string]any{"kubeconfig": base64.StdEncoding.EncodeToString(kubeconfig)})
	}
	w.document(b, "projects", "shop", map[string]any{"namespace": endpointNamespace})
	w.document(b, "projects/shop/logical-clouds", "eu", map[string]any{"namespace": appNamespace, "clusters": []string{"edge/paris", "edge/berlin"}})
	w.document(b, "projects/shop/composite-apps", "store", map[string]any{"compositeAppVersion": "v1"})
}

func (w *answerWorld) providers(b *testing.B) {
	b.Helper()
	builtIn := map[string]any{"publisher": "built-in"}
	hub := map[string]any{"clusterProvider": "edge", "cluster": fixture.Hub}
	provider := func(name, kind string, home map[string]any, keys string, parameters map[string]any) {
		spec := map[string]any{"provider": kind, "deployOn": home, "logicalClouds": []string{"eu"}, "external-dns-parameters": parameters}
		if keys != "" {
			spec["environment"] = map[string]any{"ETCD_URLS": keys}
		}
		w.document(b, "projects/shop/dns-update-records", name, spec)
	}
	provider("lab", "coredns", builtIn, w.keys.URL, map[string]any{"domain-filter": "fast." + dns.CoreDNSZone, "coredns-prefix": dns.CoreDNSPath + "/"})
	provider("standby", "coredns", builtIn, w.keys.URL, map[string]any{"domain-filter": "standby." + dns.CoreDNSZone, "coredns-prefix": dns.CoreDNSPath + "/"})
	provider("corp", "rfc2136", builtIn, "", map[string]any{
		"domain-filter": dns.BINDZone, "rfc2136-host": []string{w.BIND.Host}, "rfc2136-port": strconv.Itoa(w.BIND.Port), "rfc2136-zone": []string{dns.BINDZone},
		"rfc2136-tsig-keyname": w.BIND.KeyName, "rfc2136-tsig-secret": w.BIND.Secret, "rfc2136-tsig-secret-alg": w.BIND.Algorithm, "rfc2136-tsig-axfr": true,
	})
	provider("events", "coredns", hub, w.Etcd.URL, map[string]any{"domain-filter": "events." + dns.CoreDNSZone, "coredns-prefix": dns.CoreDNSPath + "/", "events": true})
	provider("loop", "coredns", hub, w.Etcd.URL, map[string]any{"domain-filter": "loop." + dns.CoreDNSZone, "coredns-prefix": dns.CoreDNSPath + "/", "events": false})
}

// publish publishes the first names, and waits for them.
func (w *answerWorld) publish(b *testing.B) {
	b.Helper()
	const first = "first"
	w.group(b, first)
	for _, name := range slices.Concat([]*answerName{w.lab, w.corp, w.cached, w.events}, w.loop) {
		require.NoError(b, name.edge.LoadBalancer(b.Context(), appNamespace, name.service, name.address.String()))
		more := map[string]any{}
		if name == w.cached {
			more["ttl"] = int(cachedTTL.Seconds())
		}
		w.intent(b, first, name.provider, name.service, []string{name.host}, more)
	}
	for _, name := range w.standby {
		w.failover(b, first, name)
	}
	w.fill(b, first, 2, smallest) // beside www and cached
	w.post(b, groupsPath+"/"+first+"/instantiate", nil)
	for _, name := range slices.Concat([]*answerName{w.lab, w.corp, w.cached, w.events}, w.loop, w.standby) {
		_, _, err := name.await(b.Context(), name.address.String(), "", time.Now(), time.Millisecond)
		require.NoError(b, err)
	}
}

// failover publishes a name whose Service is ready in Paris, the first choice, and in Berlin.
func (w *answerWorld) failover(b *testing.B, group string, name *answerName) {
	b.Helper()
	for cluster, address := range map[string]string{fixture.Paris: parisAddress, fixture.Berlin: berlinAddress} {
		require.NoError(b, w.Cluster(cluster).LoadBalancer(b.Context(), appNamespace, name.service, address))
		require.NoError(b, w.Cluster(cluster).SetPods(b.Context(), appNamespace, name.service, true, "10.1.0.1"))
	}
	w.intent(b, group, name.provider, name.service, []string{name.host},
		map[string]any{"routing": map[string]any{"policy": "failover", "order": []string{"edge+paris", "edge+berlin"}}})
}

// grow has so many names in each of the built-in zones.
func (w *answerWorld) grow(b *testing.B, names int) {
	b.Helper()
	const more = "more"
	w.group(b, more)
	w.fill(b, more, smallest, names)
	w.post(b, groupsPath+"/"+more+"/instantiate", nil)
	for _, name := range []*answerName{w.lab, w.corp} {
		last := *name
		last.host = filler(name, names-1)
		_, _, err := last.await(b.Context(), unmoved, "", time.Now(), time.Millisecond)
		require.NoError(b, err)
	}
}

// filler is a name of a zone that stays as it is.
func filler(of *answerName, n int) string { return fmt.Sprintf("name-%05d.%s", n, of.zone()) }

// fill adds names to both built-in zones.
func (w *answerWorld) fill(b *testing.B, group string, from, to int) {
	b.Helper()
	for _, of := range []*answerName{w.lab, w.corp} {
		var hosts []string
		for n := from; n < to; n++ {
			hosts = append(hosts, filler(of, n))
		}
		n := 0
		for some := range slices.Chunk(hosts, namesOfAService) {
			service := fmt.Sprintf("%s-%s-%d", of.service, group, n)
			require.NoError(b, of.edge.LoadBalancer(b.Context(), appNamespace, service, unmoved))
			w.intent(b, group, of.provider, service, some, nil)
			n++
		}
	}
}

func (w *answerWorld) group(b *testing.B, name string) {
	b.Helper()
	w.document(b, groupsPath, name, map[string]any{"logicalCloud": "eu", "apps": []any{map[string]any{"name": "web"}}})
}

// intent writes a DNS intent of a group for a Service.
func (w *answerWorld) intent(b *testing.B, group, provider, service string, hosts []string, more map[string]any) {
	b.Helper()
	spec := map[string]any{"app": "web", "serviceName": service, "hostnames": hosts, "ttl": 30, "records": []string{provider}}
	for field, value := range more {
		spec[field] = value
	}
	w.document(b, groupsPath+"/"+group+"/dns-intents", service, spec)
}

func (w *answerWorld) document(b *testing.B, path, name string, spec map[string]any) {
	b.Helper()
	w.post(b, path, map[string]any{"metadata": map[string]any{"name": name}, "spec": spec})
}

// post posts a document or, if that is nil, an action.
func (w *answerWorld) post(b *testing.B, path string, document any) {
	b.Helper()
	var body []byte
	if document != nil {
		var err error
		body, err = json.Marshal(document)
		require.NoError(b, err)
	}
	answer, err := w.signpost.Do(b.Context(), http.MethodPost, "/v2/"+path, string(body))
	require.NoError(b, err)
	require.Less(b, answer.Status, http.StatusMultipleChoices, "%s: %s", answer.Call, answer.Body)
}
