// Package clusterdns runs what pkg/plan/clusterdns renders on real parts: the
// Corefile in a CoreDNS, the objects on a kube-apiserver.
package clusterdns

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/tools"
)

// CoreDNS is a real one, whose Corefile may change while it runs.
type CoreDNS struct {
	*process.Process

	// Its servers listen here, whatever the Corefile says. Both may be changed
	// before the Corefile is written.
	Host string
	Port uint16

	dir, corefile, kubeconfig string
	health, ready, metrics    string // addresses
}

// NewCoreDNS prepares a CoreDNS on loopback that finds its cluster by a
// kubeconfig.
func NewCoreDNS(ctx context.Context, dir, kubeconfig string, ports *process.Ports) (*CoreDNS, error) {
	path, err := tools.Path(ctx, tools.CoreDNSFull)
	if err != nil {
		return nil, err
	}
	port, err := ports.Next(ctx)
	if err != nil {
		return nil, err
	}
	c := &CoreDNS{Host: "127.0.0.1", Port: uint16(port), dir: dir, corefile: filepath.Join(dir, "Corefile"), kubeconfig: kubeconfig} //nolint:gosec // a port
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
// on, its loopback, the way to the API server, the files of etc; and for how
// long a change may stay unnoticed.
func (c *CoreDNS) Write(corefile string) error {
	corefile = regexp.MustCompile(`(?m)^ {4}bind .*\n`).ReplaceAllString(corefile, "")
	corefile = regexp.MustCompile(`(?m)^[^\s#].* \{$`).ReplaceAllStringFunc(corefile, func(head string) string {
		port := fmt.Sprintf(":%d ", c.Port)
		return regexp.MustCompile(`:\d+ `).ReplaceAllString(head, port) + "\n    bind " + c.Host
	})
	for pattern, replacement := range map[string]string{
		`(?m)^    prometheus .*$`:   "    prometheus " + c.metrics,
		`(?m)^    health .*\{$`:     "    health " + c.health + " {",
		`(?m)^    ready$`:           "    ready " + c.ready,
		`(?m)^    reload$`:          "    reload 2s 1s",
		`(?m)^    kubernetes .*\{$`: "$0\n        kubeconfig " + c.kubeconfig,
		` 127\.0\.0\.1:5353\b`:      " " + c.HostPort(),
		` /etc/`:                    " " + c.dir + "/",
	} {
		corefile = regexp.MustCompile(pattern).ReplaceAllString(corefile, replacement)
	}
	return swap(c.corefile, corefile)
}

// WriteFile gives CoreDNS a file below /etc, in one step.
func (c *CoreDNS) WriteFile(name, content string) error {
	path := filepath.Join(c.dir, strings.TrimPrefix(name, "/etc/"))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return swap(path, content)
}

func swap(path, content string) error {
	draft := path + ".new"
	if err := os.WriteFile(draft, []byte(content), 0o600); err != nil {
		return err
	}
	return os.Rename(draft, path)
}

// HostPort is where its servers listen.
func (c *CoreDNS) HostPort() string { return net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))) }

// Healthy asks as the kubelet does.
func (c *CoreDNS) Healthy(ctx context.Context) error {
	_, err := process.Get(ctx, "http://"+c.health+"/health")
	return err
}

// isReady asks as the kubelet does, and then for a name of the cluster: CoreDNS
// calls itself ready a moment before it listens.
func (c *CoreDNS) isReady(ctx context.Context) error {
	if _, err := process.Get(ctx, "http://"+c.ready+"/ready"); err != nil {
		return err
	}
	_, err := c.Ask(ctx, "kubernetes.default.svc.cluster.local", dns.TypeA)
	return err
}

// Metrics are what CoreDNS tells Prometheus.
func (c *CoreDNS) Metrics(ctx context.Context) (string, error) {
	return process.Get(ctx, "http://"+c.metrics+"/metrics")
}

// patience is how long an answer may take: for longer than CoreDNS itself tries.
const patience = 20 * time.Second

// Ask asks CoreDNS once, over UDP, and asks no second time over TCP.
func (c *CoreDNS) Ask(ctx context.Context, name string, kind uint16) (*dns.Msg, error) {
	query := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind)
	client := &dns.Client{Net: "udp", Timeout: patience}
	answer, _, err := client.ExchangeContext(ctx, query, c.HostPort())
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
