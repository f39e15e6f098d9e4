package externaldns

import (
	"fmt"
	"slices"
)

// The rules about what a provider needs to reach its account, beside parameters.

// ruleFiles looks for the files that parameters name among the credentials:
// nothing else puts a file into the pod.
func ruleFiles(r *reading) {
	for _, name := range r.names() {
		if v := r.values[name]; v.flag.Kind == File && !v.idle && !slices.Contains(r.record.Files, v.texts[0]) {
			r.warn(about(v.parameter, fmt.Sprintf("no credential gives the file %s, and external-dns does not start without it", clip(v.texts[0]))))
		}
	}
}

// ruleCoreDNS: the etcd of CoreDNS is named by the environment alone.
func ruleCoreDNS(r *reading) {
	if r.family == familyCoreDNS && !r.inEnvironment("ETCD_URLS") {
		r.warn(beside("ETCD_URLS", "is not in the environment: external-dns would look for etcd at http://localhost:2379"))
	}
}

// ruleCloudflare: the account is named by the environment alone.
func ruleCloudflare(r *reading) {
	if r.family == familyCloudflare && !r.inEnvironment("CF_API_TOKEN") && !r.inEnvironment("CF_API_KEY", "CF_API_EMAIL") {
		r.cannot(beside("CF_API_TOKEN", "is not in the environment; give it as a credential, or CF_API_KEY with CF_API_EMAIL"))
	}
}

// rulePDNS: external-dns refuses to start without a key, or to pretend.
func rulePDNS(r *reading) {
	if r.family != familyPDNS {
		return
	}
	r.need([]string{"pdns-api-key"}, "provider pdns needs it")
	if !r.given("pdns-server") {
		r.warn(about("pdns-server", "is missing: external-dns would look for PowerDNS at http://localhost:8081"))
	}
	if r.on("dry-run") {
		r.cannot(about(r.written("dry-run"), "provider pdns cannot: external-dns would not start"))
	}
}

// ruleWebhook: the webhook is a sidecar, or somewhere else.
func ruleWebhook(r *reading) {
	const url = "webhook-provider-url"
	switch sidecar := r.record.WebhookPort != 0; {
	case r.family != familyWebhook && sidecar:
		r.refuse(beside("webhook", "belongs to provider webhook, not "+r.record.Provider))
	case r.family != familyWebhook:
	case sidecar && r.given(url):
		r.refuse(about(r.written(url), "excludes the sidecar; give one of them"))
	case !sidecar && !r.given(url):
		r.cannot(beside("webhook", "is missing: provider webhook needs the image of a sidecar, or "+url))
	}
	if port := fmt.Sprintf(":%d", r.record.WebhookPort); r.family == familyWebhook && r.one("metrics-address") == port {
		r.cannot(about(r.written("metrics-address"), "is the sidecar's port, too; both are in one pod"))
	}
}

// inEnvironment tells whether the record sets all of some variables.
func (r *reading) inEnvironment(variables ...string) bool {
	for _, variable := range variables {
		if !slices.Contains(r.record.Environment, variable) {
			return false
		}
	}
	return true
}
