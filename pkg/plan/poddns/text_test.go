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

// manifestOf reads the last document of a text that holds one.
func manifestOf(t *testing.T, text string) Manifest {
	t.Helper()
	var m Manifest
	for document := range strings.SplitSeq(text, "---\n") {
		raw, err := yaml.YAMLToJSONStrict([]byte(document))
		require.NoError(t, err)
		decoder := json.NewDecoder(strings.NewReader(string(raw)))
		decoder.UseNumber()
		var content Manifest
		require.NoError(t, decoder.Decode(&content))
		if content != nil {
			m = content
		}
	}
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

// TestWhereverPodsAreWritten: the result is read as what was rendered, in
// whatever way the text has it.
func TestWhereverPodsAreWritten(t *testing.T) {
	const head = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
	for name, c := range map[string]struct {
		text string
		kept []string // pieces of the text that are still there
	}{
		"in one line":         {"apiVersion: v1\nkind: Pod\nmetadata: {name: w} # a note\nspec: {containers: [{name: a}]}\n", nil},
		"behind an alias":     {head + "x: &pod\n  containers: [{name: a}]\nspec:\n  template:\n    spec: *pod\n", nil},
		"with an anchor":      {head + "spec:\n  template:\n    spec: &pod # a note\n      containers: [{name: a}]\n", []string{"# a note"}},
		"shared by an alias":  {head + "spec:\n  template:\n    spec: &pod\n      containers: [{name: a}]\nx: *pod\n", nil},
		"merged":              {head + "x: &pod\n  dnsPolicy: Default\nspec:\n  template:\n    spec:\n      <<: *pod\n      containers: [{name: a}]\n", nil},
		"with carriage feeds": {strings.ReplaceAll(head+"spec:\n  template:\n    spec:\n      containers: [{name: a}]\n      dnsPolicy: Default\n", "\n", "\r\n"), []string{"metadata: {name: web}\r\n"}},
		"without a newline":   {head + "spec:\n  template:\n    spec:\n      containers: [{name: a}] # a note\n      dnsPolicy: Default", []string{"# a note"}},
		"with quoted names":   {head + "\"spec\":\n  'template':\n    spec:\n      containers: [{name: a}] # a note\n      \"dnsPolicy\": Default\n", []string{"# a note", "'template'"}},
		"between separators":  {"# first\n---\n# second\n" + head + "spec:\n  template:\n    spec:\n      containers: [{name: a}]\n---\n", []string{"# first\n---\n# second\n", "\n---\n"}},
		"a CronJob": {
			"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: w}\nspec:\n  jobTemplate: # a note\n    spec:\n      template:\n        spec:\n          containers: [{name: a}]\n",
			[]string{"jobTemplate: # a note"},
		},
		"tabs in JSON":        {"{\n\t\"apiVersion\": \"v1\", \"kind\": \"Pod\",\n\t\"metadata\": {\"name\": \"w\"},\n\t\"spec\": {\n\t\t\"containers\": [{\"name\": \"a\"}]\n\t}\n}\n", []string{"\n\t\"spec\": {\n\t\t\"dnsConfig\":", ",\n\t\t\"containers\": [{\"name\": \"a\"}]\n\t}\n}\n"}},
		"YAML in JSON's form": {"{apiVersion: v1, kind: Pod, metadata: {name: w}, spec: {containers: [{name: a}]}}\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := rewritten(t, c.text, none)
			for _, piece := range c.kept {
				require.Contains(t, got, piece)
			}
		})
	}
}

func TestTextsWithoutAManifestAreRefused(t *testing.T) {
	pod := deployment(t, `{"containers":[],"dnsPolicy":"None"}`)
	for text, says := range map[string]string{
		"": "it holds no object", "# nothing\n---\n": "no object", "a: b\n---\nc: d\n": "several objects", "a: &a " + strings.Repeat("a", 70_000) + "\nb: *a\n": "repeat more than 64 KiB", "a: [": "did not find", "[1]": "cannot unmarshal",
	} {
		_, err := Rewrite(text, pod)
		require.ErrorContains(t, err, says, "%q", text)
	}
	_, err := Rewrite("kind: ConfigMap\n", Manifest{"kind": "ConfigMap"})
	require.ErrorContains(t, err, "makes no pods")
}

func FuzzRewrite(f *testing.F) {
	f.Add(yamlDeployment)
	f.Add(`{"kind":"Pod","apiVersion":"v1","spec":{"dnsPolicy":"x","containers":[]}}`)
	f.Add("apiVersion: v1\nkind: Pod\nspec:\n  containers: []\n  dnsConfig:\n  # c\n\n    a: b\n")
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := yaml.YAMLToJSONStrict([]byte(text))
		if err != nil {
			return
		}
		var m Manifest
		if json.Unmarshal(raw, &m) != nil {
			return
		}
		rendered, _ := Render(m, asked(t, none), "edge+berlin")
		if _, ok := rendered["spec"].(Manifest); !ok {
			return
		}
		edited, err := Rewrite(text, rendered)
		if err != nil {
			return
		}
		_, _, err = read(edited)
		require.NoError(t, err, "%q", edited)
	})
}
