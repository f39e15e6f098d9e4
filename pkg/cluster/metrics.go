package cluster

import (
	"bytes"
	"context"
	"net/http"
	"strconv"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	metricsPath    = "metrics"
	metricsAtMost  = RequestDeadline / 2
	longestMetrics = 4 << 20 // bytes
)

// Metrics implements Target, through the API server's pod proxy.
func (k *Kubernetes) Metrics(ctx context.Context, namespace, pod string, port int32) (map[string]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, metricsAtMost)
	defer cancel()
	body, err := k.core.Pods(namespace).ProxyGet("http", pod, strconv.Itoa(int(port)), metricsPath, nil).DoRaw(ctx)
	if err != nil {
		return nil, classify(err, reading)
	}
	return ParseMetrics(body)
}

// ParseMetrics reads Prometheus' plain text: the value of each counter and
// gauge by its name, summed over its labels. What is neither is left out.
func ParseMetrics(text []byte) (map[string]float64, error) {
	if len(text) > longestMetrics {
		return nil, &Error{Fault: Unreachable, Code: http.StatusOK, Message: "the metrics are longer than any external-dns has"}
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, &Error{Fault: Unreachable, Code: http.StatusOK, Message: "the answer is no metrics in Prometheus' text format", Err: err}
	}
	values := map[string]float64{}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			switch {
			case m.Counter != nil:
				values[name] += m.GetCounter().GetValue()
			case m.Gauge != nil:
				values[name] += m.GetGauge().GetValue()
			case m.Untyped != nil:
				values[name] += m.GetUntyped().GetValue()
			}
		}
	}
	return values, nil
}
