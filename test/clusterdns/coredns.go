// Package clusterdns runs what pkg/plan/clusterdns renders on real parts: the
// Corefile in a CoreDNS, the objects on a kube-apiserver.
package clusterdns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/tools"
)

// CoreDNS is a real one, whose Corefile may change while it runs.
type CoreDNS struct {
	*process.Process

	Port uint16 // that its servers listen on

	dir, corefile, kubeconfig string
	health, ready, metrics    string // addresses
}

// NewCoreDNS prepares a CoreDNS on loopback that finds its cluster by a
// kubeconfig.
func NewCoreDNS(ctx context.Context, dir, kubeconfig string, ports *process.Ports) (*CoreDNS, error) {
	path, err := tools.Path(ctx, tools.CoreDNS)
	if err != nil {
		return nil, err
	}
	port, err := ports.Next(ctx)
	if err != nil {
		return nil, err
	}
	c := &CoreDNS{Port: uint16(port), dir: dir, corefile: filepath.Join(dir, "Corefile"), kubeconfig: kubeconfig} //nolint:gosec // a port
	for _, address := range []*string{&c.health, &c.ready, &c.metrics} {
		if *address, err = ports.Address(ctx); err != nil {
			return nil, err
		}
	}
	c.Process = &process.Process{
		Name: "coredns", Path: path, Args: []string{"-conf", c.corefile},
		Log: filepath.Join(dir, "coredns.log"), Ready: c.isReady,
	}
	return c, nil
}

// Write gives CoreDNS another Corefile, in one step, as a kubelet does. It is
// as it was built, but for what a container has for itself: addresses to listen
// on, the way to the API server, the files of etc; and for how long a change may
// stay unnoticed.
func (c *CoreDNS) Write(corefile string) error {
	for pattern, replacement := range map[string]string{
		`(?m)^(\S.*\{)$`:            "$1\n    bind 127.0.0.1",
		`(?m)^    prometheus .*$`:   "    prometheus " + c.metrics,
		`(?m)^    health \{$`:       "    health " + c.health + " {",
		`(?m)^    ready$`:           "    ready " + c.ready,
		`(?m)^    reload$`:          "    reload 2s 1s",
		`(?m)^    kubernetes .*\{$`: "$0\n        kubeconfig " + c.kubeconfig,
		` /etc/`:                    " " + c.dir + "/",
	} {
		corefile = regexp.MustCompile(pattern).ReplaceAllString(corefile, replacement)
	}
	draft := c.corefile + ".new"
	if err := os.WriteFile(draft, []byte(corefile), 0o600); err != nil {
		return err
	}
	return os.Rename(draft, c.corefile)
}

// isReady asks as the kubelet does, and then for a name of the cluster: CoreDNS
// calls itself ready a moment before it listens.
func (c *CoreDNS) isReady(ctx context.Context) error {
	if _, err := get(ctx, "http://"+c.ready+"/ready"); err != nil {
		return err
	}
	_, err := c.Ask(ctx, "kubernetes.default.svc.cluster.local", dns.TypeA)
	return err
}

// Metrics are what CoreDNS tells Prometheus.
func (c *CoreDNS) Metrics(ctx context.Context) (string, error) {
	return get(ctx, "http://"+c.metrics+"/metrics")
}

func get(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return "", errors.New(url + ": " + response.Status)
	}
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

// patience is how long an answer may take: as long as CoreDNS itself tries.
const patience = 8 * time.Second

// Ask asks CoreDNS once, over UDP, and asks no second time over TCP.
func (c *CoreDNS) Ask(ctx context.Context, name string, kind uint16) (*dns.Msg, error) {
	query := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind)
	client := &dns.Client{Net: "udp", Timeout: patience}
	answer, _, err := client.ExchangeContext(ctx, query, "127.0.0.1:"+strconv.Itoa(int(c.Port)))
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", name, err)
	}
	return answer, nil
}

// Address is the one address that a name has.
func (c *CoreDNS) Address(ctx context.Context, name string) (string, error) {
	answer, err := c.Ask(ctx, name, dns.TypeA)
	if err != nil {
		return "", err
	}
	if answer.Rcode != dns.RcodeSuccess || len(answer.Answer) != 1 {
		return "", fmt.Errorf("%s: %s with %d records", name, dns.RcodeToString[answer.Rcode], len(answer.Answer))
	}
	a, ok := answer.Answer[0].(*dns.A)
	if !ok {
		return "", fmt.Errorf("%s: %s", name, answer.Answer[0])
	}
	return a.A.String(), nil
}
