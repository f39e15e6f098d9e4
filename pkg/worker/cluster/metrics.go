package cluster

import (
	"bytes"
	"net/http"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
)

// The place of metrics, and how much is read of them.
const (
	MetricsPath    = "metrics"
	MetricsAtMost  = RequestDeadline / 2
	LongestMetrics = 2 << 20 // bytes
	MostLines      = 20_000  // each may become a sample
)

// Metrics are samples of what a pod serves: counters, gauges, and of each
// histogram how much it has counted, by its name with "_count".
type Metrics []Sample

// Sample is one value.
type Sample struct {
	Name   string
	Labels map[string]string
	Value  float64
}

// Sums answers the values by name, summed over labels.
func (m Metrics) Sums() map[string]float64 {
	sums := map[string]float64{}
	for _, sample := range m {
		sums[sample.Name] += sample.Value
	}
	return sums
}

// ParseMetrics reads Prometheus' plain text. Other metrics than counters, gauges and
// histograms are left out. The order is of no meaning.
func ParseMetrics(text []byte) (Metrics, error) {
	if len(text) > LongestMetrics || bytes.Count(text, []byte("\n")) > MostLines {
		return nil, &fault.Error{Fault: fault.Unreachable, Code: http.StatusOK, Message: "the metrics are longer than any that are read"}
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, &fault.Error{Fault: fault.Unreachable, Code: http.StatusOK, Message: "the answer is not a metrics in Prometheus' text format", Err: err}
	}
	var metrics Metrics
	for name, family := range families {
		for _, m := range family.GetMetric() {
			sample := Sample{Name: name, Labels: map[string]string{}}
			for _, label := range m.GetLabel() {
				sample.Labels[label.GetName()] = label.GetValue()
			}
			switch {
			case m.Counter != nil:
				sample.Value = m.GetCounter().GetValue()
			case m.Gauge != nil:
				sample.Value = m.GetGauge().GetValue()
			case m.Untyped != nil:
				sample.Value = m.GetUntyped().GetValue()
			case m.Histogram != nil:
				sample.Name, sample.Value = name+"_count", float64(m.GetHistogram().GetSampleCount())
			default:
				continue
			}
			metrics = append(metrics, sample)
		}
	}
	return metrics, nil
}
