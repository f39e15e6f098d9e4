package admit

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// webhook checks the sidecar of a record and completes its port.
func (a *Admitter) webhook(r *review, in *intent.Record) {
	const at, usualPort = spec + "/webhook", 8888
	if in.Webhook == nil {
		return
	}
	if a.image(r, at.key("image"), in.Webhook.Image, webhookImage).isExternalDNS(in.Image) {
		r.refusef(at.key("image"), "%s is external-dns itself, which would run beside the record's own with arguments that nobody checks; give the image of a webhook provider, such as %s", quote(in.Webhook.Image), webhookImage)
	}
	for i, argument := range in.Webhook.Args {
		if wrong := argumentFault(argument); wrong != "" {
			r.refusef(at.key("args").index(i), "%s", wrong)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Webhook.Environment)) {
		here := at.key("environment").key(name)
		isCredential := func(c intent.Credential) bool { return c.Environment == name }
		switch {
		case !variablePattern.MatchString(name):
			r.refusef(here, "%s is no name of a variable; use letters, digits and '_', not beginning with a digit", quote(name))
		case slices.ContainsFunc(in.Credentials, isCredential):
			r.refusef(here, "%s is set by a credential, too; leave one out", quote(name))
		case passwordInURL.MatchString(in.Webhook.Environment[name]):
			r.refusef(here, "has a URL with a password, which is shown as it is here; %s", elsewhere(name))
		case strings.ContainsRune(in.Webhook.Environment[name], 0):
			r.refusef(here, "holds a NUL character, which no variable can; leave it out")
		}
	}
	in.Webhook.Port = cmp.Or(in.Webhook.Port, usualPort)
}

// webhookImage shows what the image of a webhook provider is called.
const webhookImage = "registry.example/webhook:v1"

// isExternalDNS tells the images of external-dns, their copies in other
// registries, and what the record runs as external-dns.
func (i image) isExternalDNS(own string) bool {
	return strings.HasSuffix(i.name, "/external-dns/external-dns") || strings.HasSuffix(i.name, "/bitnami/external-dns") ||
		i.name != "" && i.name == parseImage(own).name
}

// argumentFault says why an argument would not arrive as it is, empty when it
// would.
func argumentFault(argument string) string {
	switch {
	case strings.ContainsFunc(argument, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return "holds a control character; leave it out"
	case strings.Contains(argument, "$("):
		return "holds \"$(\", which Kubernetes would replace by a variable's value; leave it out"
	}
	return ""
}
