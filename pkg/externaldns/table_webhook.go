package externaldns

// webhookFlags belong to webhook: a program of its own, as a rule a sidecar,
// that speaks to the DNS provider in external-dns' stead.
func webhookFlags() []Flag {
	return []Flag{
		{Name: "webhook-provider-url", Family: familyWebhook, Kind: URL, Default: "http://localhost:8888", Sample: "http://webhook.dns:8888",
			Doc: "Where the webhook is; in the sidecar where it is not given."},
		{Name: "webhook-provider-read-timeout", Family: familyWebhook, Kind: Duration, Sample: "10s",
			Doc: "Longest wait for an answer of the webhook."},
		{Name: "webhook-provider-write-timeout", Family: familyWebhook, Kind: Duration, Sample: "20s",
			Doc: "Longest time to send a request to the webhook."},
	}
}
