package kubeapi

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Metrics implements Target, through the API server's pod proxy.
func (k *Kubernetes) Metrics(ctx context.Context, namespace, pod string, port int32) (cluster.Metrics, error) {
	ctx, cancel := context.WithTimeout(ctx, cluster.MetricsAtMost)
	defer cancel()
	body, err := k.proxied.Pods(namespace).ProxyGet("http", pod, strconv.Itoa(int(port)), cluster.MetricsPath, nil).DoRaw(ctx)
	if err != nil {
		return nil, cluster.Classify(err, cluster.Reading)
	}
	return cluster.ParseMetrics(body)
}

// shortened is a transport of which no answer is longer than so many bytes, with any
// status: a pod says what it likes.
type shortened struct {
	http.RoundTripper
	most int64
}

func (b shortened) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(answer.Body, b.most), answer.Body}
	return answer, nil
}
