package release

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/nameclaim"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// inNamespaces begins the views that namespaces of clusters are in.
const inNamespaces = "namespace-"

// namespaceOn is the cluster that a key is a namespace of.
func namespaceOn(key nameclaim.Key) (cluster string, is bool) {
	return strings.CutPrefix(key.View, inNamespaces)
}

// namespaceBids are the namespaces that Signpost puts a group's apps into, and on
// the same clusters those of its logical cloud; ordered, none twice. EMCO has rules
// of its own for what it deploys.
func namespaceBids(g plan.Group) []bid {
	if g.Orchestrated != nil {
		return nil
	}
	cloud := intent.Join("projects", g.Project.Name, "logical-clouds", g.LogicalCloud)
	var bids []bid
	for _, app := range g.Apps {
		for _, cluster := range app.Clusters {
			for _, namespace := range []string{g.LogicalCloudNamespace, app.Namespace} {
				key := nameclaim.Key{View: inNamespaces + cluster, Name: namespace}
				bids = append(bids, bid{key: key, through: cloud, own: namespace == g.LogicalCloudNamespace})
			}
		}
	}
	slices.SortFunc(bids, compareBids)
	return slices.CompactFunc(bids, func(a, b bid) bool { return a.key == b.key })
}

// checkNamespaceClaims refuses namespaces of clusters that are another project's.
func (s *Service) checkNamespaceClaims(ctx context.Context, p *proposal) error {
	d := p.draft
	if p.action == intent.Terminate || d.group.Path == "" || IsCloud(d.group.Path) {
		return nil
	}
	return s.judge(ctx, p, namespaceBids(d.group), func(b bid, project string, _ nameclaim.Verdict, by nameclaim.Entry) {
		path, at := d.group.Path, "/spec/apps"
		if b.own {
			path, at = b.through, "/spec/namespace"
		}
		whose := "another project's"
		if intent.By(ctx).Sees(project) {
			whose = fmt.Sprintf("project %q's, for %s", project, cmp.Or(by.Group, by.Through))
		}
		d.fail(path, at, "%s is %s; give the logical cloud, or the app, another", b, whose)
	})
}

// keeper is the entry of a namespace's claim once it is confirmed: all groups of
// the logical cloud have one, which holds as long as the logical cloud is there.
// Names have none.
func (s *claimants) keeper(ctx context.Context, b bid) (nameclaim.Entry, error) {
	if _, is := namespaceOn(b.key); !is {
		return nameclaim.Entry{}, nil
	}
	uid, err := s.document(ctx, b.through)
	return nameclaim.Entry{UID: uid, Through: b.through, Stays: uid != ""}, err
}
