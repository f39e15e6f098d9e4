package state

import "github.com/signpost-dns/signpost/pkg/storage/observed"

// Findings are what the probes have found.
type Findings struct {
	Trouble     map[string]string             // what keeps pods from running, by Deployment
	Sync        map[string]*observed.Sync     // by Deployment
	Endpoints   map[string]bool               // the DNSEndpoints ("namespace/name") that are to be published
	Published   map[string]observed.Published // the DNSEndpoints that were seen to be published
	Nameservers map[string]Finding            // by DaemonSet
}

// Finding is what a probe has found about a nameserver.
type Finding struct {
	Trouble string        // what keeps a pod from running
	DNS     *observed.DNS // nil: not known
}
