package faults

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/signpost-dns/signpost/test/e2e/kube"
)

// ClusterTap is a server between a process and a kube-apiserver.
type ClusterTap struct {
	tap    *Tap
	name   string
	server *httptest.Server
	target http.RoundTripper
}

// Cluster starts a tap in front of a kube-apiserver. The caller closes it.
func (t *Tap) Cluster(server *kube.Server) (*ClusterTap, error) {
	known := x509.NewCertPool()
	if !known.AppendCertsFromPEM(server.CA()) {
		return nil, errors.New("the server's certificate is none")
	}
	target, err := url.Parse(server.URL)
	if err != nil {
		return nil, err
	}
	c := &ClusterTap{tap: t, name: server.Name, target: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: known}, ForceAttemptHTTP2: true,
	}}
	silent := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // that connections break is what this is about
	c.server = httptest.NewUnstartedServer(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     c,
		FlushInterval: -1, // watches
		ErrorLog:      silent,
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	c.server.Config.ErrorLog = silent
	c.server.EnableHTTP2 = true
	c.server.StartTLS()
	return c, nil
}

// Close ends all connections.
func (c *ClusterTap) Close() {
	c.server.CloseClientConnections()
	c.server.Close()
}

// Kubeconfig is the kubeconfig, which names the cluster itself, with the tap in
// its place.
func (c *ClusterTap) Kubeconfig(kubeconfig []byte) ([]byte, error) {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, err
	}
	for _, cluster := range config.Clusters {
		cluster.Server = c.server.URL
		cluster.CertificateAuthorityData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.server.Certificate().Raw})
	}
	return clientcmd.Write(*config)
}

// RoundTrip implements http.RoundTripper. Writes pass the tap.
func (c *ClusterTap) RoundTrip(request *http.Request) (*http.Response, error) {
	if !changes(request) {
		return c.target.RoundTrip(request)
	}
	var answer *http.Response
	err := c.tap.pass(Write{Edge: c.name, What: request.Method + " " + request.URL.Path, Trace: request.Header.Get("traceparent")}, func() (err error) {
		answer, err = c.target.RoundTrip(request) //nolint:bodyclose // below, or by who asked
		return err
	})
	if err != nil && answer != nil {
		_ = answer.Body.Close()
		answer = nil
	}
	return answer, err
}

// changes tells whether a request may change the cluster: reviews of rights
// and dry runs do not.
func changes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead &&
		!strings.HasPrefix(r.URL.Path, "/apis/authorization.k8s.io/") && !r.URL.Query().Has("dryRun")
}
