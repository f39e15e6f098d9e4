package externaldns

import "time"

// shortestInterval bounds --interval; below it a provider's rate limits are the
// only thing that external-dns would see.
const shortestInterval = 5 * time.Second

// reservedFlags are those that follow from the record's place; given as
// parameters they would take another project's names.
func reservedFlags() []Flag {
	return []Flag{
		{Name: "annotation-filter", Kind: Reserved},
		{Name: "crd-source-apiversion", Kind: Reserved},
		{Name: "crd-source-kind", Kind: Reserved},
		{Name: "kubeconfig", Kind: Reserved},
		{Name: "label-filter", Kind: Reserved},
		{Name: "migrate-from-txt-owner", Kind: Reserved},
		{Name: "namespace", Kind: Reserved},
		{Name: "provider", Kind: Reserved},
		{Name: "server", Kind: Reserved},
		{Name: "source", Kind: Reserved},
	}
}

// generalFlags steer the loop, the connection to Kubernetes and the logs.
func generalFlags() []Flag {
	return []Flag{
		{Name: "policy", Kind: Enum, Values: []string{"sync", "upsert-only", "create-only"}, Default: "sync", Sample: "upsert-only"},
		{Name: "interval", Kind: Duration, Shortest: shortestInterval, Sample: "30s"},
		{Name: "events", Kind: Bool, Sample: "true"},
		{Name: "min-event-sync-interval", Kind: Duration, Sample: "5s"},
		{Name: "once", Kind: Bool, Sample: "true",
			Unused: "does not belong in a Deployment, which would restart external-dns without end"},
		{Name: "dry-run", Kind: Bool, Sample: "true"},
		{Name: "min-ttl", Kind: Duration, Since: V021, Sample: "1m"},
		{Name: "create-ptr", Kind: Bool, Since: V021, Sample: "true"},
		{Name: "prefer-alias", Kind: Bool, Since: V021, Sample: "true"},
		{Name: "provider-cache-time", Kind: Duration, Sample: "30s"},
		{Name: "batch-change-size", Kind: Integer, Min: 1, Since: V021, Sample: "100"},
		{Name: "batch-change-interval", Kind: Duration, Since: V021, Sample: "2s"},
		{Name: "request-timeout", Kind: Duration, Renamed: V021, Successor: "kube-api-request-timeout", Sample: "20s"},
		{Name: "kube-api-request-timeout", Kind: Duration, Since: V021, Sample: "20s"},
		{Name: "kube-api-qps", Kind: Integer, Min: 1, Since: V021, Sample: "10"},
		{Name: "kube-api-burst", Kind: Integer, Min: 1, Since: V021, Sample: "20"},
		{Name: "log-format", Kind: Enum, Values: []string{"text", "json"}, Sample: "json"},
		{Name: "log-level", Kind: Enum, Values: []string{"panic", "fatal", "error", "warning", "info", "debug", "trace"}, Sample: "debug"},
		{Name: "metrics-address", Kind: Address, Default: ":7979", Sample: ":8080"},
		{Name: "tls-ca", Kind: File, Sample: "/etc/tls/ca.crt"},
		{Name: "tls-client-cert", Kind: File, Sample: "/etc/tls/tls.crt"},
		{Name: "tls-client-cert-key", Kind: File, Sample: "/etc/tls/tls.key"},
	}
}

// sourceFlags tell other sources than crd how to find names.
func sourceFlags() []Flag {
	const unused = "has no effect: DNSEndpoints already say every name and target"
	return []Flag{
		{Name: "contour-load-balancer", Kind: Text, Removed: 13*minorUnit + 6, Sample: "heptio-contour/contour"},
		{Name: "fqdn-template", Kind: Template, List: true, ListSince: V022, Unused: unused, Sample: "{{.Name}}.lab.example"},
		{Name: "combine-fqdn-annotation", Kind: Bool, Unused: unused, Sample: "true"},
		{Name: "ignore-hostname-annotation", Kind: Bool, Unused: unused, Sample: "true"},
		{Name: "compatibility", Kind: Enum, Values: []string{"mate", "molecule", "kops-dns-controller"}, Unused: unused, Sample: "mate"},
		{Name: "publish-internal-services", Kind: Bool, Unused: unused, Sample: "true"},
		{Name: "publish-host-ip", Kind: Bool, Unused: unused, Sample: "true"},
		{Name: "service-type-filter", Kind: Enum, List: true, Unused: unused, Sample: "LoadBalancer",
			Values: []string{"all", "ClusterIP", "NodePort", "LoadBalancer", "ExternalName"}},
	}
}

// filterFlags narrow what external-dns looks at.
func filterFlags() []Flag {
	recordTypes := []string{"A", "AAAA", "CNAME", "DNAME", "MX", "NAPTR", "NS", "PTR", "SRV", "TXT"}
	return []Flag{
		{Name: "domain-filter", Kind: Domain, List: true, Sample: "lab.example"},
		{Name: "exclude-domains", Kind: Domain, List: true, Sample: "internal.lab.example"},
		{Name: "regex-domain-filter", Kind: Regexp, Sample: `^.*\.lab\.example$`},
		{Name: "regex-domain-exclusion", Kind: Regexp, Sample: `^internal\.`},
		{Name: "zone-id-filter", Kind: Text, List: true, Sample: "Z2FDTNDATAQYW2"},
		{Name: "zone-name-filter", Kind: Domain, List: true, Sample: "lab.example"},
		{Name: "target-net-filter", Kind: Network, List: true, Sample: "203.0.113.0/24"},
		{Name: "exclude-target-net", Kind: Network, List: true, Sample: "10.0.0.0/8"},
		{Name: "managed-record-types", Kind: Enum, List: true, Values: recordTypes, Sample: "AAAA"},
		{Name: "exclude-record-types", Kind: Enum, List: true, Values: recordTypes, Sample: "TXT"},
	}
}

// registryFlags say how external-dns remembers which names are its own.
func registryFlags() []Flag {
	inTXT := []string{"txt", "dynamodb"}
	return []Flag{
		{Name: "registry", Kind: Enum, Values: []string{"txt", "noop", "aws-sd", "dynamodb", "crd"}, Default: "txt", Sample: "txt"},
		{Name: "txt-owner-id", Kind: Owner, Sample: "sp-12345678-abcdef01"},
		{Name: "txt-prefix", Kind: Affix, Registries: inTXT, Sample: "owner-%{record_type}-"},
		{Name: "txt-suffix", Kind: Affix, Registries: inTXT, Sample: "-%{record_type}-owner"},
		{Name: "txt-wildcard-replacement", Kind: Affix, Registries: inTXT, Sample: "any"},
		{Name: "txt-cache-interval", Kind: Duration, Registries: inTXT, Sample: "1m"},
		{Name: "txt-encrypt-enabled", Kind: Bool, Registries: []string{"txt"}, Sample: "true"},
		{Name: "txt-encrypt-aes-key", Kind: Text, Secret: true, Registries: inTXT, Sample: "0123456789abcdef0123456789abcdef"},
		{Name: "dynamodb-region", Kind: Text, Registries: []string{"dynamodb"}, Sample: "eu-central-1"},
		{Name: "dynamodb-table", Kind: Text, Registries: []string{"dynamodb"}, Sample: "external-dns"},
	}
}
