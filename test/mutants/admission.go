package mutants

import "github.com/signpost-dns/signpost/test/simulate/bugs"

// inBodies are mutants of the reading of bodies.
func inBodies() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "two documents are one", File: "api/jsonbody/yaml.go",
			Breaks:      "of a YAML body with two documents the second is lost",
			Text:        "	if documents(raw) > 1 {",
			Replacement: "	if documents(raw) > 2 {",
		},
		{
			Name: "aliases unmeasured", File: "pkg/domain/safeyaml/aliases.go",
			Breaks:      "a small text with aliases becomes gigabytes",
			Text:        "	if bytes.IndexByte(text, '*') < 0 {",
			Replacement: "	if bytes.IndexByte(text, '*') < 1<<20 {",
		},
	}
}

// inAdmission are mutants of the checks of documents.
func inAdmission() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "deeper than allowed", File: "pkg/admission/apps/manifest.go",
			Breaks:      "a manifest is taken that is nested too deeply to be read again",
			Text:        "	if depth(object, deepestManifest+1) > deepestManifest {",
			Replacement: "	if depth(object, deepestManifest+1) < 0 {",
		},
		{
			Name: "namespace of DNS", File: "pkg/admission/clusters/logicalcloud.go",
			Breaks:      "a logical cloud gets the namespace of the clusters' DNS",
			Text:        "	if in.Namespace == projects.ReservedNamespace {",
			Replacement: "	if in.Namespace == projects.ReservedNamespace && old != nil {",
		},
		{
			Name: "nameserver on port zero", File: "pkg/admission/clusterdns/upstream.go",
			Breaks:      "a nameserver with port 0 is taken",
			Text:        "	if nameserver.Port() == 0 {",
			Replacement: "	if nameserver.Port() == 0 && text == \"\" {",
		},
		{
			Name: "file within a file", File: "pkg/admission/providers/credential.go",
			Breaks:      "a credential is written to a place below the file of another",
			Text:        "		if clusters.Within(file, taken) || clusters.Within(taken, file) {",
			Replacement: "		if clusters.Within(file, taken) && clusters.Within(taken, file) {",
		},
		{
			Name: "nobody is asked", File: "pkg/admission/poddns/poddns.go",
			Breaks:      "dnsPolicy None is taken without nameservers",
			Text:        "	if in.DNSPolicy.Canonical() == intent.DNSNone && len(config.Nameservers) == 0 {",
			Replacement: "	if in.DNSPolicy.Canonical() == intent.DNSNone && len(config.Nameservers) < 0 {",
		},
		{
			Name: "two targets", File: "pkg/admission/names/name.go",
			Breaks:      "a name is taken that leads to a Service and to fixed addresses",
			Text:        "	case given > 1:",
			Replacement: "	case given > 3:",
		},
		{
			Name: "no weight at all", File: "pkg/admission/dnsnames/routing.go",
			Breaks:      "weights are taken that give no cluster any traffic",
			Text:        "	if sum == 0 {",
			Replacement: "	if sum < 0 {",
		},
		{
			Name: "any key", File: "pkg/admission/review/names.go",
			Breaks:      "labels are taken that Kubernetes refuses",
			Text:        "		if value := labels[key]; value != \"\" && !IsLabelValue(value) {",
			Replacement: "		if value := labels[key]; value == \"\" && !IsLabelValue(key) {",
		},
		{
			Name: "quota by its user", File: "pkg/admission/projects/project.go",
			Breaks:      "the admin of a project raises its quotas",
			Text:        "	if !reflect.DeepEqual(in.Quotas, was.Quotas) {",
			Replacement: "	if !reflect.DeepEqual(in.Quotas, in.Quotas) {",
		},
	}
}
