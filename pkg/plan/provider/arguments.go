package provider

import (
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// The places of a provider's fields in its document.
const (
	atParameters  = "/spec/external-dns-parameters"
	atExtraArgs   = "/spec/extraArgs"
	atEnvironment = "/spec/environment"
	atCredentials = "/spec/credentials"
)

// arguments is a command line.
type arguments struct {
	args        []string // as external-dns is to receive them
	metricsPort int32
}

// compile makes the command line, the record's extra arguments last.
func compile(p plan.Provider) (arguments, []intent.Field) {
	version, err := externaldns.ParseVersion(p.Record.Version)
	if err != nil {
		return arguments{}, []intent.Field{{Pointer: "/spec/version", Detail: err.Error()}}
	}
	spec := p.Record.Spec
	options := externaldns.Options{
		Record: externaldns.Record{
			Provider: spec.Provider, Parameters: spec.Parameters,
			Environment: spec.Variables(), Files: spec.Files(), AllowUnownedDeletion: spec.AllowUnownedDeletion,
			Pace: externaldns.Pace{Events: p.Record.Events, Interval: p.Record.Interval},
		},
		Version:     version,
		Namespace:   p.Record.Project.Namespace,
		LabelFilter: p.Record.LabelFilter(p.Scope),
		OwnerID:     OwnerID(p),
		Adopt:       p.Adopts,
	}
	if spec.Webhook != nil {
		options.WebhookPort = spec.Webhook.Port
	}
	compiled, findings := externaldns.Compile(options)
	var fields []intent.Field
	for _, f := range findings {
		fields = append(fields, intent.Field{Pointer: parameterPointer(f), Detail: detail(f)})
	}
	if len(fields) > 0 {
		return arguments{}, fields
	}
	for _, f := range options.CheckExtraArgs(spec.ExtraArgs, compiled.Args) {
		fields = append(fields, intent.Field{Pointer: atExtraArgs + f.Pointer, Detail: f.Detail})
	}
	for _, secret := range compiled.Secrets {
		if !slices.Contains(spec.Variables(), secret.Environment) {
			fields = append(fields, intent.Field{
				Pointer: atParameters + "/" + secret.Parameter,
				Detail:  "is a secret; give it as a credential for the variable " + secret.Environment,
			})
		}
	}
	return arguments{
		args:        slices.Concat(compiled.Args, spec.ExtraArgs),
		metricsPort: int32(compiled.MetricsPort),
	}, fields
}

// AnswerWithin is about how long after a DNSEndpoint has changed its external-dns
// tells the DNS provider, at most; zero where it tells nobody.
func AnswerWithin(p plan.Provider) time.Duration {
	spec := p.Record.Spec
	arguments, fields := compile(p)
	if len(fields) > 0 || spec.Suspend || externaldns.DryRun(spec.Parameters, spec.Environment, spec.ExtraArgs) {
		return 0
	}
	if intent.IsPublisher(p.Cluster) {
		return externaldns.BuiltInWait
	}
	return externaldns.AnswerWithin(arguments.args)
}

// parameterPointer is where in the record a finding is.
func parameterPointer(f externaldns.Finding) string {
	switch {
	case f.Pointer != "":
		return atParameters + f.Pointer
	case isField(f.Parameter):
		return "/spec/" + f.Parameter
	default:
		return atEnvironment
	}
}

// detail names what a finding without a pointer of its own is about.
func detail(f externaldns.Finding) string {
	if f.Pointer != "" || isField(f.Parameter) {
		return f.Detail
	}
	return f.Parameter + " " + f.Detail
}

// isField tells what a record says in a field of its own from variables.
func isField(subject string) bool {
	return subject == "provider" || subject == "version" || subject == "webhook"
}

// literal escapes text so that Kubernetes leaves it as it is. Kubernetes replaces
// "$(NAME)" in arguments and in the environment by the values of variables, and "$$" by
// "$".
func literal(text string) string {
	var b strings.Builder
	for n := range len(text) {
		b.WriteByte(text[n])
		if text[n] == '$' && n+1 < len(text) && (text[n+1] == '$' || text[n+1] == '(') {
			b.WriteByte('$')
		}
	}
	return b.String()
}

func literals(texts []string) []string {
	out := make([]string, len(texts))
	for n, text := range texts {
		out[n] = literal(text)
	}
	return out
}

// keepsDNSRecords tells whether ownership is kept in DNSRecords of the cluster.
func (a arguments) keepsDNSRecords() bool { return slices.Contains(a.args, "--registry=crd") }

// emitsEvents tells whether external-dns writes Kubernetes events.
func (a arguments) emitsEvents() bool {
	return slices.ContainsFunc(a.args, func(arg string) bool { return strings.HasPrefix(arg, "--events-emit=") })
}
