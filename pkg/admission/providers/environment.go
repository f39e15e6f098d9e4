package providers

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// checkEnvironment checks the literal variables of a record.
func checkEnvironment(r *review.Review, in *intent.Record) {
	at := review.Spec + "/environment"
	credentials := map[string]bool{}
	for _, c := range in.Credentials {
		if c.Environment != "" {
			credentials[c.Environment] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Environment)) {
		here := at.Key(name)
		if wrong := variableFault(name); wrong != "" {
			r.Refusef(here, "%s %s", review.Quote(name), wrong)
		} else if wrong := literalFault(name); wrong != "" {
			r.Refusef(here, "%s %s", review.Quote(name), wrong)
		}
		if credentials[name] {
			r.Refusef(here, "%s is also set by a credential; remove one of them", review.Quote(name))
		}
		if passwordInURL.MatchString(in.Environment[name]) {
			r.Refusef(here, "has a URL with a password, which everybody can read here; %s", properPlace(name))
		}
		if strings.ContainsRune(in.Environment[name], 0) {
			r.Refusef(here, "holds a NUL character, which a variable cannot hold; remove it")
		}
	}
}

// passwordInURL finds a password in a URL, or in a list of them.
var passwordInURL = regexp.MustCompile(`://[^/?#@,\s]*:[^/?#@,\s]+@`)

// properPlace says where the password of a variable's URL belongs.
func properPlace(name string) string {
	if name == "ETCD_URLS" {
		return "give ETCD_USERNAME and ETCD_PASSWORD as credentials"
	}
	return "give the variable as a credential"
}

// variableFault says why a record may not set a variable at all, empty when it
// may.
func variableFault(name string) string {
	const longest = 256
	switch {
	case len(name) > longest || !review.VariablePattern.MatchString(name):
		return "is not a name of a variable; use letters, digits and '_', not beginning with a digit"
	case name == "KUBECONFIG" || strings.HasPrefix(name, "KUBERNETES_"):
		return "would point external-dns at another cluster; leave it out"
	}
	if flag := flagNamed(flagOf(name)); flag.Kind == externaldns.Reserved || isForeign(flagOf(name)) {
		return "is set by Signpost itself; leave it out"
	}
	return ""
}

// literalFault says why a variable may not be given as it is.
func literalFault(name string) string {
	flag := flagNamed(flagOf(name))
	switch {
	case flag.Name == "":
		return ""
	case flag.Secret:
		return "is a secret; give it as a credential"
	}
	return "is a flag of external-dns; give the parameter " + flag.Name + " instead"
}

// credentialVariableFault says why a credential may not set a variable. Of the
// flags it may set secrets and plain texts: what decides which names are
// managed, and how, must be visible in the record.
func credentialVariableFault(name string) string {
	if wrong := variableFault(name); wrong != "" {
		return wrong
	}
	if flag := flagNamed(flagOf(name)); flag.Name != "" && !flag.Secret && (flag.Kind != externaldns.Text || externaldns.Judged(flag.Name)) {
		return "is not a secret; give the parameter " + flag.Name + " instead"
	}
	return ""
}

// variable is how a flag is spelled in the environment.
func variable(flag string) string {
	return strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// flagOf is the flag that a variable sets, empty when it sets none.
func flagOf(variable string) string {
	name, ok := strings.CutPrefix(variable, externaldns.EnvironmentPrefix)
	if !ok {
		return ""
	}
	return strings.ToLower(strings.ReplaceAll(name, "_", "-"))
}

// flagNamed is a row of the flag table, zero when there is none.
func flagNamed(name string) externaldns.Flag {
	if name == "" {
		return externaldns.Flag{}
	}
	for _, flag := range externaldns.Flags() {
		if flag.Name == name {
			return flag
		}
	}
	return externaldns.Flag{}
}

// isForeign tells flags that the table does not hold and that would make
// external-dns something else than the publisher of one record.
func isForeign(flag string) bool {
	switch strings.TrimPrefix(flag, "no-") {
	case "webhook-server", "help", "help-long", "help-man", "version", "completion-bash",
		"completion-script-bash", "completion-script-zsh":
		return true
	}
	return false
}

// checkExtraArgs checks the arguments that are added to those of the parameters.
func checkExtraArgs(r *review.Review, in *intent.Record) {
	if len(in.ExtraArgs) == 0 {
		return
	}
	at := review.Spec + "/extraArgs"
	options := options(*in)
	rendered, _ := externaldns.Compile(options)
	for _, f := range options.CheckExtraArgs(in.ExtraArgs, rendered.Args) {
		r.Refusef(at+review.Pointer(f.Pointer), "%s", f.Detail)
	}
	for i, argument := range in.ExtraArgs {
		name, _, _ := strings.Cut(strings.TrimPrefix(argument, "--"), "=")
		switch {
		case isForeign(name):
			r.Refusef(at.Index(i), "--%s is not allowed for the external-dns of a provider; remove it", name)
		case flagNamed(name).Name == "" && intent.NamesSecret(name):
			r.Refusef(at.Index(i), "would expose the secret; give it as a credential for %s", externaldns.EnvironmentPrefix+variable(name))
		case argumentFault(argument) != "":
			r.Refusef(at.Index(i), "%s", argumentFault(argument))
		}
	}
}
