package externaldns

import "time"

// shortestInterval bounds --interval; below it a provider's rate limits are the
// only thing that external-dns would see.
const shortestInterval = 5 * time.Second

// reservedFlags are those that follow from the record's place; given as
// parameters they would take another project's names.
func reservedFlags() []Flag {
	return []Flag{
		{Name: "annotation-filter", Kind: Reserved, Doc: "All of the record's DNSEndpoints are published."},
		{Name: "crd-source-apiversion", Kind: Reserved, Doc: "API version of the published objects."},
		{Name: "crd-source-kind", Kind: Reserved, Doc: "Kind of the published objects."},
		{Name: "kubeconfig", Kind: Reserved, Doc: "External-dns runs under its own ServiceAccount."},
		{Name: "label-filter", Kind: Reserved, Doc: "Selects the record's DNSEndpoints."},
		{Name: "migrate-from-txt-owner", Kind: Reserved, Doc: "Takes over the names of another external-dns."},
		{Name: "namespace", Kind: Reserved, Doc: "The project's namespace."},
		{Name: "provider", Kind: Reserved, Doc: "The record's own field."},
		{Name: "server", Kind: Reserved, Doc: "External-dns talks to the API server of its cluster."},
		{Name: "source", Kind: Reserved, Doc: "Always crd: names come from DNSEndpoints."},
	}
}

// generalFlags steer the loop, the connection to Kubernetes and the logs.
func generalFlags() []Flag {
	return []Flag{
		{Name: "policy", Kind: Enum, Values: []string{"sync", "upsert-only", "create-only"}, Default: "sync", Sample: "upsert-only",
			Doc: "Which changes are made: all, no deletions, or creations alone."},
		{Name: "interval", Kind: Duration, Shortest: shortestInterval, Sample: "30s",
			Doc: "Time between two synchronizations."},
		{Name: "events", Kind: Bool, Sample: "true",
			Doc: "Synchronize also when a DNSEndpoint changes."},
		{Name: "min-event-sync-interval", Kind: Duration, Sample: "5s",
			Doc: "Least time between two synchronizations that events caused."},
		{Name: "once", Kind: Bool, Sample: "true", Doc: "Exit after the first synchronization.",
			Unused: "does not belong in a Deployment, which would restart external-dns without end"},
		{Name: "dry-run", Kind: Bool, Sample: "true",
			Doc: "Print changes instead of making them."},
		{Name: "min-ttl", Kind: Duration, Since: V021, Sample: "1m",
			Doc: "TTL of names that have none of their own."},
		{Name: "create-ptr", Kind: Bool, Since: V021, Sample: "true",
			Doc: "Make PTR records for addresses; needs PTR in managed-record-types."},
		{Name: "prefer-alias", Kind: Bool, Since: V021, Providers: []string{"aws", "pdns"}, Sample: "true",
			Doc: "Make ALIAS records instead of CNAMEs."},
		{Name: "provider-cache-time", Kind: Duration, Sample: "30s",
			Doc: "How long the provider's list of records is remembered."},
		{Name: "batch-change-size", Kind: Integer, Min: 1, Since: V021, Providers: []string{"cloudflare"}, Sample: "100",
			Doc: "Most changes in one batch."},
		{Name: "batch-change-interval", Kind: Duration, Since: V021, Providers: []string{"cloudflare"}, Sample: "2s",
			Doc: "Time between two batches."},
		{Name: "request-timeout", Kind: Duration, Renamed: V021, Successor: "kube-api-request-timeout", Sample: "20s",
			Doc: "Former name of kube-api-request-timeout."},
		{Name: "kube-api-request-timeout", Kind: Duration, Since: V021, Sample: "20s",
			Doc: "Timeout of requests to the Kubernetes API; 0s means none."},
		{Name: "kube-api-qps", Kind: Integer, Min: 1, Since: V021, Sample: "10",
			Doc: "Most requests per second to the Kubernetes API."},
		{Name: "kube-api-burst", Kind: Integer, Min: 1, Since: V021, Sample: "20",
			Doc: "Requests to the Kubernetes API that may exceed kube-api-qps."},
		{Name: "log-format", Kind: Enum, Values: []string{"text", "json"}, Sample: "json",
			Doc: "Form of the log."},
		{Name: "log-level", Kind: Enum, Values: []string{"panic", "fatal", "error", "warning", "info", "debug", "trace"}, Sample: "debug",
			Doc: "Least severity that is logged."},
		{Name: "metrics-address", Kind: Address, Default: ":7979", Sample: ":8080",
			Doc: "Where health and metrics are served; the probes ask there."},
		{Name: "tls-ca", Kind: File, Providers: []string{"pdns", "rfc2136"}, Sample: "/etc/tls/ca.crt",
			Doc: "File with the authority that signed the DNS server's certificate."},
		{Name: "tls-client-cert", Kind: File, Providers: []string{"pdns", "rfc2136"}, Sample: "/etc/tls/tls.crt",
			Doc: "File with the client's certificate."},
		{Name: "tls-client-cert-key", Kind: File, Providers: []string{"pdns", "rfc2136"}, Sample: "/etc/tls/tls.key",
			Doc: "File with the key of the client's certificate."},
	}
}

// sourceFlags tell other sources than crd how to find names.
func sourceFlags() []Flag {
	const unused = "has no effect: DNSEndpoints already say every name and target"
	return []Flag{
		{Name: "contour-load-balancer", Kind: Text, Removed: 13*minorUnit + 6, Sample: "heptio-contour/contour",
			Doc: "Service of the Contour load balancer."},
		{Name: "fqdn-template", Kind: Template, List: true, ListSince: V022, Unused: unused, Sample: "{{.Name}}.lab.example",
			Doc: "Makes names for objects that have none."},
		{Name: "combine-fqdn-annotation", Kind: Bool, Unused: unused, Sample: "true",
			Doc: "Use template and annotation together."},
		{Name: "ignore-hostname-annotation", Kind: Bool, Unused: unused, Sample: "true",
			Doc: "Use the template alone."},
		{Name: "compatibility", Kind: Enum, Values: []string{"mate", "molecule", "kops-dns-controller"}, Unused: unused, Sample: "mate",
			Doc: "Understand the annotations of earlier programs."},
		{Name: "publish-internal-services", Kind: Bool, Unused: unused, Sample: "true",
			Doc: "Publish Services of type ClusterIP."},
		{Name: "publish-host-ip", Kind: Bool, Unused: unused, Sample: "true",
			Doc: "Publish the nodes' addresses for headless Services."},
		{Name: "service-type-filter", Kind: Enum, List: true, Unused: unused, Sample: "LoadBalancer",
			Values: []string{"all", "ClusterIP", "NodePort", "LoadBalancer", "ExternalName"},
			Doc:    "Types of Services that are published."},
	}
}

// filterFlags narrow what external-dns looks at.
func filterFlags() []Flag {
	recordTypes := []string{"A", "AAAA", "CNAME", "DNAME", "MX", "NAPTR", "NS", "PTR", "SRV", "TXT"}
	zonesByID := []string{
		"alibabacloud", "aws", "azure", "azure-dns", "azure-private-dns", "cloudflare", "dnsimple", "google", "ns1", "oci",
	}
	return []Flag{
		{Name: "domain-filter", Kind: Domain, List: true, Sample: "lab.example",
			Doc: "Domains whose names are managed."},
		{Name: "exclude-domains", Kind: Domain, List: true, Sample: "internal.lab.example",
			Doc: "Domains whose names are not."},
		{Name: "regex-domain-filter", Kind: Regexp, Sample: `^.*\.lab\.example$`,
			Doc: "Names that are managed; replaces domain-filter and exclude-domains."},
		{Name: "regex-domain-exclusion", Kind: Regexp, Sample: `^internal\.`,
			Doc: "Names that are not; replaces domain-filter and exclude-domains."},
		{Name: "zone-id-filter", Kind: Text, List: true, Providers: zonesByID, Sample: "Z2FDTNDATAQYW2",
			Doc: "Zones that are managed, by the provider's id."},
		{Name: "zone-name-filter", Kind: Domain, List: true, Sample: "lab.example",
			Providers: []string{"azure", "azure-dns", "azure-private-dns"},
			Doc:       "Zones that are managed, by name."},
		{Name: "target-net-filter", Kind: Network, List: true, Sample: "203.0.113.0/24",
			Doc: "Networks whose addresses may be targets."},
		{Name: "exclude-target-net", Kind: Network, List: true, Sample: "10.0.0.0/8",
			Doc: "Networks whose addresses may not."},
		{Name: "managed-record-types", Kind: Enum, List: true, Values: recordTypes, Sample: "AAAA",
			Doc: "Types of records that are managed; A, AAAA and CNAME where it is not given."},
		{Name: "exclude-record-types", Kind: Enum, List: true, Values: recordTypes, Sample: "TXT",
			Doc: "Types of records that are not."},
	}
}

// registryFlags say how external-dns remembers which names are its own.
func registryFlags() []Flag {
	inTXT := []string{"txt", "dynamodb"}
	return []Flag{
		{Name: "registry", Kind: Enum, Values: []string{"txt", "noop", "aws-sd", "dynamodb", "crd"}, Default: "txt", Sample: "txt",
			Doc: "Where ownership is kept."},
		{Name: "txt-owner-id", Kind: Owner, Sample: "sp-12345678-abcdef01",
			Doc: "Who owns the names; generated where it is not given."},
		{Name: "txt-prefix", Kind: Affix, Registries: inTXT, Sample: "owner-%{record_type}-",
			Doc: "Begins the names of ownership records; excludes txt-suffix."},
		{Name: "txt-suffix", Kind: Affix, Registries: inTXT, Sample: "-%{record_type}-owner",
			Doc: "Ends the first label of ownership records; excludes txt-prefix."},
		{Name: "txt-wildcard-replacement", Kind: Affix, Registries: inTXT, Sample: "any",
			Doc: "Stands for * in the names of ownership records."},
		{Name: "txt-cache-interval", Kind: Duration, Registries: inTXT, Sample: "1m",
			Doc: "How long ownership is remembered between readings."},
		{Name: "txt-encrypt-enabled", Kind: Bool, Registries: []string{"txt"}, Sample: "true",
			Doc: "Encrypt ownership records; needs txt-encrypt-aes-key."},
		{Name: "txt-encrypt-aes-key", Kind: Text, Secret: true, Registries: inTXT, Sample: "0123456789abcdef0123456789abcdef",
			Doc: "Key of 32 bytes, plain or in base64."},
		{Name: "dynamodb-region", Kind: Text, Registries: []string{"dynamodb"}, Sample: "eu-central-1",
			Doc: "Region of the table."},
		{Name: "dynamodb-table", Kind: Text, Registries: []string{"dynamodb"}, Sample: "external-dns",
			Doc: "Name of the table."},
	}
}
