package externaldns

// BuiltIn tells whether Signpost's own publisher can write the names of a provider.
func BuiltIn(provider string) bool { return loadTable().provider(provider).builtIn }

// NotBuiltIn lists the parameters that ask for what Signpost's own publisher does not do.
func NotBuiltIn() []string {
	return []string{
		"create-ptr", "regex-domain-filter", "regex-domain-exclusion", "rfc2136-create-ptr", "rfc2136-gss-tsig",
		"txt-encrypt-enabled", "coredns-strictly-owned",
	}
}

// BuiltInWait is about how long after a DNSEndpoint has changed the built-in publisher
// tells the DNS provider, at most.
const BuiltInWait = clockTick
