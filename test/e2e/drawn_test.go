package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/test/apiserver"
	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// TestPreviewsOfDrawnInstallationsAreAnswered: in installations that are drawn by chance, what the
// preview of a failover says of each name is what CoreDNS and BIND answer afterwards, and what they
// answered before is what they answer after its reversion. Signpost publishes by itself.
func TestPreviewsOfDrawnInstallationsAreAnswered(t *testing.T) {
	t.Parallel()
	first := sample.Seed(t)
	for n := range uint64(sample.Cases(1, 2, 10)) {
		t.Run(fmt.Sprint("installation ", first+n), func(t *testing.T) {
			t.Parallel()
			w := draw(t, first+n)
			w.settles(nil)
			if w.random.IntN(2) == 0 {
				w.clusters[w.oneOf(w.order...)].Hang() // what it was last seen to offer still counts
			}
			w.failsOver()
		})
	}
}

// drawn is an installation of four clusters in two regions, whose names are on two DNS servers.
type drawn struct {
	*testing.T

	random    *rand.Rand
	order     []string // the clusters, by name
	clusters  map[string]*apiserver.Server
	addresses map[string]map[string]string // by Service and cluster
	names     []drawnName
	suspended bool // the group is
	signpost  *fixture.Signpost
	servers   map[string]string // by provider
}

// drawnName is a name, and what its addresses follow from.
type drawnName struct {
	host, provider, service string
	fixed                   []string // instead of a Service
	clusters                []string
	failover                bool // it has the addresses of its first cluster that has some
	group                   bool // it is of the group
}

// draw starts the parts, and publishes the names.
func draw(t *testing.T, seed uint64) *drawn {
	t.Helper()
	w := &drawn{
		T: t, random: rand.New(rand.NewPCG(seed, 5)), order: []string{"berlin", "boston", "dallas", "paris"},
		clusters: map[string]*apiserver.Server{}, addresses: map[string]map[string]string{}, servers: map[string]string{},
	}
	for _, name := range w.order {
		w.clusters[name] = apiserver.Start(t, name, 0)
	}
	ports, dir := &process.Ports{}, t.TempDir()
	keys, err := etcd.NewServer(t.Context(), filepath.Join(dir, "keys"), ports)
	require.NoError(t, err)
	w.start(keys.Process)
	coreDNS, err := dns.NewCoreDNS(t.Context(), filepath.Join(dir, "coredns"), keys.URL, ports)
	require.NoError(t, err)
	w.start(coreDNS.Process)
	bind, err := dns.NewBIND(t.Context(), filepath.Join(dir, "bind"), ports)
	require.NoError(t, err)
	w.start(bind.Process)
	w.servers["lab"], w.servers["corp"] = coreDNS.Address, bind.Address
	w.signpost, err = fixture.NewSignpost(signpost(t), filepath.Join(dir, "signpost"), "--publisher-servers=127.0.0.1", "--allow-local-verify")
	require.NoError(t, err)
	w.start(w.signpost.Process)
	w.documents(keys.URL, bind)
	w.drawNames()
	return w
}

func (w *drawn) start(p *process.Process) {
	w.Helper()
	p.EndWith(w)
	require.NoError(w, p.Start(w.Context()))
}

// oneOf draws a text.
func (w *drawn) oneOf(texts ...string) string { return texts[w.random.IntN(len(texts))] }

// call expects any status of success, and reads the answer into v; nil: nobody does.
func (w *drawn) call(method, path string, body, v any) {
	w.Helper()
	text := ""
	if body != nil {
		raw, err := json.Marshal(body)
		require.NoError(w, err)
		text = string(raw)
	}
	answer, err := w.signpost.Do(w.Context(), method, "/v2/"+path, text)
	require.NoError(w, err)
	require.Less(w, answer.Status, http.StatusMultipleChoices, "%s: %s", answer.Call, answer.Body)
	if v != nil {
		require.NoError(w, answer.JSON(v))
	}
}

// post makes a resource.
func (w *drawn) post(path, name string, spec any) {
	w.Helper()
	w.call(http.MethodPost, path, resource(name, spec), nil)
}

func resource(name string, spec any) map[string]any {
	return map[string]any{"metadata": map[string]any{"name": name}, "spec": spec}
}

// fields are those of a document.
type fields = map[string]any

// documents writes those that have no names.
func (w *drawn) documents(keys string, bind *dns.BIND) {
	w.Helper()
	w.post("cluster-providers", "edge", fields{})
	for n, name := range w.order {
		kubeconfig, err := w.clusters[name].Kubeconfig()
		require.NoError(w, err)
		w.post("cluster-providers/edge/clusters", name, fields{"kubeconfig": kubeconfig, "labels": fields{"region": regionOf(w.order[n])}})
	}
	w.post("projects", "shop", fields{"namespace": "shop-dns", "namespaces": []string{"shop"}})
	w.post("projects/shop/logical-clouds", "eu", fields{"namespace": "shop", "clusters": w.listed(w.order)})
	provider := func(name, kind string, parameters, environment fields) {
		w.post("projects/shop/dns-update-records", name, fields{
			"provider": kind, "deployOn": fields{"publisher": "built-in"}, "logicalClouds": []string{"eu"}, "maxRemoval": 100,
			"external-dns-parameters": parameters, "environment": environment, "verify": fields{"servers": []string{w.servers[name]}},
		})
	}
	provider("lab", "coredns", fields{"domain-filter": dns.CoreDNSZone, "coredns-prefix": dns.CoreDNSPath + "/", "policy": "sync"}, fields{"ETCD_URLS": keys})
	provider("corp", "rfc2136", fields{
		"domain-filter": dns.BINDZone, "rfc2136-host": bind.Host, "rfc2136-port": strconv.Itoa(bind.Port), "rfc2136-zone": dns.BINDZone, "policy": "sync",
		"rfc2136-tsig-keyname": bind.KeyName, "rfc2136-tsig-secret": bind.Secret, "rfc2136-tsig-secret-alg": bind.Algorithm, "rfc2136-tsig-axfr": true,
	}, fields{})
	w.post("projects/shop/composite-apps", "store", fields{"compositeAppVersion": "v1"})
}

func regionOf(cluster string) string {
	if cluster == "berlin" || cluster == "paris" {
		return "eu"
	}
	return "us"
}

func (w *drawn) listed(clusters []string) []string {
	var out []string
	for _, name := range clusters {
		out = append(out, "edge/"+name)
	}
	return out
}

// drawNames draws names and a group, and publishes them.
func (w *drawn) drawNames() {
	w.Helper()
	for n := range 6 {
		name := drawnName{provider: w.oneOf("lab", "corp"), service: fmt.Sprintf("n%d", n), failover: w.random.IntN(3) == 0}
		name.host = fmt.Sprintf("n%d.%s.example", n, name.provider)
		spec := fields{"provider": name.provider, "ttl": 1}
		switch kind := w.random.IntN(5); kind {
		case 0:
			name.fixed, name.failover = []string{fmt.Sprintf("203.0.113.20%d", n)}, false
			spec["addresses"] = name.fixed
		case 1, 2:
			region := w.oneOf("eu", "us")
			name.clusters = map[string][]string{"eu": {"berlin", "paris"}, "us": {"boston", "dallas"}}[region]
			spec["service"], spec["clusters"] = "shop/"+name.service, fields{"selector": fields{"region": region}}
		default:
			for _, at := range w.random.Perm(len(w.order))[:1+w.random.IntN(len(w.order))] {
				name.clusters = append(name.clusters, w.order[at])
			}
			slices.Sort(name.clusters)
			spec["service"], spec["clusters"] = "shop/"+name.service, w.listed(name.clusters)
		}
		if name.failover {
			spec["routing"] = fields{"policy": "failover"}
		}
		w.offer(n, name)
		w.names = append(w.names, name)
		w.call(http.MethodPut, "projects/shop/names/"+name.host, resource(name.host, spec), nil)
	}
	w.drawGroup()
}

// offer has clusters offer a name's Service, some of them none.
func (w *drawn) offer(n int, name drawnName) {
	w.addresses[name.service] = map[string]string{}
	for at, cluster := range w.order {
		if slices.Contains(name.clusters, cluster) && w.random.IntN(5) > 0 {
			address := fmt.Sprintf("203.0.113.%d", 1+10*n+at)
			w.addresses[name.service][cluster] = address
			w.clusters[cluster].SetService("shop", name.service, address)
		}
	}
}

// group is the path of the group.
const group = "projects/shop/composite-apps/store/v1/deployment-intent-groups"

// drawGroup publishes a name of each provider by a group, which may be suspended then.
func (w *drawn) drawGroup() {
	w.Helper()
	spec := fields{"logicalCloud": "eu", "apps": []fields{{"name": "web"}}}
	w.post(group, "prod", spec)
	w.post(group+"/prod/traffic-group-intents", "front", fields{})
	for n, provider := range []string{"lab", "corp"} {
		name := drawnName{host: "www." + provider + ".example", provider: provider, service: "web-" + provider, clusters: w.order, group: true}
		w.offer(10+n, name)
		w.names = append(w.names, name)
		w.post(group+"/prod/traffic-group-intents/front/dns-intents", provider, fields{
			"app": "web", "serviceName": name.service, "hostnames": []string{name.host}, "ttl": 1, "records": []string{provider},
		})
	}
	w.call(http.MethodPost, group+"/prod/instantiate", nil, nil)
	w.settles(nil)
	if w.random.IntN(3) == 0 {
		w.suspended = true
		spec["suspend"] = true
		w.call(http.MethodPut, group+"/prod", resource("prod", spec), nil)
	}
}

// should are the addresses of a name while some clusters are drained.
func (w *drawn) should(name drawnName, drained []string) []string {
	if name.fixed != nil {
		return name.fixed
	}
	out := []string{}
	for _, cluster := range name.clusters {
		address, has := w.addresses[name.service][cluster]
		if has && (!slices.Contains(drained, cluster) || name.group && w.suspended) && (len(out) == 0 || !name.failover) {
			out = append(out, address)
		}
	}
	slices.Sort(out)
	return out
}

// settles waits until all names are answered as they should be.
func (w *drawn) settles(drained []string) {
	w.Helper()
	for _, name := range w.names {
		want := w.should(name, drained)
		wait.For(w.T, patience, fmt.Sprintf("%s to be answered with %v", name.host, want), func() error {
			return w.answered(name, want)
		})
	}
}

// answered tells whether the server of a name answers it with addresses.
func (w *drawn) answered(name drawnName, want []string) error {
	found, err := dns.Query(w.Context(), w.servers[name.provider], name.host, "A")
	slices.Sort(found)
	if err == nil && !slices.Equal(found, want) {
		err = fmt.Errorf("it is answered with %v", found)
	}
	return err
}

// failsOver drains clusters with a preview, waits, compares, and goes back.
func (w *drawn) failsOver() {
	w.Helper()
	drained, spec, before := w.drawMove()
	w.Logf("%v are drained, the preview has %+v", drained, before.Counts)
	done := w.done("failovers?confirm="+before.Token+force(before), spec)
	w.compare(before, drained)
	require.Equal(w, before.Counts, done.Counts)

	var back intent.FailoverPreview
	w.call(http.MethodPost, "failovers/"+done.ID+"/revert?dryRun=true", nil, &back)
	w.done("failovers/"+done.ID+"/revert?confirm="+back.Token+force(back), nil)
	w.compare(back, nil)
}

// drawMove draws clusters to drain, until a preview says that names move.
func (w *drawn) drawMove() (drained []string, spec fields, before intent.FailoverPreview) {
	w.Helper()
	const tries = 20
	for range tries {
		drained, spec = w.someDrained()
		before = intent.FailoverPreview{}
		w.call(http.MethodPost, "failovers?dryRun=true", spec, &before)
		if before.Counts.Names > 0 {
			break
		}
	}
	return drained, spec, before
}

// someDrained draws a region or one or two clusters.
func (w *drawn) someDrained() (drained []string, spec fields) {
	spec = fields{}
	if region := w.oneOf("eu", "us", ""); region != "" {
		spec["drain"] = fields{"labels": fields{"region": region}}
		drained = slices.DeleteFunc(slices.Clone(w.order), func(name string) bool { return regionOf(name) != region })
	} else {
		for _, at := range w.random.Perm(len(w.order))[:1+w.random.IntN(2)] {
			drained = append(drained, w.order[at])
		}
		spec["drain"] = fields{"clusters": w.listed(drained)}
	}
	return drained, spec
}

// force is asked for if a preview has refusals.
func force(p intent.FailoverPreview) string {
	if len(p.Refusals) > 0 {
		return "&force=true"
	}
	return ""
}

// done makes a failover, and waits until it is done.
func (w *drawn) done(path string, spec any) (r intent.FailoverRecord) {
	w.Helper()
	w.call(http.MethodPost, path, spec, &r)
	wait.For(w.T, patience, "failover "+r.ID+" to be done", func() error {
		w.call(http.MethodGet, "failovers/"+r.ID, nil, &r)
		if r.State != intent.FailoverDone {
			return fmt.Errorf("it is %s, %d of %d names are answered: %+v", r.State, r.Answered, r.Counts.Names, r.Names)
		}
		return nil
	})
	return r
}

// compare: once a failover is done, each name of its preview is answered as that says, and each
// other name as before. That is also what follows from the addresses of the clusters.
func (w *drawn) compare(p intent.FailoverPreview, drained []string) {
	w.Helper()
	rows := map[string]intent.MovedName{}
	for _, row := range p.Names {
		rows[row.Name] = row
	}
	for _, name := range w.names {
		want := w.should(name, drained)
		if row, moves := rows[name.host]; moves && row.Stays == "" {
			require.Equal(w, want, row.After, "the preview of %s, where %v are drained", name.host, drained)
		}
		require.NoError(w, w.answered(name, want), "%s, of which the preview says %s", name.host, strings.TrimSpace(fmt.Sprintf("%+v", rows[name.host])))
	}
}
