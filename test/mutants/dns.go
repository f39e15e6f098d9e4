package mutants

import "github.com/signpost-dns/signpost/test/simulate/bugs"

// inDNS are mutants of the search that signpost-dns does for pods.
func inDNS() []bugs.Bug {
	return []bugs.Bug{
		{
			Name: "shared record", File: "cmd/signpost-dns/search/answer.go",
			Breaks:      "an answer changes the TTL of a record that a zone shares",
			Text:        "			result[i] = dns.Copy(record)\n",
			Replacement: "",
		},
		{
			Name: "truncated is empty", File: "cmd/signpost-dns/search/walk.go",
			Breaks:      "a truncated reply counts as one without records",
			Text:        "len(reply.Answer) == 0 && !reply.Truncated",
			Replacement: "len(reply.Answer) == 0",
		},
		{
			Name: "client with a zone", File: "cmd/signpost-dns/searchexpand/searchexpand.go",
			Breaks:      "a client with a link-local address may not send the option",
			Text:        `address.Unmap().WithZone("")`,
			Replacement: `address.Unmap()`,
		},
		{
			Name: "poisoned cache", File: "cmd/signpost-dns/searchpath/searchpath.go",
			Breaks:      "a pod can put the answer for another name into a node's cache",
			Text:        "		r = search.WithoutOption(r, p.settings.Option)\n",
			Replacement: "",
		},
	}
}
