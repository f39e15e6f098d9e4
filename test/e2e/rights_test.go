package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/rights"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// TestOptionsOfAProviderTakeTheOptionalRights: registry crd and events need more rights than
// others. An API server lets Signpost hand them out only because it has them.
func TestOptionsOfAProviderTakeTheOptionalRights(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "options")
	s.loadBalancers()
	s.post("/v2/projects/{p}/dns-update-records", `{
		"metadata": {"name": "lab"},
		"spec": {
			"provider": "coredns", "environment": {"ETCD_URLS": "{etcd}"}, "releaseTimeout": "1s",
			"external-dns-parameters": {"policy": "sync", "domain-filter": ["{zone}"], "registry": "crd"},
			"extraArgs": ["--events-emit=RecordReady"]
		}
	}`)
	s.cloud(edges(), "lab")
	s.app()
	s.names(s.group("prod"), "www", "www.{zone}")
	s.instantiate(prod)
	s.eventually("external-dns to have the rights of its options", func() error {
		made, err := s.world.Cluster(fixture.Hub).List(t.Context(), roles, s.namespace(), "")
		if err != nil {
			return err
		}
		for _, role := range made {
			if text := fmt.Sprint(role.Object["rules"]); strings.Contains(text, "dnsrecords/status") && strings.Contains(text, "events.k8s.io") {
				return nil
			}
		}
		return errors.New("no Role has them")
	})
}

// unused lists the rights of the manifests that no story has used: by a request to an
// API server, as its audit log tells, or by a Role that Signpost has made. A manifest
// without the right would do as well, for all that the stories know.
func unused(used map[rights.Right]bool) []string {
	var left []string
	for _, right := range rights.Of(intent.ClusterUses()) {
		is := func(verb string) bool {
			return used[rights.Right{Verb: verb, Group: right.Group, Resource: right.Resource}]
		}
		switch {
		case right.Resource == "*" && listsOther(used):
			continue
		case right.Verb == "list" && is("watch"): // servers without streamed lists are asked for a list first
			continue
		case is(right.Verb):
			continue
		}
		left = append(left, fmt.Sprintf("%s: %s %s.%s", right.Use, right.Verb, right.Resource, right.Group))
	}
	slices.Sort(left)
	return left
}

// listsOther tells whether a kind was listed that is in no rule of the table by name.
func listsOther(used map[rights.Right]bool) bool {
	for right := range used {
		named := func(other rights.Right) bool { return other.Group == right.Group && other.Resource == right.Resource }
		if right.Verb == "list" && !slices.ContainsFunc(rights.Of(intent.ClusterUses()), named) {
			return true
		}
	}
	return false
}

// complain says which rights no story has used.
func complain(left []string) string {
	return "no story uses these rights of deploy/target-cluster; tell one that does, or take them away:\n\t" + strings.Join(left, "\n\t")
}
