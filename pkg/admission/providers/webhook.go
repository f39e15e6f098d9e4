package providers

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// checkWebhook checks the sidecar of a record and completes its port.
func checkWebhook(a *review.Checker, r *review.Review, in *intent.Record) {
	const at, usualPort = review.Spec + "/webhook", 8888
	if in.Webhook == nil {
		return
	}
	if review.ReadImage(a, r, at.Key("image"), in.Webhook.Image, webhookImage).IsExternalDNS(in.Image) {
		r.Refusef(at.Key("image"), "%s is external-dns itself, which would run beside the provider's own without checks of its arguments; give the image of a webhook provider, such as %s", review.Quote(in.Webhook.Image), webhookImage)
	}
	for i, argument := range in.Webhook.Args {
		if wrong := argumentFault(argument); wrong != "" {
			r.Refusef(at.Key("args").Index(i), "%s", wrong)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Webhook.Environment)) {
		here := at.Key("environment").Key(name)
		isCredential := func(c intent.Credential) bool { return c.Environment == name }
		switch {
		case !review.VariablePattern.MatchString(name):
			r.Refusef(here, "%s is not a name of a variable; use letters, digits and '_', not beginning with a digit", review.Quote(name))
		case slices.ContainsFunc(in.Credentials, isCredential):
			r.Refusef(here, "%s is also set by a credential; remove one of them", review.Quote(name))
		case passwordInURL.MatchString(in.Webhook.Environment[name]):
			r.Refusef(here, "has a URL with a password, which everybody can read here; %s", properPlace(name))
		case strings.ContainsRune(in.Webhook.Environment[name], 0):
			r.Refusef(here, "holds a NUL character, which a variable cannot hold; remove it")
		}
	}
	in.Webhook.Port = cmp.Or(in.Webhook.Port, usualPort)
}

// webhookImage shows what the image of a webhook provider is called.
const webhookImage = "registry.example/webhook:v1"

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
