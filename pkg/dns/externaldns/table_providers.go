package externaldns

import "fmt"

// providerRows lists every provider of the supported releases, by name. The flags of a
// provider are below, each followed by the rule for what the provider needs.
func providerRows() []providerRow {
	mail := map[string]Version{"MX": V020}
	cloud := map[string]Version{"MX": V020, "NS": V020, "TXT": V020}
	byID, byIDAndName := []string{"zone-id-filter"}, []string{"zone-id-filter", "zone-name-filter"}
	tls := []string{"tls-ca", "tls-client-cert", "tls-client-cert-key"}
	return []providerRow{
		{name: "akamai", removed: V022},
		{name: "alibabacloud", general: byID},
		{name: "aws", flags: awsFlags, general: []string{"prefer-alias", "zone-id-filter"}, words: []string{"route53", "route-53"},
			speed: speed{perMinute: 300, perPage: 300}, sets: true, srv: V020, keeps: keeping{types: cloud, quoted: true}, remarks: true,
			account: Account{Visibility: "aws-zone-type", ZoneIDs: true}, answers: answers{aliases: "aws-prefer-cname"}},
		{name: "aws-sd", family: "aws", registry: "aws-sd", account: Account{Visibility: "aws-zone-type"}, words: []string{"cloudmap", "cloud-map"}}, // Cloud Map has no place for TXT records
		{name: "azure", flags: azureFlags, general: byIDAndName, speed: speed{perMinute: 100, perPage: 100}, keeps: keeping{types: mail}, remarks: true},
		{name: "azure-dns", family: "azure", general: byIDAndName, speed: speed{perMinute: 100, perPage: 100}, keeps: keeping{types: mail}, remarks: true}, // another word for azure
		{name: "azure-private-dns", family: "azure", general: byIDAndName, speed: speed{perMinute: 100, perPage: 100}, remarks: true,
			account: Account{Private: true, Place: []string{"azure-subscription-id", "azure-resource-group"}}},
		{name: "civo"},
		{name: "cloudflare", flags: cloudflareFlags, general: []string{"batch-change-size", "batch-change-interval", "zone-id-filter"}, rule: ruleCloudflare,
			speed: speed{perMinute: 240, perPage: 100}, srv: V022, keeps: keeping{types: map[string]Version{"MX": V020, "NS": V020}},
			answers: answers{hidden: "Cloudflare answers its own addresses for names that it proxies (cloudflare-proxied)", hiddenBy: "cloudflare-proxied"}},
		{name: "coredns", flags: corednsFlags, rule: ruleCoreDNS, words: []string{"etcd"},
			speed: speed{cheap: true, slow: true}, writer: "coredns", keys: true, noWildcard: true},
		{name: "digitalocean", removed: V021},
		{name: "dnsimple", general: byID},
		{name: "exoscale"},
		{name: "gandi"},
		{name: "godaddy"},
		{name: "google", flags: googleFlags, general: byID, words: []string{"clouddns", "gcp"},
			speed: speed{perMinute: 600, perPage: 100}, srv: V020, keeps: keeping{types: cloud, quoted: true}, account: Account{Visibility: "google-zone-visibility"}},
		{name: "inmemory", sets: true, srv: V020, keeps: keeping{types: map[string]Version{"MX": V020, "NS": V020, "PTR": V020, "TXT": V020}},
			answers: answers{hidden: "provider inmemory keeps names in its own memory"}},
		{name: "linode"},
		{name: "ns1", general: byID},
		{name: "oci", general: byID},
		{name: "ovh"},
		{name: "pdns", flags: pdnsFlags, general: append(tls, "prefer-alias"), rule: rulePDNS, words: []string{"powerdns"}, speed: speed{cheap: true},
			srv: V020, keeps: keeping{types: map[string]Version{"MX": V020, "NS": V021, "PTR": V021, "TXT": V020}, quoted: true}, remarks: true},
		{name: "pihole", noWildcard: true},
		{name: "plural", removed: V022},
		{name: "rfc2136", flags: rfc2136Flags, general: tls, rule: ruleRFC2136, words: []string{"bind", "bind9", "named", "nsupdate", "knot"},
			speed: speed{cheap: true}, writer: "rfc2136", zones: "rfc2136-zone",
			keeps: keeping{types: map[string]Version{"NS": V020, "PTR": V020, "TXT": V020}, writes: []string{"CAA", "MX", "PTR", "SRV", "TXT"}}}, // a server refers questions for NS below its zone
		{name: "scaleway"},
		{name: "skydns", family: "coredns", rule: ruleCoreDNS, speed: speed{cheap: true, slow: true}, writer: "coredns", keys: true, noWildcard: true}, // another word for coredns
		{name: "transip", removed: V022},
		{name: "webhook", flags: webhookFlags, rule: ruleWebhook, speed: speed{cheap: true}, writer: "webhook", sidecar: true},
	}
}

// awsFlags belong to aws (Route 53) and aws-sd (Cloud Map).
func awsFlags() []Flag {
	route53, cloudMap := []string{"aws"}, []string{"aws-sd"}
	return []Flag{
		{Name: "aws-zone-type", Kind: Enum, Values: []string{"public", "private"}, Sample: "public"},
		{Name: "aws-zone-tags", Providers: route53, Kind: Text, List: true, Sample: "team=dns"},
		{Name: "aws-profile", Providers: route53, Kind: Text, List: true, Sample: "production"},
		{Name: "aws-assume-role", Kind: Text, Sample: "arn:aws:iam::123455567:role/external-dns"},
		{Name: "aws-assume-role-external-id", Kind: Text, Secret: true, Sample: "external-id"},
		{Name: "aws-batch-change-size", Providers: route53, Kind: Integer, Min: 1, Sample: "1000"},
		{Name: "aws-batch-change-size-bytes", Providers: route53, Kind: Integer, Min: 1, Sample: "32000"},
		{Name: "aws-batch-change-size-values", Providers: route53, Kind: Integer, Min: 1, Sample: "1000"},
		{Name: "aws-batch-change-interval", Providers: route53, Kind: Duration, Sample: "1s"},
		{Name: "aws-evaluate-target-health", Providers: route53, Kind: Bool, Sample: "false"},
		{Name: "aws-api-retries", Kind: Integer, Sample: "3"},
		{Name: "aws-prefer-cname", Providers: route53, Kind: Bool, Sample: "true"},
		{Name: "aws-zones-cache-duration", Providers: route53, Kind: Duration, Sample: "1h"},
		{Name: "aws-zone-match-parent", Providers: route53, Kind: Bool, Sample: "true"},
		{Name: "aws-sd-service-cleanup", Providers: cloudMap, Kind: Bool, Sample: "true"},
		{Name: "aws-sd-create-tag", Providers: cloudMap, Kind: Pair, List: true, Sample: "team=dns"},
	}
}

// azureFlags belong to azure, azure-dns and azure-private-dns.
func azureFlags() []Flag {
	return []Flag{
		{Name: "azure-config-file", Kind: File, Default: "/etc/kubernetes/azure.json", Sample: "/etc/dns/azure.json"},
		{Name: "azure-resource-group", Kind: Text, Sample: "dns"},
		{Name: "azure-subscription-id", Kind: Text, Sample: "00000000-0000-0000-0000-000000000001"},
		{Name: "azure-user-assigned-identity-client-id", Kind: Text, Sample: "00000000-0000-0000-0000-000000000002"},
		{Name: "azure-zones-cache-duration", Kind: Duration, Sample: "1h"},
		{Name: "azure-maxretries-count", Kind: Integer, Min: -1, Sample: "3"},
	}
}

// cloudflareFlags belong to cloudflare, whose account is named by the
// environment (CF_API_TOKEN, or CF_API_KEY with CF_API_EMAIL).
func cloudflareFlags() []Flag {
	return []Flag{
		{Name: "cloudflare-proxied", Kind: Bool, Sample: "true"},
		{Name: "cloudflare-custom-hostnames", Kind: Bool, Sample: "true"},
		{Name: "cloudflare-custom-hostnames-min-tls-version", Kind: Enum, Sample: "1.2",
			Values: []string{"1.0", "1.1", "1.2", "1.3"}},
		{Name: "cloudflare-custom-hostnames-certificate-authority", Kind: Enum, Sample: "lets_encrypt",
			Values: []string{"google", "ssl_com", "lets_encrypt", "none"}},
		{Name: "cloudflare-dns-records-per-page", Kind: Integer, Min: 1, Max: 5000, Sample: "1000"},
		{Name: "cloudflare-regional-services", Kind: Bool, Sample: "true"},
		{Name: "cloudflare-region-key", Kind: Text, Sample: "eu"},
		{Name: "cloudflare-record-comment", Kind: Text, Sample: "made by signpost"},
	}
}

// ruleCloudflare: the account is named by the environment alone.
func ruleCloudflare(r *reading) {
	if !r.inEnvironment("CF_API_TOKEN") && !r.inEnvironment("CF_API_KEY", "CF_API_EMAIL") {
		r.cannot(beside("CF_API_TOKEN", "is not in the environment; give it as a credential, or CF_API_KEY with CF_API_EMAIL"))
	}
}

// corednsFlags belong to coredns, whose etcd is named by the environment
// (ETCD_URLS, ETCD_USERNAME, ETCD_PASSWORD, ETCD_CA_FILE, ETCD_CERT_FILE, ETCD_KEY_FILE).
func corednsFlags() []Flag {
	return []Flag{
		{Name: "coredns-prefix", Kind: KeyPrefix, Sample: "/skydns/"},
		{Name: "coredns-strictly-owned", Kind: Bool, Since: V021, Sample: "true"},
	}
}

// ruleCoreDNS: the etcd of CoreDNS is named by the environment alone.
func ruleCoreDNS(r *reading) {
	if !r.inEnvironment("ETCD_URLS") {
		r.warn(beside("ETCD_URLS", "is not in the environment: external-dns would look for etcd at http://localhost:2379"))
	}
}

// googleFlags belong to google, whose account is the pod's own (workload
// identity) or a key file that GOOGLE_APPLICATION_CREDENTIALS names.
func googleFlags() []Flag {
	return []Flag{
		{Name: "google-project", Kind: Text, Sample: "dns-project"},
		{Name: "google-batch-change-size", Kind: Integer, Min: 1, Sample: "500"},
		{Name: "google-batch-change-interval", Kind: Duration, Sample: "2s"},
		{Name: "google-zone-visibility", Kind: Enum, Values: []string{"public", "private"}, Sample: "public"},
	}
}

// pdnsFlags belong to pdns (the HTTP API of PowerDNS' authoritative server).
func pdnsFlags() []Flag {
	return []Flag{
		{Name: "pdns-server", Kind: URL, Sample: "https://pdns.corp.example:8081"},
		{Name: "pdns-server-id", Kind: Text, Sample: "localhost"},
		{Name: "pdns-api-key", Kind: Text, Secret: true, Sample: "changeme"},
		{Name: "pdns-skip-tls-verify", Kind: Bool, Sample: "true"},
	}
}

// rulePDNS: external-dns refuses to start without a key, or to pretend.
func rulePDNS(r *reading) {
	r.need([]string{"pdns-api-key"}, "provider pdns needs it")
	if !r.given("pdns-server") {
		r.warn(about("pdns-server", "is missing: external-dns would look for PowerDNS at http://localhost:8081"))
	}
	if r.on("dry-run") {
		r.cannot(about(r.written("dry-run"), "provider pdns cannot: external-dns would not start"))
	}
}

// rfc2136Flags belong to rfc2136 (dynamic updates; BIND and others).
func rfc2136Flags() []Flag {
	return []Flag{
		{Name: "rfc2136-host", Kind: Host, List: true, Sample: "192.0.2.53"},
		{Name: "rfc2136-port", Kind: Integer, Min: 1, Max: 65535, Default: "53", Sample: "5353"},
		{Name: "rfc2136-zone", Kind: Zone, List: true, Sample: "corp.example"},
		{Name: "rfc2136-insecure", Kind: Bool, Sample: "true"},
		{Name: "rfc2136-tsig-keyname", Kind: Text, Sample: "key1"},
		{Name: "rfc2136-tsig-secret", Kind: Text, Secret: true, Sample: "c2VjcmV0LXNlY3JldC1zZWNyZXQ="},
		{Name: "rfc2136-tsig-secret-alg", Kind: Algorithm, Default: "hmac-sha256", Sample: "hmac-sha512"},
		{Name: "rfc2136-axfr", Kind: Bool, Since: V022, Sample: "true"},
		{Name: "rfc2136-tsig-axfr", Kind: Bool, Renamed: V022, Successor: "rfc2136-axfr", Sample: "true"},
		{Name: "rfc2136-create-ptr", Kind: Bool, Renamed: V021, Removed: V021, Successor: "create-ptr", Sample: "true"},
		{Name: "rfc2136-min-ttl", Kind: Duration, Sample: "1m"},
		{Name: "rfc2136-gss-tsig", Kind: Bool, Sample: "true"},
		{Name: "rfc2136-kerberos-realm", Kind: Text, Sample: "CORP.EXAMPLE"},
		{Name: "rfc2136-kerberos-username", Kind: Text, Sample: "dns-updater"},
		{Name: "rfc2136-kerberos-password", Kind: Text, Secret: true, Sample: "password"},
		{Name: "rfc2136-batch-change-size", Kind: Integer, Min: 1, Sample: "50"},
		{Name: "rfc2136-use-tls", Kind: Bool, Sample: "true"},
		{Name: "rfc2136-skip-tls-verify", Kind: Bool, Sample: "true"},
		{Name: "rfc2136-load-balancing-strategy", Kind: Enum, Sample: "round-robin",
			Values: []string{"disabled", "random", "round-robin"}},
	}
}

// webhookFlags belong to webhook: a program of its own, as a rule a sidecar,
// that speaks to the DNS provider in external-dns' stead.
func webhookFlags() []Flag {
	return []Flag{
		{Name: "webhook-provider-url", Kind: URL, Default: "http://localhost:8888", Sample: "http://webhook.dns:8888"},
		{Name: "webhook-provider-read-timeout", Kind: Duration, Sample: "10s"},
		{Name: "webhook-provider-write-timeout", Kind: Duration, Sample: "20s"},
	}
}

// ruleWebhook: the webhook is a sidecar, or somewhere else.
func ruleWebhook(r *reading) {
	const url = "webhook-provider-url"
	switch sidecar := r.record.WebhookPort != 0; {
	case sidecar && r.given(url):
		r.refuse(about(r.written(url), "excludes the sidecar; give one of them"))
	case !sidecar && !r.given(url):
		r.cannot(beside("webhook", "is missing: provider webhook needs the image of a sidecar, or "+url))
	}
	if port := fmt.Sprintf(":%d", r.record.WebhookPort); r.one("metrics-address") == port {
		r.cannot(about(r.written("metrics-address"), "is the sidecar's port, too; both are in one pod"))
	}
}
