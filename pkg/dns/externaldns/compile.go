package externaldns

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Options are a record together with what Signpost sets for one deployment.
type Options struct {
	Record
	// Version is the release that will run; zero means [DefaultVersion].
	Version Version
	// Namespace holds the DNSEndpoints; required.
	Namespace string
	// LabelFilter selects them, as a label selector; required.
	LabelFilter string
	// OwnerID is used unless the record sets txt-owner-id; one of the two is required.
	OwnerID string
	// Adopt is an owner id whose marks external-dns treats as its own, and rewrites at
	// the names that it is asked for. It deletes nothing then. Empty: none. See
	// [Unadoptable].
	Adopt string
}

// Arguments is the command line of one external-dns.
type Arguments struct {
	// Args are the arguments of the program, each as one --key=value or --[no-]flag.
	// Source, provider, namespace and label filter come first, then the rest by name.
	// Items of a list are in the provider's order. None holds a secret. Kubernetes
	// expands $(NAME) in a container's args: write "$$(" for "$(" there.
	Args []string
	// Secrets are the variables that the program needs beside those of the
	// record's environment, from secret parameters; sorted, without values.
	Secrets []SecretVariable
	// MetricsPort is where health (/healthz) and metrics (/metrics) are served.
	MetricsPort int
}

// SecretVariable is an environment variable whose value must come from a Secret.
type SecretVariable struct {
	Parameter   string // rfc2136-tsig-secret
	Environment string // EXTERNAL_DNS_RFC2136_TSIG_SECRET
}

// Compile renders a record for a version. The findings are what cannot work:
// errors of a plan, in stable order; with any of them Arguments is empty. The
// same options give the same arguments.
func Compile(options Options) (Arguments, []Finding) {
	options.Version = cmp.Or(options.Version, DefaultVersion)
	r := understand(options.Record)
	findings := slices.Concat(r.refused, r.stuck, options.missing(r), options.unfit(r))
	if len(findings) > 0 {
		return Arguments{}, inOrder(findings)
	}
	return options.render(r), nil
}

// missing finds what Signpost itself has to set.
func (o Options) missing(r *reading) []Finding {
	var findings []Finding
	if o.Namespace == "" {
		findings = append(findings, beside("namespace", "is missing: external-dns would read every namespace"))
	}
	if o.LabelFilter == "" {
		findings = append(findings, beside("label-filter", "is missing: external-dns would read other records' names"))
	}
	if o.OwnerID == "" && !r.has("txt-owner-id") {
		findings = append(findings, about("txt-owner-id", "is missing, and none was generated"))
	}
	return findings
}

// unfit finds what the version cannot do.
func (o Options) unfit(r *reading) []Finding {
	if o.Version < OldestVersion {
		return []Finding{beside("version", fmt.Sprintf("%s is too old; the oldest is %s", o.Version, OldestVersion))}
	}
	var findings []Finding
	if provider := r.provider; provider.removed != 0 && o.Version >= provider.removed {
		findings = append(findings, beside("provider", fmt.Sprintf("%s was removed in %s", provider.name, provider.removed)))
	}
	if r.one("registry") == "crd" && o.Version < V022 {
		findings = append(findings, about("registry", fmt.Sprintf("crd works from %s on, not in %s", V022, o.Version)))
	}
	if r.has("regex-domain-exclusion") && !r.has("regex-domain-filter") && o.Version < V021 {
		findings = append(findings, about("regex-domain-exclusion", fmt.Sprintf("works without regex-domain-filter from %s on, not in %s", V021, o.Version)))
	}
	for _, name := range r.names() {
		v := r.values[name]
		if v.idle {
			continue
		}
		if _, ok := o.nameOf(r, v.flag); !ok {
			findings = append(findings, about(v.parameter, o.unfitDetail(v.flag)))
		} else if len(v.texts) > 1 && o.Version < v.flag.ListSince {
			findings = append(findings, about(v.parameter, fmt.Sprintf("takes one value before %s, not %d", v.flag.ListSince, len(v.texts))))
		}
	}
	return findings
}

func (o Options) unfitDetail(flag *Flag) string {
	if flag.Removed != 0 && o.Version >= flag.Removed {
		return fmt.Sprintf("was removed from external-dns in %s", flag.Removed)
	}
	return fmt.Sprintf("works from %s on, not in %s", flag.Since, o.Version)
}

// nameOf is the name under which the version knows a flag.
func (o Options) nameOf(r *reading, flag *Flag) (string, bool) {
	if o.has(flag) {
		return flag.Name, true
	}
	former, ok := r.table.predecessor(flag.Name)
	if !ok || !r.provider.takes(former) {
		return "", false
	}
	return former.Name, true
}

// render writes the command line of values that are right.
func (o Options) render(r *reading) Arguments {
	if o.Adopt != "" {
		r.adopt(o.Adopt)
	}
	result := Arguments{
		Args: []string{
			"--source=crd",
			"--provider=" + o.Provider,
			"--namespace=" + o.Namespace,
			"--label-filter=" + o.LabelFilter,
		},
	}
	if !r.has("txt-owner-id") {
		owner, _ := r.table.find("txt-owner-id")
		r.values[owner.Name] = value{flag: owner, parameter: owner.Name, texts: []string{o.OwnerID}}
	}
	for _, name := range r.names() {
		v := r.values[name]
		switch {
		case v.idle:
		case v.flag.Secret:
			result.Secrets = append(result.Secrets, SecretVariable{Parameter: name, Environment: v.flag.Environment()})
		default:
			current, _ := o.nameOf(r, v.flag)
			result.Args = append(result.Args, arguments(current, v)...)
		}
	}
	result.MetricsPort, _ = strconv.Atoi(strings.TrimPrefix(r.one("metrics-address"), ":"))
	return result
}

// arguments writes one flag: each item of a list as an argument of its own.
func arguments(name string, v value) []string {
	if v.flag.Kind == Bool {
		if v.texts[0] == "false" {
			name = "no-" + name
		}
		return []string{"--" + name}
	}
	args := make([]string, len(v.texts))
	for i, text := range v.texts {
		args[i] = "--" + name + "=" + text
	}
	return args
}
