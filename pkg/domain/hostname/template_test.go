package hostname

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func berlin() Values {
	return Values{App: "web", Service: "Front", Namespace: "shop", Project: "store"}.
		Of("edge+Berlin_1", map[string]string{"region": "eu", "topology.kubernetes.io/zone": "a", "city": "münchen"})
}

func TestTemplatesMakeNames(t *testing.T) {
	for _, c := range []struct {
		template, want string
		perCluster     bool
	}{
		{"WWW.Lab.Example.", "www.lab.example", false},
		{"{{.App}}.{{.Service}}.{{.Namespace}}.{{.Project}}.example", "web.front.shop.store.example", false},
		{"{{ lower .Service }}.lab.example", "front.lab.example", false},
		{`{{.Cluster | lower | replace "_" "-"}}.{{.ClusterProvider}}.lab.example`, "berlin-1.edge.lab.example", true},
		{`{{replace "_" "-" (lower .Cluster)}}.lab.example`, "berlin-1.lab.example", true},
		{"*.{{.Labels.region}}.lab.example", "*.eu.lab.example", true},
		{`{{index .Labels "topology.kubernetes.io/zone"}}.lab.example`, "a.lab.example", true},
		{"{{.Labels.city}}.lab.example", "xn--mnchen-3ya.lab.example", true},
		{"{{- .App -}} .lab.example", "web.lab.example", false},
		{`{{"www"}}.lab.example{{/* says nothing */}}`, "www.lab.example", false},
	} {
		t.Run(c.template, func(t *testing.T) {
			template, err := Parse(c.template)
			require.NoError(t, err)
			assert.Equal(t, c.perCluster, template.PerCluster())
			assert.Equal(t, strings.Contains(c.template, "{{"), template.Made())
			name, err := template.Name(berlin())
			require.NoError(t, err)
			assert.Equal(t, c.want, name)
		})
	}
}

// TestTemplatesThatFail are refused when they are read: whatever the values are,
// they would not do.
func TestTemplatesThatFail(t *testing.T) {
	for template, why := range map[string]string{
		"{{.App":                          "is not a template: unclosed action",
		"{{.App}":                         "is not a template: bad character",
		"{{nothing .App}}.example":        `function "nothing" not defined`,
		"{{.Name}}.example":               "has .Name; write one such as {{.Cluster}}.lab.example",
		"{{.App.Name}}.example":           "has .App.Name",
		"{{.Labels}}.example":             "has .Labels;",
		"{{.Labels.a.b}}.example":         "has .Labels.a.b",
		"{{.}}.example":                   "has .;",
		"{{1}}.example":                   "has 1;",
		"{{$.App}}.example":               "has $.App",
		"{{(.App).x}}.example":            "has (.App).x",
		"{{print .App}}.example":          "has function print",
		"{{call .App}}.example":           "has function call",
		"{{len .App}}.example":            "has function len",
		`{{index .Labels}}.example`:       `another index than index .Labels "key"`,
		`{{index .App "x"}}.example`:      `another index than index .Labels "key"`,
		`{{"a" | index .Labels}}`:         `another index than index .Labels "key"`,
		`{{index .Labels .App}}`:          `another index than index .Labels "key"`,
		"{{.App .Service}}.example":       "has {{.App .Service}}, which is no function",
		"{{.App | .Service}}":             "which is no function",
		"{{$a := .App}}a.example":         "sets a variable",
		"{{if .App}}a{{end}}.example":     "has {{if .App}}",
		"{{range .Labels}}a{{end}}":       "has {{range .Labels}}",
		"{{with .App}}a{{end}}":           "has {{with .App}}",
		`{{define "x"}}a{{end}}b.example`: "defines a template",
		`{{template "x"}}.example`:        "has {{template \"x\"}}",
		strings.Repeat("{{.App}}", 200):   "is a template longer than 1024 bytes",
	} {
		t.Run(template[:min(len(template), 30)], func(t *testing.T) {
			_, err := Parse(template)
			assert.ErrorContains(t, err, why)
		})
	}
}

// TestTemplatesThatMakeNoName fail for some values.
func TestTemplatesThatMakeNoName(t *testing.T) {
	for template, why := range map[string]string{
		"{{.Labels.zone}}.lab.example": `needs label "zone", which the cluster does not have; add the label to the cluster`,
		"{{.Cluster}}.lab.example":     `makes "Berlin_1.lab.example", which has a label with other characters than letters`,
		"{{.App}}":                     `makes "web", which is not a full host name`,
		"{{.App}}..example":            "empty label",
		"a*{{.App}}.example":           "not the whole first label",
		"{{lower}}.example":            "fails: wrong number of args for lower",
		`{{replace "a"}}.example`:      "fails: wrong number of args for replace",
		`{{replace "" "` + strings.Repeat("x", 500) + `" .Service}}.example`:                                               "too long for a name",
		`{{.App | replace "" "aaaaaaaa" | replace "" "aaaaaaaa" | replace "" "aaaaaaaa" | replace "" "aaaaaaaa"}}.example`: "too long for a name",
	} {
		t.Run(template[:min(len(template), 30)], func(t *testing.T) {
			parsed, err := Parse(template)
			require.NoError(t, err)
			_, err = parsed.Name(berlin())
			assert.ErrorContains(t, err, why)
		})
	}
}

func TestNamesAreTexts(t *testing.T) {
	_, err := Canonical("\x9f.example")
	assert.EqualError(t, err, "is not a string in UTF-8")
}

func FuzzTemplates(f *testing.F) {
	for _, seed := range []string{"{{.Cluster}}.lab.example", `{{replace "" "aa" .App}}.example`, "{{if}}", `{{index .Labels "a"}}.b.c`} {
		f.Add(seed, "berlin")
	}
	f.Fuzz(func(t *testing.T, text, cluster string) {
		template, err := Parse(text)
		if err != nil {
			assert.NotContains(t, err.Error(), "template: :", "where it is wrong in words of text/template")
			return
		}
		name, err := template.Name(berlin().Of("edge+"+cluster, map[string]string{"a": cluster}))
		if err != nil {
			return
		}
		again, err := Canonical(name)
		require.NoError(t, err)
		assert.Equal(t, name, again, "what a template makes is canonical")
	})
}
