package externaldns

// awsFlags belong to aws (Route 53) and aws-sd (Cloud Map).
func awsFlags() []Flag {
	route53, cloudMap := []string{"aws"}, []string{"aws-sd"}
	return []Flag{
		{Name: "aws-zone-type", Family: familyAWS, Kind: Enum, Values: []string{"public", "private"}, Sample: "public",
			Doc: "Type of the zones that are managed."},
		{Name: "aws-zone-tags", Family: familyAWS, Providers: route53, Kind: Text, List: true, Sample: "team=dns",
			Doc: "Tags of the zones that are managed."},
		{Name: "aws-profile", Family: familyAWS, Providers: route53, Kind: Text, List: true, Sample: "production",
			Doc: "Profiles of the credentials file."},
		{Name: "aws-assume-role", Family: familyAWS, Kind: Text, Sample: "arn:aws:iam::123455567:role/external-dns",
			Doc: "Role to assume, as ARN."},
		{Name: "aws-assume-role-external-id", Family: familyAWS, Kind: Text, Secret: true, Sample: "external-id",
			Doc: "External id that the role asks for."},
		{Name: "aws-batch-change-size", Family: familyAWS, Providers: route53, Kind: Integer, Min: 1, Sample: "1000",
			Doc: "Most changes in one batch."},
		{Name: "aws-batch-change-size-bytes", Family: familyAWS, Providers: route53, Kind: Integer, Min: 1, Sample: "32000",
			Doc: "Most bytes in one batch."},
		{Name: "aws-batch-change-size-values", Family: familyAWS, Providers: route53, Kind: Integer, Min: 1, Sample: "1000",
			Doc: "Most values in one batch."},
		{Name: "aws-batch-change-interval", Family: familyAWS, Providers: route53, Kind: Duration, Sample: "1s",
			Doc: "Time between two batches."},
		{Name: "aws-evaluate-target-health", Family: familyAWS, Providers: route53, Kind: Bool, Sample: "false",
			Doc: "Let aliases follow the health of their target; on where it is not given."},
		{Name: "aws-api-retries", Family: familyAWS, Kind: Integer, Sample: "3",
			Doc: "Tries of a request before it is given up."},
		{Name: "aws-prefer-cname", Family: familyAWS, Providers: route53, Kind: Bool, Sample: "true",
			Doc: "Make CNAMEs instead of aliases."},
		{Name: "aws-zones-cache-duration", Family: familyAWS, Providers: route53, Kind: Duration, Sample: "1h",
			Doc: "How long the list of zones is remembered."},
		{Name: "aws-zone-match-parent", Family: familyAWS, Providers: route53, Kind: Bool, Sample: "true",
			Doc: "Accept zones above the domain filter, too."},
		{Name: "aws-sd-service-cleanup", Family: familyAWS, Providers: cloudMap, Kind: Bool, Sample: "true",
			Doc: "Delete Cloud Map services that became empty."},
		{Name: "aws-sd-create-tag", Family: familyAWS, Providers: cloudMap, Kind: Pair, List: true, Sample: "team=dns",
			Doc: "Tags of Cloud Map services that are made."},
	}
}

// azureFlags belong to azure, azure-dns and azure-private-dns.
func azureFlags() []Flag {
	return []Flag{
		{Name: "azure-config-file", Family: familyAzure, Kind: File, Default: "/etc/kubernetes/azure.json", Sample: "/etc/dns/azure.json",
			Doc: "File with tenant, subscription and credentials."},
		{Name: "azure-resource-group", Family: familyAzure, Kind: Text, Sample: "dns",
			Doc: "Resource group; replaces the file's."},
		{Name: "azure-subscription-id", Family: familyAzure, Kind: Text, Sample: "00000000-0000-0000-0000-000000000001",
			Doc: "Subscription; replaces the file's."},
		{Name: "azure-user-assigned-identity-client-id", Family: familyAzure, Kind: Text, Sample: "00000000-0000-0000-0000-000000000002",
			Doc: "Client id of the user-assigned identity; replaces the file's."},
		{Name: "azure-zones-cache-duration", Family: familyAzure, Kind: Duration, Sample: "1h",
			Doc: "How long the list of zones is remembered."},
		{Name: "azure-maxretries-count", Family: familyAzure, Kind: Integer, Min: -1, Sample: "3",
			Doc: "Tries of a request before it is given up."},
	}
}

// cloudflareFlags belong to cloudflare, whose account is named by the
// environment (CF_API_TOKEN, or CF_API_KEY with CF_API_EMAIL).
func cloudflareFlags() []Flag {
	return []Flag{
		{Name: "cloudflare-proxied", Family: familyCloudflare, Kind: Bool, Sample: "true",
			Doc: "Let traffic to the names go through Cloudflare's proxies."},
		{Name: "cloudflare-custom-hostnames", Family: familyCloudflare, Kind: Bool, Sample: "true",
			Doc: "Make custom host names; needs Cloudflare for SaaS."},
		{Name: "cloudflare-custom-hostnames-min-tls-version", Family: familyCloudflare, Kind: Enum, Sample: "1.2",
			Values: []string{"1.0", "1.1", "1.2", "1.3"},
			Doc:    "Oldest TLS version of custom host names."},
		{Name: "cloudflare-custom-hostnames-certificate-authority", Family: familyCloudflare, Kind: Enum, Sample: "lets_encrypt",
			Values: []string{"google", "ssl_com", "lets_encrypt", "none"},
			Doc:    "Who signs the certificates of custom host names."},
		{Name: "cloudflare-dns-records-per-page", Family: familyCloudflare, Kind: Integer, Min: 1, Max: 5000, Sample: "1000",
			Doc: "Records in one answer of the API."},
		{Name: "cloudflare-regional-services", Family: familyCloudflare, Kind: Bool, Sample: "true",
			Doc: "Use regional services."},
		{Name: "cloudflare-region-key", Family: familyCloudflare, Kind: Text, Sample: "eu",
			Doc: "Region of the names that name none; turns regional services on."},
		{Name: "cloudflare-record-comment", Family: familyCloudflare, Kind: Text, Sample: "made by signpost",
			Doc: "Comment of each record."},
	}
}

// corednsFlags belong to coredns, whose etcd is named by the environment
// (ETCD_URLS, ETCD_USERNAME, ETCD_PASSWORD, ETCD_CA_FILE, ETCD_CERT_FILE, ETCD_KEY_FILE).
func corednsFlags() []Flag {
	return []Flag{
		{Name: "coredns-prefix", Family: familyCoreDNS, Kind: KeyPrefix, Sample: "/skydns/",
			Doc: "Prefix of the keys in etcd; /skydns/ where it is not given."},
		{Name: "coredns-strictly-owned", Family: familyCoreDNS, Kind: Bool, Since: V021, Sample: "true",
			Doc: "Keep the owner in each key, and touch no other owner's."},
	}
}

// googleFlags belong to google, whose account is the pod's own (workload
// identity) or a key file that GOOGLE_APPLICATION_CREDENTIALS names.
func googleFlags() []Flag {
	return []Flag{
		{Name: "google-project", Family: familyGoogle, Kind: Text, Sample: "dns-project",
			Doc: "Project of the zones; the cluster's own where it is not given."},
		{Name: "google-batch-change-size", Family: familyGoogle, Kind: Integer, Min: 1, Sample: "500",
			Doc: "Most changes in one batch."},
		{Name: "google-batch-change-interval", Family: familyGoogle, Kind: Duration, Sample: "2s",
			Doc: "Time between two batches."},
		{Name: "google-zone-visibility", Family: familyGoogle, Kind: Enum, Values: []string{"public", "private"}, Sample: "public",
			Doc: "Visibility of the zones that are managed."},
	}
}

// pdnsFlags belong to pdns (the HTTP API of PowerDNS' authoritative server).
func pdnsFlags() []Flag {
	return []Flag{
		{Name: "pdns-server", Family: familyPDNS, Kind: URL, Sample: "https://pdns.corp.example:8081",
			Doc: "URL of the API."},
		{Name: "pdns-server-id", Family: familyPDNS, Kind: Text, Sample: "localhost",
			Doc: "Id of the server behind the API; localhost unless a proxy is in front."},
		{Name: "pdns-api-key", Family: familyPDNS, Kind: Text, Secret: true, Sample: "changeme",
			Doc: "Key of the API."},
		{Name: "pdns-skip-tls-verify", Family: familyPDNS, Kind: Bool, Sample: "true",
			Doc: "Accept any certificate."},
	}
}

// rfc2136Flags belong to rfc2136 (dynamic updates; BIND and others).
func rfc2136Flags() []Flag {
	return []Flag{
		{Name: "rfc2136-host", Family: familyRFC2136, Kind: Host, List: true, Sample: "192.0.2.53",
			Doc: "Servers that take updates."},
		{Name: "rfc2136-port", Family: familyRFC2136, Kind: Integer, Min: 1, Max: 65535, Default: "53", Sample: "5353",
			Doc: "Port of the servers; 853 is set with rfc2136-use-tls."},
		{Name: "rfc2136-zone", Family: familyRFC2136, Kind: Zone, List: true, Sample: "corp.example",
			Doc: "Zones that are updated."},
		{Name: "rfc2136-insecure", Family: familyRFC2136, Kind: Bool, Sample: "true",
			Doc: "Send updates without a signature."},
		{Name: "rfc2136-tsig-keyname", Family: familyRFC2136, Kind: Text, Sample: "key1",
			Doc: "Name of the TSIG key."},
		{Name: "rfc2136-tsig-secret", Family: familyRFC2136, Kind: Text, Secret: true, Sample: "c2VjcmV0LXNlY3JldC1zZWNyZXQ=",
			Doc: "TSIG key in base64."},
		{Name: "rfc2136-tsig-secret-alg", Family: familyRFC2136, Kind: Algorithm, Default: "hmac-sha256", Sample: "hmac-sha512",
			Doc: "Algorithm of the TSIG key."},
		{Name: "rfc2136-axfr", Family: familyRFC2136, Kind: Bool, Since: V022, Sample: "true",
			Doc: "Read the zones by transfer; without it nothing is ever updated or deleted."},
		{Name: "rfc2136-tsig-axfr", Family: familyRFC2136, Kind: Bool, Renamed: V022, Successor: "rfc2136-axfr", Sample: "true",
			Doc: "Former name of rfc2136-axfr."},
		{Name: "rfc2136-create-ptr", Family: familyRFC2136, Kind: Bool, Renamed: V021, Removed: V021, Successor: "create-ptr", Sample: "true",
			Doc: "Former name of create-ptr."},
		{Name: "rfc2136-min-ttl", Family: familyRFC2136, Kind: Duration, Sample: "1m",
			Doc: "Least TTL of the names."},
		{Name: "rfc2136-gss-tsig", Family: familyRFC2136, Kind: Bool, Sample: "true",
			Doc: "Sign updates with Kerberos; needs the rfc2136-kerberos parameters."},
		{Name: "rfc2136-kerberos-realm", Family: familyRFC2136, Kind: Text, Sample: "CORP.EXAMPLE",
			Doc: "Realm of the user."},
		{Name: "rfc2136-kerberos-username", Family: familyRFC2136, Kind: Text, Sample: "dns-updater",
			Doc: "User who may update."},
		{Name: "rfc2136-kerberos-password", Family: familyRFC2136, Kind: Text, Secret: true, Sample: "password",
			Doc: "Password of the user."},
		{Name: "rfc2136-batch-change-size", Family: familyRFC2136, Kind: Integer, Min: 1, Sample: "50",
			Doc: "Most changes in one update message."},
		{Name: "rfc2136-use-tls", Family: familyRFC2136, Kind: Bool, Sample: "true",
			Doc: "Talk to the servers over TLS."},
		{Name: "rfc2136-skip-tls-verify", Family: familyRFC2136, Kind: Bool, Sample: "true",
			Doc: "Accept any certificate."},
		{Name: "rfc2136-load-balancing-strategy", Family: familyRFC2136, Kind: Enum, Sample: "round-robin",
			Values: []string{"disabled", "random", "round-robin"},
			Doc:    "How several servers take turns."},
	}
}

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
