package poddns

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const yamlDeployment = `
---
# Source: web/templates/deployment.yaml
apiVersion: apps/v1   # a comment
kind: Deployment
metadata:
    name: web
    annotations: {big: "1", "checksum/config": abc}

spec:
    replicas: 2
    template:
        spec:
            # the only one
            containers:
            - name: web
              image: "web:1.10"
              args: ["--mask=0644", --ratio=1.10]
              command:
              - sh
              - -c
              - |
                dnsPolicy: none of ours
                exit 0
            dnsPolicy: ClusterFirst # as ever
            securityContext: {runAsUser: 12345678901234567890}
            dnsConfig:
                # ours alone
                options:
                - name: timeout
                  value: "3"

                searches: [a.example]
            terminationGracePeriodSeconds: 5
`

// manifestOf reads a text as Signpost does.
func manifestOf(t *testing.T, text string) Manifest {
	t.Helper()
	raw, err := yaml.YAMLToJSONStrict([]byte(strings.TrimPrefix(text, "\n---\n")))
	require.NoError(t, err)
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	var m Manifest
	require.NoError(t, decoder.Decode(&m))
	return m
}

// rewritten is a text with the settings of an intent.
func rewritten(t *testing.T, text, spec string) string {
	t.Helper()
	want, findings := Render(manifestOf(t, text), asked(t, spec), "edge+berlin")
	require.Empty(t, findings)
	got, err := Rewrite(text, want)
	require.NoError(t, err)
	raw, err := json.Marshal(want)
	require.NoError(t, err)
	again, err := json.Marshal(manifestOf(t, got))
	require.NoError(t, err)
	assert.JSONEq(t, string(raw), string(again), "%s", got)
	return got
}

const none = `{"dnsPolicy":"None","dnsConfig":{"nameservers":["192.0.2.1"],"options":[{"name":"ndots","value":"2"}]}}`

// TestTheRestOfATextStaysAsItIsWritten: comments, order, quotes, numbers and
// what only looks like a setting.
func TestTheRestOfATextStaysAsItIsWritten(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"YAML": {yamlDeployment, strings.NewReplacer("            dnsPolicy: ClusterFirst # as ever\n", "",
			`            dnsConfig:
                # ours alone
                options:
                - name: timeout
                  value: "3"

                searches: [a.example]
`, "", "            # the only one\n", `            dnsConfig:
              nameservers:
              - 192.0.2.1
              options:
              - name: timeout
                value: "3"
              - name: ndots
                value: "2"
              searches:
              - a.example
            dnsPolicy: None
            # the only one
`).Replace(yamlDeployment)},
		"JSON": {
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"w"},"spec": { "dnsPolicy":"x", "containers":[ {"n":1.10, "d":"<&>"} ] , "dnsConfig":{"searches":["a"]}, "n":12345678901234567890  }}` + "\n",
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"w"},"spec": { "dnsConfig":{"nameservers":["192.0.2.1"],"options":[{"name":"ndots","value":"2"}],"searches":["a"]}, "dnsPolicy":"None", "containers":[ {"n":1.10, "d":"<&>"} ] , "n":12345678901234567890  }}` + "\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, rewritten(t, c.text, none))
			require.Equal(t, c.want, rewritten(t, c.want, none), "once more")
		})
	}
}

// TestAMergedSpecIsWrittenAnew: in the decoder of Kubernetes a merge that comes
// after a field counts more than the field.
func TestAMergedSpecIsWrittenAnew(t *testing.T) {
	got := rewritten(t, `apiVersion: v1
kind: Pod
metadata: {name: w, annotations: &base {dnsPolicy: Default}}
spec:
  <<: *base
  containers: []
`, none)
	require.True(t, strings.HasPrefix(got, "{"), "%s", got)
}
