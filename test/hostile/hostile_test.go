package hostile

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/access/accesstest"
	"github.com/signpost-dns/signpost/test/apiserver"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

const (
	patience = time.Minute
	each     = 3 * time.Second / 2 // of a flood
	most     = 400 << 20           // bytes that may be resident
	slowest  = time.Second         // of a hundred requests of another tenant, but one
	group    = "/v2/projects/evil/composite-apps/trap/v1/deployment-intent-groups/prod"
	address  = "203.0.113.66"
)

type world struct {
	*testing.T

	signpost *fixture.Signpost
	issuer   *accesstest.Issuer
	hub      *apiserver.Server
	fronts   []*front
}

// begin starts Signpost with two tenants, one of which has the clusters.
func begin(t *testing.T, nameserver string) *world {
	t.Helper()
	w := &world{T: t, issuer: accesstest.NewIssuer(t), hub: apiserver.Start(t, "hub", 0)}
	program, err := fixture.Build(t.Context(), t.TempDir())
	require.NoError(t, err)
	tokens := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(tokens, []byte("root,root,admin\ngood,good,editor,good\n"), 0o600))
	w.signpost, err = fixture.NewSignpost(program, t.TempDir(), "--token-file="+tokens, "--allow-local-verify",
		"--oidc-issuer="+w.issuer.URL, "--oidc-audience="+accesstest.Audience)
	require.NoError(t, err)
	w.signpost.EndWith(t)
	require.NoError(t, w.signpost.Start(t.Context()))
	w.must("POST", "/v2/cluster-providers", `{"metadata":{"name":"edge"}}`)
	w.cluster("hub", w.hub, w.hub.URL)
	w.must("POST", "/v2/projects", `{"metadata":{"name":"good"}}`)
	w.must("POST", "/v2/projects", `{"metadata":{"name":"evil"},"spec":{"namespace":"evil-dns"}}`)
	w.must("POST", "/v2/projects/evil/dns-update-records", fmt.Sprintf(`{"metadata":{"name":"lab"},"spec":{"provider":"coredns","external-dns-parameters":{"interval":"5s"},
		"environment":{"ETCD_URLS":"http://192.0.2.1:2379"},"verify":{"servers":[%q]}}}`, nameserver))
	w.must("POST", "/v2/projects/evil/logical-clouds", `{"metadata":{"name":"den"},"spec":{"namespace":"den","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}}`)
	w.must("POST", "/v2/projects/evil/logical-clouds/den/kv-pairs", `{"metadata":{"name":"dns-update-record-list"},"spec":{"kv":[{"key1":"lab"}]}}`)
	for n, of := range floods() {
		f := newFront(t, fmt.Sprintf("evil-%d", n), of)
		w.fronts = append(w.fronts, f)
		name := fmt.Sprintf("evil-%d", n)
		w.cluster(name, f.behind, f.URL)
		w.must("POST", "/v2/projects/evil/logical-clouds/den/cluster-references", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"clusterProvider":"edge","cluster":%[1]q}}`, name))
	}
	w.must("POST", "/v2/projects/evil/composite-apps", `{"metadata":{"name":"trap"},"spec":{"compositeAppVersion":"v1"}}`)
	w.must("POST", strings.TrimSuffix(group, "/prod"), fmt.Sprintf(`{"metadata":{"name":"prod"},"spec":{"logicalCloud":"den","apps":[{"name":"web","manifests":[
		{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"externalIPs":[%q],"ports":[{"port":80}]}}]}]}}`, address))
	w.must("POST", group+"/traffic-group-intents", `{"metadata":{"name":"front"}}`)
	w.must("POST", group+"/traffic-group-intents/front/dns-intents", `{"metadata":{"name":"www"},"spec":{"app":"web","serviceName":"web","hostnames":["www.evil.example"]}}`)
	w.must("POST", group+"/instantiate", "")
	return w
}

// cluster registers an API server that is reached at a URL.
func (w *world) cluster(name string, server *apiserver.Server, url string) {
	w.Helper()
	kubeconfig, err := server.Kubeconfig()
	require.NoError(w, err)
	kubeconfig = bytes.ReplaceAll(kubeconfig, []byte(server.URL), []byte(url))
	w.must("POST", "/v2/cluster-providers/edge/clusters", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"kubeconfig":%q}}`, name, base64.StdEncoding.EncodeToString(kubeconfig)))
}

// call sends a request with a token, and answers the status and the body.
func (w *world) call(token, method, path, body string) (int, string) {
	w.Helper()
	base, err := w.signpost.URL()
	require.NoError(w, err)
	request, err := http.NewRequestWithContext(w.Context(), method, base+path, strings.NewReader(body))
	require.NoError(w, err)
	request.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(w, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(w, err)
	return answer.StatusCode, string(text)
}

func (w *world) must(method, path, body string) {
	w.Helper()
	status, text := w.call("root", method, path, body)
	require.Less(w, status, 300, "%s %s: %s", method, path, text)
}

// published are the targets of the DNSEndpoints in the hub.
func (w *world) published() []string {
	var targets []string
	for _, endpoint := range w.hub.Items("/apis/externaldns.k8s.io/v1alpha1/dnsendpoints") {
		raw, _ := json.Marshal(endpoint)
		var read struct {
			Spec struct{ Endpoints []struct{ Targets []string } }
		}
		_ = json.Unmarshal(raw, &read)
		for _, e := range read.Spec.Endpoints {
			targets = append(targets, e.Targets...)
		}
	}
	return targets
}

// messages are what the status says of the clusters.
func (w *world) messages() map[string]string {
	w.Helper()
	_, text := w.call("root", "GET", group+"/status", "")
	var status struct {
		Clusters []struct{ Cluster, Message string }
	}
	require.NoError(w, json.Unmarshal([]byte(text), &status), text)
	said := map[string]string{}
	for _, c := range status.Clusters {
		said[c.Cluster] = c.Message
	}
	return said
}

// toldWhy waits until the status has said of each cluster why it is not known.
func (w *world) toldWhy() {
	w.Helper()
	told := map[string]bool{}
	wait.For(w.T, patience, "the status to say why", func() error {
		for name, message := range w.messages() {
			told[name] = told[name] || strings.Contains(message, "would take more than") || strings.Contains(message, "too large or cannot be read")
		}
		for n, f := range w.fronts {
			if name := fmt.Sprintf("evil-%d", n); !told[name] {
				return fmt.Errorf("of %s it says %q", f.flood.name, w.messages()[name])
			}
		}
		return nil
	})
}

// TestAFloodHarmsNobodyElse (I11) has one flood after the other begin, and checks how
// much memory Signpost has, how fast it answers another tenant, and that the addresses
// of the flooded clusters stay.
func TestAFloodHarmsNobodyElse(t *testing.T) {
	nameserver, asked := floodingDNS(t)
	w := begin(t, nameserver)
	wait.For(t, patience, "the address", func() error {
		if got := w.published(); !slices.Equal(got, []string{address}) {
			return fmt.Errorf("it is %v", got)
		}
		return nil
	})
	w.issuer.Answer(func(rw http.ResponseWriter, _ *http.Request) { repeat(rw, `{"keys":[`, "{},") })
	var took []time.Duration
	for _, f := range w.fronts {
		f.on.Store(true)
		f.CloseClientConnections() // watches begin anew
		peak := int64(0)
		for until := time.Now().Add(each); time.Now().Before(until); {
			took = append(took, w.good())
			resident, err := w.signpost.Resident()
			require.NoError(t, err)
			peak = max(peak, resident)
		}
		f.on.Store(false)
		t.Logf("%d MiB resident at most: %s", peak>>20, f.flood.name)
		require.Less(t, peak, int64(most), f.flood.name)
		require.Equal(t, []string{address}, w.published(), f.flood.name)
	}
	slices.Sort(took)
	p99 := took[len(took)*99/100]
	t.Logf("of %d requests beside, half took at most %s, 99 of 100 %s", len(took), took[len(took)/2], p99)
	require.Less(t, p99, slowest)
	for _, f := range w.fronts {
		f.on.Store(true) // so that it stays in the status
		f.CloseClientConnections()
	}
	w.toldWhy()
	wait.For(t, patience, "the DNS server to be asked", func() error {
		if asked.Load() == 0 {
			return errors.New("it was not")
		}
		return nil
	})
	require.Equal(t, []string{address}, w.published())
}

// good is what another tenant does, and how long it took: a token that only the issuer
// could tell about, a document that is written and one that is read.
func (w *world) good() time.Duration {
	w.Helper()
	status, _ := w.call(w.issuer.Token("otto", map[string]any{"roles": []string{"admin"}}), "GET", "/v2/projects", "")
	require.Contains(w, []int{http.StatusServiceUnavailable, http.StatusTooManyRequests}, status)
	began := time.Now()
	status, text := w.call("good", "PUT", "/v2/projects/good/dns-update-records/lab", fmt.Sprintf(`{"metadata":{"name":"lab","description":"%d"},"spec":{"provider":"coredns"}}`, began.UnixNano()))
	require.Less(w, status, 300, text)
	status, text = w.call("good", "GET", "/v2/projects/good/dns-update-records/lab", "")
	require.Equal(w, http.StatusOK, status, text)
	return time.Since(began)
}
