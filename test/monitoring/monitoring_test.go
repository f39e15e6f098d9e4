// Package monitoring proves deploy/monitoring: that Prometheus reads every
// expression, that they name metrics that Signpost has, that alerts fire when
// they should and end, and that each is told of in docs/alerts.md.
package monitoring

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// group is a group of rules, as Prometheus has it.
type group struct {
	Name  string
	Rules []rule
}

type rule struct {
	Record              string // of a recording rule
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile("../../" + file)
	require.NoError(t, err)
	return content
}

func rules(t *testing.T) []group {
	t.Helper()
	var file struct{ Groups []group }
	require.NoError(t, yaml.Unmarshal(read(t, "deploy/monitoring/alerts.yaml"), &file))
	require.NotEmpty(t, file.Groups)
	return file.Groups
}

// told are the metrics of Signpost and of its DNS, as the tables of
// docs/monitoring.md have them. Another test holds Signpost's against the code.
func told(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `((?:signpost|coredns)_[a-z0-9_]+)` \\|").FindAllSubmatch(read(t, "docs/monitoring.md"), -1) {
		found[string(row[1])] = true
	}
	require.NotEmpty(t, found)
	return found
}

// judge fails the test unless an expression is one, and names metrics that are
// there.
func judge(t *testing.T, expression string, metrics map[string]bool) {
	t.Helper()
	parsed, err := parser.ParseExpr(expression)
	require.NoError(t, err, expression)
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if selector, is := node.(*parser.VectorSelector); is {
			name := regexp.MustCompile(`_seconds_(bucket|count|sum)$`).ReplaceAllString(selector.Name, "_seconds")
			require.True(t, metrics[name], "%s: there is no metric %s", expression, selector.Name)
		}
		return nil
	})
}

func TestAlertsAreOfMetricsThatExistAndAreTold(t *testing.T) {
	metrics, page := told(t), string(read(t, "docs/alerts.md"))
	alerts := map[string]bool{}
	for _, g := range rules(t) {
		for _, rule := range g.Rules {
			judge(t, rule.Expr, metrics)
			if rule.Record != "" {
				metrics[rule.Record] = true
				continue
			}
			_, err := model.ParseDuration(rule.For)
			require.NoError(t, err, rule.Alert)
			require.Contains(t, []string{"warning", "critical"}, rule.Labels["severity"], rule.Alert)
			require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
			require.Regexp(t, "(?m)^## "+rule.Alert+"$", page, "what it means is told under a heading of its own")
			require.True(t, strings.HasSuffix(rule.Annotations["runbook_url"], "/docs/alerts.md#"+strings.ToLower(rule.Alert)), rule.Alert)
			alerts[rule.Alert] = true
		}
	}
	for _, heading := range regexp.MustCompile(`(?m)^## (Signpost\w+)$`).FindAllStringSubmatch(page, -1) {
		require.True(t, alerts[heading[1]], "docs/alerts.md tells of an alert that is not there: %s", heading[1])
	}
}

func TestTheOperatorsRulesAreTheSame(t *testing.T) {
	var resource struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Spec       struct{ Groups []group }
	}
	require.NoError(t, yaml.Unmarshal(read(t, "deploy/monitoring/prometheusrule.yaml"), &resource))
	require.Equal(t, "monitoring.coreos.com/v1 PrometheusRule", resource.APIVersion+" "+resource.Kind)
	require.Equal(t, rules(t), resource.Spec.Groups)
}

func TestTheDashboardShowsMetricsThatExist(t *testing.T) {
	var dashboard struct {
		Title  string
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(read(t, "deploy/monitoring/dashboard.json"), &dashboard))
	require.NotEmpty(t, dashboard.Panels)
	metrics, interval := told(t), time.Minute.String()
	for _, panel := range dashboard.Panels {
		require.NotEmpty(t, panel.Targets, panel.Title)
		for _, target := range panel.Targets {
			judge(t, strings.ReplaceAll(target.Expr, "$__rate_interval", interval), metrics)
		}
	}
}
