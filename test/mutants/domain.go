package mutants

import "github.com/signpost-dns/signpost/test/simulate/bugs"

// inIntents are mutants of documents and what becomes of them.
func inIntents() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "secrets in capitals alone", File: "pkg/domain/intent/secret.go",
			Breaks:      "fields with secret names in lower case are not redacted",
			Text:        `strings.ToUpper(strings.Map(`,
			Replacement: `strings.TrimSpace(strings.Map(`,
		},
		{
			Name: "stringData in the history", File: "pkg/storage/history/redact.go",
			Breaks:      "the history shows the stringData of Secrets",
			Text:        `[]string{"data", "stringData"}`,
			Replacement: `[]string{"data"}`,
		},
		{
			Name: "rounded numbers", File: "pkg/domain/bundle/bundle.go",
			Breaks:      "large numbers in manifests lose digits",
			Text:        "	decoder.UseNumber()\n",
			Replacement: "",
		},
		{
			Name: "pods of Jobs", File: "pkg/domain/podspec/podspec.go",
			Breaks:      "a Job is not a known workload",
			Text:        `, "batch/Job":`,
			Replacement: `:`,
		},
		{
			Name: "NoExecute tolerated", File: "pkg/domain/placement/judge.go",
			Breaks:      "nodes with a NoExecute taint count as suitable",
			Text:        " || taint.Effect == corev1.TaintEffectNoExecute",
			Replacement: "",
		},
		{
			Name: "one name too few", File: "pkg/release/tenancy/quota.go",
			Breaks:      "a project may publish one name less than its quota",
			Text:        "after <= max(*quota, before)",
			Replacement: "after < max(*quota, before)",
		},
		{
			Name: "uncounted release", File: "pkg/release/tenancy/count.go",
			Breaks:      "the count of a project's quotas does not hold a new release",
			Text:        "json.Marshal(count.Has.With(more))",
			Replacement: "json.Marshal(count.Has)",
		},
		{
			Name: "any confirmation", File: "pkg/release/accept/accept.go",
			Breaks:      "the confirmation of another plan is taken",
			Text:        `	if confirm != "" && confirm != p.View.Token {`,
			Replacement: `	if confirm != "" && p.View.Token == "" {`,
		},
		{
			Name: "releases swept at once", File: "pkg/release/controller/sweep.go",
			Breaks:      "the release of a request that is under way is removed",
			Text:        "		case !s.swept.unclaimed[id]:",
			Replacement: "		case s.swept.unclaimed[id]:",
		},
	}
}

// inNames are mutants of host names, and of who publishes them.
func inNames() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "label of 63", File: "pkg/domain/hostname/hostname.go",
			Breaks:      "a label of 63 characters is refused",
			Text:        "case len(label) > longestLabel",
			Replacement: "case len(label) >= longestLabel",
		},
		{
			Name: "mapped network", File: "pkg/domain/address/collect.go",
			Breaks:      "::ffff:0:0/96 in a target filter does not match IPv4",
			Text:        "network.Bits() >= mappedBits",
			Replacement: "network.Bits() > mappedBits",
		},
		{
			Name: "wished for and given", File: "pkg/domain/source/manifest.go",
			Breaks:      "a Service with a load balancer also offers the address that it asked for",
			Text:        "wish != \"\" && len(object.Status.LoadBalancer.Ingress) == 0",
			Replacement: "wish != \"\"",
		},
		{
			Name: "removed provider", File: "pkg/dns/externaldns/compile.go",
			Breaks:      "a provider is used in the very version that removed it",
			Text:        "o.Version >= provider.removed",
			Replacement: "o.Version > provider.removed",
		},
		{
			Name: "types of a later release", File: "pkg/dns/externaldns/abilities.go",
			Breaks:      "records of a type are refused in the very release that began to keep them",
			Text:        "return has && v >= since",
			Replacement: "return has && v > since",
		},
		{
			Name: "imported glue", File: "pkg/dns/zone/parts.go",
			Breaks:      "an import takes names of a zone that is delegated to other nameservers",
			Text:        "if c[above] {",
			Replacement: "if c[above] && false {",
		},
		{
			Name: "excluded names", File: "pkg/dns/externaldns/coverage.go",
			Breaks:      "regex-domain-exclusion does not exclude a name",
			Text:        "(c.regexExclude == nil || !c.regexExclude.MatchString(host)) &&\n			",
			Replacement: "",
		},
		{
			Name: "unordered claims", File: "pkg/release/ownership/nameclaim/store.go",
			Breaks:      "two that claim the same names in another order both get some",
			Text:        "func(a, b Change) int { return compare(a.Key, b.Key) }",
			Replacement: "func(a, b Change) int { return 0 * compare(a.Key, b.Key) }",
		},
		{
			Name: "wrong turn", File: "pkg/release/status/turns.go",
			Breaks:      "a condition of several names has the wrong time",
			Text:        `(status == "True") == a.Before(b)`,
			Replacement: `(status == "True") != a.Before(b)`,
		},
	}
}

// inPlans are mutants of the renderers.
func inPlans() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "parts run together", File: "pkg/plan/names.go",
			Breaks:      "two objects whose parts are cut differently get one name",
			Text:        "		sum := sha256.Sum256([]byte(part))\n		hash.Write(sum[:])\n",
			Replacement: "		hash.Write([]byte(part))\n",
		},
		{
			Name: "port zero", File: "pkg/plan/clusterdns/configure.go",
			Breaks:      "a nameserver with port 0 is taken",
			Text:        "err == nil && at.Port() != 0 && ",
			Replacement: "err == nil && ",
		},
		{
			Name: "empty DNSEndpoint", File: "pkg/plan/endpoints/endpoints.go",
			Breaks:      "a DNSEndpoint without names is published",
			Text:        "	if len(list) == 0 {\n		return bundle.Object{}, false, nil\n	}\n",
			Replacement: "",
		},
		{
			Name: "manifest changed", File: "pkg/plan/poddns/poddns.go",
			Breaks:      "the settings for one cluster are written into the manifest of all",
			Text:        "	spec, config := maps.Clone(spec), Manifest{}\n",
			Replacement: "	config := Manifest{}\n",
		},
		{
			Name: "credential without restart", File: "pkg/plan/provider/credentials.go",
			Breaks:      "external-dns keeps an old credential, because no pod is replaced",
			Text:        "r.place, r.secret, r.key, r.valueRef)",
			Replacement: "r.place, r.secret, r.key)",
		},
		{
			Name: "foreign namespace", File: "pkg/plan/workloads/workloads.go",
			Breaks:      "a manifest may name a namespace of somebody else",
			Text:        "	case object.Namespace != g.LogicalCloudNamespace:",
			Replacement: "	case object.Namespace == \"\":",
		},
	}
}

// inPods are mutants of the DNS of pods and clusters.
func inPods() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "32 search paths", File: "pkg/dns/autopath/option.go",
			Breaks:      "an option with as many paths as Kubernetes takes is refused",
			Text:        "len(paths) > MaxPaths",
			Replacement: "len(paths) >= MaxPaths",
		},
		{
			Name: "2048 characters", File: "pkg/dns/resolvconf/limits.go",
			Breaks:      "searches of as many characters as Kubernetes takes are refused",
			Text:        "n := chars(c.Searches); n > MaxSearchChars",
			Replacement: "n := chars(c.Searches); n >= MaxSearchChars",
		},
		{
			Name: "half a label", File: "pkg/dns/corefile/trace.go",
			Breaks:      "notcorp.example counts as in zone corp.example",
			Text:        `strings.HasSuffix(name, "."+zone)`,
			Replacement: `strings.HasSuffix(name, zone)`,
		},
		{
			Name: "hosts forgotten", File: "pkg/dns/noderesolver/resolver.go",
			Breaks:      "a node loses its hosts while the cluster's DNS is silent",
			Text:        "				unknown[q] = true\n",
			Replacement: "",
		},
		{
			Name: "linter reads files", File: "cmd/signpost-dns/lint/confine.go",
			Breaks:      "a Corefile can have the linter open files",
			Text:        "		{syscall.RLIMIT_NOFILE, 0},\n",
			Replacement: "",
		},
		{
			Name: "cut Corefile", File: "cmd/signpost-dns/main.go",
			Breaks:      "of a Corefile that is too large the beginning is judged",
			Text:        "corefile.MaxLinted+1",
			Replacement: "corefile.MaxLinted",
		},
	}
}
