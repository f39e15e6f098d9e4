package show

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
)

// undeployedTable has a row for each document that differs from the release.
func undeployedTable(changes []client.UndeployedDocument) *terminal.Table {
	t := terminal.NewTable("NOT DEPLOYED", "CHANGE", "REVISION IN RELEASE", "REVISION NOW")
	for _, c := range changes {
		t.Add(c.Path, string(c.Change), releaseCell(c.Revision), releaseCell(c.Current))
	}
	return t
}

func conditionTable(conditions []client.Condition) *terminal.Table {
	t := terminal.NewTable("CONDITION", "STATUS", "SINCE", "REASON", "MESSAGE")
	for _, c := range conditions {
		t.Add(string(c.Type), string(c.Status), terminal.Moment(c.LastTransitionTime), c.Reason, c.Message)
	}
	return t
}

// nameTable has a row for each target of each name; a name without targets has
// one too.
func nameTable(names []client.NameStatus) *terminal.Table {
	t := terminal.NewTable("NAME", "TYPE", "RECORD", "SCOPE", "TARGET", "CLUSTER", "SOURCE")
	for _, n := range names {
		if len(n.Targets) == 0 {
			t.Add(n.Name, n.Type, n.Record, string(n.Scope), "none", "", whyNone(n))
		}
		for _, target := range n.Targets {
			for _, s := range sourcesOf(n, target) {
				t.Add(n.Name, n.Type, n.Record, string(n.Scope), target, s.Cluster, s.Object+" "+s.Field)
			}
		}
	}
	return t
}

// whyNone says why a name has no targets, as far as its condition tells.
func whyNone(n client.NameStatus) string {
	for _, c := range n.Conditions {
		if c.Type == client.Published && c.Status != client.True {
			return c.Message
		}
	}
	return ""
}

// setTable has a row for each set of a name that has several.
func setTable(names []client.NameStatus) *terminal.Table {
	t := terminal.NewTable("SETS OF", "TYPE", "RECORD", "SET", "WEIGHT", "TARGETS")
	for _, n := range names {
		for _, set := range n.Sets {
			weight := "" // a region or a location, by which the set is called
			if set.Weight > 0 {
				weight = strconv.FormatInt(set.Weight, 10)
			}
			t.Add(n.Name, n.Type, n.Record, set.SetIdentifier, weight, strings.Join(set.Targets, ", "))
		}
	}
	return t
}

// sourcesOf are the places that a target comes from; where none is known, an
// empty one.
func sourcesOf(n client.NameStatus, target string) []client.Source {
	var found []client.Source
	for _, s := range n.Sources {
		if s.Target == target {
			found = append(found, s)
		}
	}
	if found == nil {
		return []client.Source{{}}
	}
	return found
}

// answerTable has a row for what each authoritative server answers to each name.
func answerTable(names []client.NameStatus) *terminal.Table {
	t := terminal.NewTable("ASKED FOR", "TYPE", "SERVER", "ASKED", "ANSWER", "TTL", "MESSAGE")
	for _, n := range names {
		for _, a := range n.Answers {
			answer := cmp.Or(strings.Join(a.Targets, ","), a.Rcode)
			t.Add(n.Name, n.Type, a.Server, terminal.Moment(a.At), answer, ttlCell(a), a.Message)
		}
	}
	return t
}

// stageTable has a row for the last change of each name: when it began, and how long each stage took from there.
func stageTable(names []client.NameStatus) *terminal.Table {
	t := terminal.NewTable("CHANGED", "TYPE", "AT", "DECIDED", "WRITTEN", "PUBLISHED", "ANSWERED")
	for _, n := range names {
		s := n.Stages
		began := s.Observed
		if began.IsZero() {
			began = s.Decided
		}
		after := func(at time.Time) string {
			if at.IsZero() || at.Before(began) {
				return ""
			}
			return "+" + at.Sub(began).Round(time.Millisecond).String()
		}
		if !began.IsZero() {
			t.Add(n.Name, n.Type, terminal.Moment(began), after(s.Decided), after(s.Written), after(s.Published), after(s.Answered))
		}
	}
	return t
}

// ttlCell is empty where nothing is kept for any time.
func ttlCell(a client.Answer) string {
	if len(a.Targets) == 0 {
		return ""
	}
	return fmt.Sprint(a.TTL)
}

func rejectionTable(names []client.NameStatus) *terminal.Table {
	t := terminal.NewTable("REJECTED", "NAME", "CLUSTER", "OBJECT", "REASON")
	for _, n := range names {
		for _, r := range n.Rejected {
			t.Add(r.Target, n.Name, r.Cluster, r.Object, r.Reason)
		}
	}
	return t
}

func leftoverTable(leftovers []client.Leftover) *terminal.Table {
	t := terminal.NewTable("LEFT BEHIND", "TYPE", "RECORD", "REASON")
	for _, l := range leftovers {
		t.Add(l.Name, l.Type, l.Record, l.Reason)
	}
	return t
}

// clusterTable has a row for each cluster, with its objects counted.
func clusterTable(clusters []client.ClusterStatus) *terminal.Table {
	t := terminal.NewTable("CLUSTER", "REACHABLE", "APPLIED", "PENDING", "RETRYING", "FAILED", "DELETED", "MESSAGE")
	for _, c := range clusters {
		counts := map[string]int{}
		for _, r := range c.Resources {
			counts[string(r.Status)]++
		}
		t.Add(clusterName(c), Yes(c.Reachable), fmt.Sprint(counts["Applied"]), fmt.Sprint(counts["Pending"]),
			fmt.Sprint(counts["Retrying"]), fmt.Sprint(counts["Failed"]), fmt.Sprint(counts["Deleted"]), c.Message)
	}
	return t
}

// objectTable lists the objects: in wide tables all, else those of which there
// is something to tell.
func objectTable(clusters []client.ClusterStatus, wide bool) *terminal.Table {
	t := terminal.NewTable("OBJECT", "NAMESPACE", "CLUSTER", "STATUS", "MESSAGE")
	for _, c := range clusters {
		for _, r := range c.Resources {
			if wide || r.Message != "" || (r.Status != "Applied" && r.Status != "Deleted") {
				t.Add(r.Kind+"/"+r.Name, r.Namespace, clusterName(c), string(r.Status), r.Message)
			}
		}
	}
	return t
}

func providerTable(providers []client.ProviderStatus) *terminal.Table {
	t := terminal.NewTable("PUBLISHER OF", "HOME", "SCOPE", "VERSION", "AVAILABLE", "LAST SYNC", "MESSAGE")
	for _, p := range providers {
		t.Add(p.Record, p.Cluster, string(p.Scope), p.Version, availableCell(p.Available), terminal.MomentOf(p.LastSync), whyUnknown(p))
	}
	return t
}

// whyUnknown is the message of a publisher. If nothing was observed, it says so.
func whyUnknown(p client.ProviderStatus) string {
	if p.Available == nil && p.Message == "" {
		return "not observed: its cluster is not watched, or was not reached yet"
	}
	return p.Message
}

// availableCell says so of what could be observed.
func availableCell(available *bool) string {
	if available == nil {
		return "unknown"
	}
	return Yes(*available)
}

// clusterName is a cluster as tables have it.
func clusterName(c client.ClusterStatus) string {
	return fmt.Sprintf("%s+%s", c.ClusterProvider, c.Cluster)
}

// Yes is a cell of a table for a boolean.
func Yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// dnsTable has a row for the cluster DNS of each cluster.
func dnsTable(all []client.DNSStatus) *terminal.Table {
	t := terminal.NewTable("DNS OF", "INTENT", "MODE", "NAMESPACE", "ADDRESS", "NODES", "AVAILABLE", "MESSAGE")
	for _, d := range all {
		t.Add(d.ClusterProvider+"+"+d.Cluster, d.Intent, string(d.Mode), d.Namespace, d.Address, nodesCell(d.Placement), availableCell(d.Available), d.Message)
	}
	return t
}

// cacheTable has a row for the caches on the nodes of each cluster.
func cacheTable(all []client.DNSStatus) *terminal.Table {
	t := terminal.NewTable("CACHES ON NODES", "CLUSTER", "AVAILABLE", "MESSAGE")
	for _, d := range all {
		if c := d.NodeLocalDNS; c != nil {
			t.Add(c.LocalIP, d.ClusterProvider+"+"+d.Cluster, availableCell(c.Available), c.Message)
		}
	}
	return t
}

// nodesCell is on how many of the nodes DNS pods may run, empty where that is
// not known.
func nodesCell(p *client.PlacementStatus) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%d of %d", p.Suitable, p.Nodes)
}

func exclusionTable(all []client.DNSStatus) *terminal.Table {
	t := terminal.NewTable("NODES EXCLUDED", "CLUSTER", "REASON")
	for _, d := range all {
		if d.Placement == nil {
			continue
		}
		for _, e := range d.Placement.Excluded {
			t.Add(fmt.Sprint(e.Nodes), d.ClusterProvider+"+"+d.Cluster, e.Reason)
		}
	}
	return t
}

func upstreamTable(all []client.DNSStatus) *terminal.Table {
	t := terminal.NewTable("UPSTREAM", "CLUSTER", "HEALTHY", "SINCE", "MESSAGE")
	for _, d := range all {
		for _, u := range d.Upstreams {
			t.Add(u.Address, d.ClusterProvider+"+"+d.Cluster, Yes(u.Healthy), terminal.Moment(u.Since), u.Message)
		}
	}
	return t
}
