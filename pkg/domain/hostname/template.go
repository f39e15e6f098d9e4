package hostname

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

// Values are what a template is filled in with.
type Values struct {
	App, Service, Namespace, Project string
	ClusterProvider, Cluster         string            // of a name for one cluster
	Labels                           map[string]string // the cluster's
}

// Template makes names of hosts, one for each cluster where it speaks of these.
// It is safe for concurrent use. Make it with [Parse].
type Template struct {
	parsed *template.Template // nil: the text is the name
	text   string
	subjects
}

// The longest template and name that it makes, in bytes.
const (
	longestTemplate = 1 << 10
	longestText     = 4 * Longest
)

// Parse reads a template in Go's text/template language. It may have fields of [Values],
// index .Labels "key", and the functions lower (text) and replace (old, new, text), also
// in pipelines. A text without "{{" is a name. The error names the fault and the remedy.
func Parse(text string) (Template, error) {
	t := Template{text: text}
	if !strings.Contains(text, "{{") {
		return t, nil
	}
	if len(text) > longestTemplate {
		return t, fmt.Errorf("is a template longer than %d bytes", longestTemplate)
	}
	parsed, err := template.New("").Funcs(template.FuncMap{"lower": strings.ToLower, "replace": replace}).Parse(text)
	if err != nil {
		return t, fmt.Errorf("is not a template: %s; %s", reason(err), templateAdvice)
	}
	t.parsed = parsed
	if len(parsed.Templates()) > 1 || parsed.Tree == nil {
		return t, errors.New("defines a template; " + templateAdvice)
	}
	err = t.list(parsed.Root)
	return t, err
}

const templateAdvice = `write one such as {{.Cluster}}.lab.example, with .App, .Service, .Namespace, .Project, .ClusterProvider, .Cluster, .Labels.key, index .Labels "key", lower and replace`

// wherePattern is how text/template begins its errors.
var wherePattern = regexp.MustCompile(`^template: :[0-9:]+ (executing "" at <.*?>: )?`)

// reason is what an error of text/template says, without where.
func reason(err error) string { return wherePattern.ReplaceAllString(err.Error(), "") }

// replace is a function of templates. Texts do not grow without bound.
func replace(old, with, text string) (string, error) {
	if len(text)+strings.Count(text, old)*len(with) > longestText {
		return "", errors.New("replace makes a text that is too long for a name")
	}
	return strings.ReplaceAll(text, old, with), nil
}

// Of are the values with those of a cluster, "provider+cluster".
func (v Values) Of(cluster string, labels map[string]string) Values {
	v.ClusterProvider, v.Cluster, _ = strings.Cut(cluster, "+")
	v.Labels = labels
	return v
}

// Made tells whether the text is a template, and no name.
func (t Template) Made() bool { return t.parsed != nil }

// PerCluster tells whether each cluster gets a name of its own.
func (t Template) PerCluster() bool {
	return len(t.labels) > 0 || slices.Contains(t.fields, "Cluster") || slices.Contains(t.fields, "ClusterProvider")
}

// Name makes a name in its canonical form. The error says what is wrong, and
// what would be right.
func (t Template) Name(v Values) (string, error) {
	if t.parsed == nil {
		return Canonical(t.text)
	}
	for _, key := range t.labels {
		if _, has := v.Labels[key]; !has {
			return "", fmt.Errorf("needs label %q, which the cluster does not have; add the label to the cluster, or use another field", key)
		}
	}
	var out strings.Builder
	if err := t.parsed.Execute(&out, v); err != nil {
		return "", fmt.Errorf("fails: %s; %s", reason(err), templateAdvice)
	}
	name, err := Canonical(out.String())
	if err != nil {
		return "", fmt.Errorf("makes %q, which %w", clip(out.String()), err)
	}
	return name, nil
}

func clip(text string) string {
	const longest = 80
	if len(text) > longest {
		return text[:longest] + "…"
	}
	return text
}
