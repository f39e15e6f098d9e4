package show

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/dns/autopath"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// item is one element of a list as the server answers it.
type item struct {
	Metadata client.Metadata `json:"metadata"`
	Spec     json.RawMessage `json:"spec"`
	Status   itemStatus      `json:"status"`
}

// itemStatus is what tables show of the status of a document.
type itemStatus struct {
	Abandoned         client.Abandoned  `json:"abandoned"`
	Drained           client.Drained    `json:"drained"`
	CredentialsExpire time.Time         `json:"credentialsExpire"`
	Warnings          []json.RawMessage `json:"warnings"` // objects or, of a name, texts
	State             string            `json:"state"`    // of a name that was read alone
	Published         string            `json:"published"`
	Verified          string            `json:"verified"`
}

// column is one column of the table of a collection.
type column struct {
	heading string
	cell    func(item) string
}

// of makes a column of a field of the spec.
func of[Spec any](heading string, cell func(Spec) string) column {
	return column{heading, func(i item) string {
		var spec Spec
		if json.Unmarshal(i.Spec, &spec) != nil {
			return "?" // of another version
		}
		return cell(spec)
	}}
}

// resourceTable is the table of the documents of a collection, with more columns at its end.
func resourceTable(collection string, items []item, more []column) *terminal.Table {
	columns := slices.Concat(
		[]column{{"NAME", func(i item) string { return i.Metadata.Name }}},
		columnsOf(collection),
		[]column{
			{"REVISION", func(i item) string { return fmt.Sprint(i.Metadata.Revision) }},
			{"UPDATED", func(i item) string { return terminal.Moment(i.Metadata.UpdatedAt) }},
		}, more)
	var heading []string
	for _, c := range columns {
		heading = append(heading, c.heading)
	}
	t := terminal.NewTable(heading...)
	for _, i := range items {
		var cells []string
		for _, c := range columns {
			cells = append(cells, c.cell(i))
		}
		t.Add(cells...)
	}
	return t
}

// choice is a choice of clusters in one cell.
func choice(c *intent.ClusterChoice) string {
	switch {
	case c == nil:
		return ""
	case c.Selector != nil:
		return pairs(c.Selector)
	}
	return strings.Join(c.Names, ",")
}

// columnsOf are the columns that are a collection's own.
func columnsOf(collection string) []column {
	switch collection {
	case "projects":
		return []column{of("NAMESPACE", func(s intent.Project) string { return s.Namespace })}
	case intent.NamesCollection:
		return []column{
			of("TARGET", func(s intent.Name) string { return cmp.Or(s.Service, s.CNAME, strings.Join(s.Addresses, ",")) }),
			of("CLUSTERS", func(s intent.Name) string { return choice(s.Clusters) }),
			of("PROVIDER", func(s intent.Name) string { return s.Provider }),
		}
	case intent.SetsCollection:
		return []column{of("DOCUMENTS", func(s intent.DocumentSet) string { return fmt.Sprint(len(s.Documents)) })}
	case "clusters":
		return []column{
			of("DIRECTORY", func(s intent.Cluster) string { return s.Directory }),
			of("USES", func(s intent.Cluster) string {
				return list(s.Uses, func(use intent.ClusterUse) string { return string(use) })
			}),
			of("LABELS", func(s intent.Cluster) string { return pairs(s.Labels) }),
			of("PROJECTS", func(s intent.Cluster) string { return strings.Join(s.Projects, ",") }),
			{"OUT OF SERVICE", outOfService},
			{"CREDENTIALS END", func(i item) string { return terminal.Moment(i.Status.CredentialsExpire) }},
		}
	case "dns-update-records":
		return recordColumns()
	case "logical-clouds":
		return []column{
			of("NAMESPACE", func(s intent.LogicalCloud) string { return s.Namespace }),
			of("CLUSTERS", func(s intent.LogicalCloud) string { return strings.Join(s.Clusters, ",") }),
			of("CONTROLLER CLUSTER", func(s intent.LogicalCloud) string { return clusterWord(s.ControllerCluster) }),
		}
	case "cluster-references":
		return []column{of("CLUSTER", intent.ClusterReference.String)}
	case "kv-pairs":
		return []column{of("PAIRS", kvCell)}
	case "composite-apps":
		return []column{of("VERSION", func(s intent.CompositeApp) string { return s.CompositeAppVersion })}
	case "deployment-intent-groups":
		return []column{
			of("LOGICAL CLOUD", func(s intent.DeploymentIntentGroup) string { return s.LogicalCloud }),
			of("APPS", func(s intent.DeploymentIntentGroup) string {
				return list(s.Apps, func(a intent.App) string { return a.Name })
			}),
		}
	case "dns-intents":
		return intentColumns()
	case "pod-dns-intents":
		return podDNSColumns()
	case "dns-cr-intents":
		return dnsColumns()
	}
	return nil
}

// list is a list in one cell, with a text for each of its items.
func list[Item any](items []Item, text func(Item) string) string {
	var all []string
	for _, item := range items {
		all = append(all, text(item))
	}
	return strings.Join(all, ",")
}

// outOfService says since when a cluster's addresses are kept out of names.
func outOfService(i item) string {
	switch {
	case !i.Status.Abandoned.Since.IsZero():
		return "abandoned " + terminal.Moment(i.Status.Abandoned.Since)
	case !i.Status.Drained.Since.IsZero():
		return "drained " + terminal.Moment(i.Status.Drained.Since)
	}
	return ""
}

func recordColumns() []column {
	return []column{
		of("PROVIDER", func(s intent.Record) string { return s.Provider }),
		of("DOMAINS", func(s intent.Record) string { return words(s.Parameters["domain-filter"]) }),
		of("DEPLOY ON", func(s intent.Record) string { return homeWord(s.DeployOn) }),
		{"WARNINGS", func(i item) string { return fmt.Sprint(len(i.Status.Warnings)) }},
	}
}

func intentColumns() []column {
	return []column{
		of("APP", func(s intent.DNSIntent) string { return s.App }),
		of("SERVICE", func(s intent.DNSIntent) string { return s.ServiceName }),
		of("HOSTNAMES", func(s intent.DNSIntent) string { return strings.Join(s.Hostnames, ",") }),
		of("SCOPE", func(s intent.DNSIntent) string { return string(s.Scope) }),
		of("RECORDS", func(s intent.DNSIntent) string { return strings.Join(s.Records, ",") }),
	}
}

func podDNSColumns() []column {
	config := func(s intent.PodDNSIntent) intent.PodDNSConfig { return *cmp.Or(s.DNSConfig, &intent.PodDNSConfig{}) }
	return []column{
		of("APP", func(s intent.PodDNSIntent) string { return s.App }),
		of("DNS POLICY", func(s intent.PodDNSIntent) string { return string(s.DNSPolicy) }),
		of("NAMESERVERS", func(s intent.PodDNSIntent) string { return strings.Join(config(s).Nameservers, ",") }),
		of("SEARCHES", func(s intent.PodDNSIntent) string { return strings.Join(config(s).Searches, ",") }),
		of("OPTIONS", func(s intent.PodDNSIntent) string { return optionWords(config(s).Options) }),
		{"WARNINGS", func(i item) string { return fmt.Sprint(len(i.Status.Warnings)) }},
	}
}

// optionWords are options as in resolv.conf.
func optionWords(options []intent.PodDNSOption) string {
	return list(options, func(o intent.PodDNSOption) string {
		return strings.TrimSuffix(o.Name+":"+*cmp.Or(o.Value, new(string)), ":")
	})
}

func dnsColumns() []column {
	return []column{
		of("MODE", func(s intent.DNSCRIntent) string { return string(cmp.Or(s.Mode, intent.Dedicated)) }),
		of("NAMESPACE", func(s intent.DNSCRIntent) string { return cmp.Or(s.Namespace, intent.DefaultDNSNamespace) }),
		of("ZONES", func(s intent.DNSCRIntent) string { return strings.Join(zones(s), ",") }),
		of("NODE CACHE", nodeCache),
		of("AUTOPATH", func(s intent.DNSCRIntent) string { return string(autopathMode(s)) }),
		{"WARNINGS", func(i item) string { return fmt.Sprint(len(i.Status.Warnings)) }},
	}
}

// autopathMode is how search paths are walked, empty where they are not.
func autopathMode(s intent.DNSCRIntent) intent.AutopathMode {
	switch {
	case s.Autopath == nil:
		return ""
	case s.Autopath.Static():
		return intent.AutopathStatic
	}
	return intent.AutopathEDNS0
}

// nodeCache is the address of the cache on each node, empty where there is none.
func nodeCache(s intent.DNSCRIntent) string {
	asked := cmp.Or(s.NodeLocalDNS, &intent.NodeLocalDNS{})
	if !asked.Enabled && autopathMode(s) != intent.AutopathEDNS0 {
		return ""
	}
	return cmp.Or(asked.LocalIP, autopath.LocalIP)
}

// zones are those that an intent forwards.
func zones(s intent.DNSCRIntent) []string {
	var all []string
	if s.PluginConfig != nil {
		for _, plugin := range s.PluginConfig.ForwardPlugins {
			all = append(all, plugin.Domain)
		}
	}
	for _, server := range s.Servers {
		all = append(all, server.Zones...)
	}
	return all
}

func homeWord(home *intent.Home) string {
	if home != nil && home.Publisher != "" {
		return home.Publisher
	}
	return clusterWord(home.Ref(""))
}

func clusterWord(ref *intent.ClusterRef) string {
	if ref == nil {
		return ""
	}
	return ref.String()
}

// pairs is a map as people write labels: key=value, by key.
func pairs(values map[string]string) string {
	return list(slices.Sorted(maps.Keys(values)), func(key string) string { return key + "=" + values[key] })
}

// kvCell is a KV document as key=value, in its order.
func kvCell(kv intent.KVPairs) string {
	return list(kv.KV, func(pair map[string]json.RawMessage) string {
		return list(slices.Sorted(maps.Keys(pair)), func(key string) string { return key + "=" + strings.Trim(string(pair[key]), `"`) })
	})
}

// words is a parameter's value, one or several, separated by commas.
func words(value any) string {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	var all []string
	for _, one := range list {
		if one != nil {
			all = append(all, fmt.Sprint(one))
		}
	}
	return strings.Join(all, ",")
}
