package cli

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/client"
)

// named is the metadata of a document.
func named(name string) client.Metadata { return client.Metadata{Name: name} }

// TestTheGoClientTellsTheMainStory: from the first document to the last, with
// the generated client alone.
func TestTheGoClientTellsTheMainStory(t *testing.T) { //nolint:tparallel // its parts follow each other
	t.Parallel()
	service := startService(t)
	c, err := client.New(service.url, client.Options{Retries: 2})
	require.NoError(t, err)
	clientWritesDocuments(t, c)

	t.Run("a problem is typed, and names the field", func(t *testing.T) {
		_, err := c.CreateDNSUpdateRecordWithResponse(t.Context(), "shop", client.DNSUpdateRecord{
			Metadata: named("corp"),
			Spec:     client.DNSUpdateRecordSpec{Provider: "coredns", ExternalDNSParameters: client.Parameters{"polcy": "sync"}},
		})
		var problem *client.Error
		require.ErrorAs(t, err, &problem)
		require.Equal(t, http.StatusBadRequest, problem.Status)
		require.Equal(t, "/spec/external-dns-parameters/polcy", problem.Errors[0].Pointer)
	})
	t.Run("a GET is sent back as a PUT", func(t *testing.T) {
		got, err := c.GetDNSUpdateRecordWithResponse(t.Context(), "shop", "lab")
		require.NoError(t, err)
		put := &client.PutDNSUpdateRecordParams{IfMatch: new(got.HTTPResponse.Header.Get("ETag"))}
		same, err := c.PutDNSUpdateRecordWithResponse(t.Context(), "shop", "lab", put, *got.JSON200)
		require.NoError(t, err)
		require.Equal(t, got.JSON200.Metadata, same.JSON200.Metadata, "nothing changed")
		_, err = c.PutDNSUpdateRecordWithResponse(t.Context(), "shop", "lab", &client.PutDNSUpdateRecordParams{IfMatch: new(`"7"`)}, *got.JSON200)
		require.Equal(t, http.StatusPreconditionFailed, problemStatus(t, err))
	})
	clientDeploys(t, c)
	t.Run("the example of docs/clients.md is examples/client, and works", func(t *testing.T) {
		program, err := os.ReadFile("../../examples/client/main.go")
		require.NoError(t, err)
		page, err := os.ReadFile("../../docs/clients.md")
		require.NoError(t, err)
		require.Contains(t, string(page), "```go\n"+string(program)+"```\n")
		run := exec.CommandContext(t.Context(), "go", "run", "-buildvcs=false", "../../examples/client")
		run.Env = append(os.Environ(), "SIGNPOST_SERVER="+service.url)
		said, err := run.CombinedOutput()
		require.NoError(t, err, string(said))
		require.Equal(t, "lab coredns\n", string(said))
	})
	clientDeletes(t, c)
	require.NoError(t, service.stop())
}

// problemStatus is the status of a problem.
func problemStatus(t *testing.T, err error) int {
	t.Helper()
	var problem *client.Error
	require.ErrorAs(t, err, &problem)
	return problem.Status
}

func clientWritesDocuments(t *testing.T, c *client.Client) {
	ctx, hub := t.Context(), client.ProviderHome{ClusterProvider: "edge", Cluster: "hub"}
	project, err := c.CreateProjectWithResponse(ctx, client.Project{Metadata: named("shop")})
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, project.StatusCode())
	require.EqualValues(t, 1, project.JSON201.Metadata.Revision)
	_, err = c.CreateClusterProviderWithResponse(ctx, client.ClusterProvider{Metadata: named("edge")})
	require.NoError(t, err)
	for _, name := range []string{"hub", "berlin"} {
		_, err = c.CreateClusterWithResponse(ctx, "edge", client.Cluster{Metadata: named(name), Spec: client.ClusterSpec{Directory: name}})
		require.NoError(t, err)
	}
	_, err = c.CreateDNSUpdateRecordWithResponse(ctx, "shop", client.DNSUpdateRecord{
		Metadata: named("lab"),
		Spec: client.DNSUpdateRecordSpec{
			Provider:              "coredns",
			ExternalDNSParameters: client.Parameters{"policy": "sync", "domain-filter": []any{"lab.example"}, "interval": "5s"},
			Environment:           map[string]string{"ETCD_URLS": "http://etcd.dns.svc:2379"},
			DeployOn:              hub,
			ReleaseTimeout:        "1s",
		},
	})
	require.NoError(t, err)
	_, err = c.CreateLogicalCloudWithResponse(ctx, "shop", client.LogicalCloud{Metadata: named("eu"), Spec: client.LogicalCloudSpec{Namespace: "shop"}})
	require.NoError(t, err)
	_, err = c.CreateClusterReferenceWithResponse(ctx, "shop", "eu", client.ClusterReference{
		Metadata: named("berlin"), Spec: client.ClusterRef{ClusterProvider: "edge", Cluster: "berlin"},
	})
	require.NoError(t, err)
	_, err = c.CreateLogicalCloudKVPairsWithResponse(ctx, "shop", "eu", client.KVPairs{
		Metadata: named("dns-update-record-list"), Spec: client.KVPairsSpec{KV: []map[string]any{{"key1": "lab"}}},
	})
	require.NoError(t, err)
	_, err = c.CreateCompositeAppWithResponse(ctx, "shop", client.CompositeApp{Metadata: named("store"), Spec: client.CompositeAppSpec{CompositeAppVersion: "v1"}})
	require.NoError(t, err)
	_, err = c.CreateDeploymentIntentGroupWithResponse(ctx, "shop", "store", "v1", client.DeploymentIntentGroup{
		Metadata: named("prod"),
		Spec: client.DeploymentIntentGroupSpec{LogicalCloud: "eu", Apps: []client.App{{Name: "web", Manifests: []client.Manifest{{
			APIVersion: "v1", Kind: "Service", Metadata: map[string]any{"name": "web"},
			AdditionalProperties: map[string]any{"spec": map[string]any{"type": "LoadBalancer", "loadBalancerIP": "203.0.113.10", "ports": []any{map[string]any{"port": 80}}}},
		}}}}},
	})
	require.NoError(t, err)
	_, err = c.CreateTrafficGroupIntentWithResponse(ctx, "shop", "store", "v1", "prod", client.TrafficGroupIntent{Metadata: named("front")})
	require.NoError(t, err)
	_, err = c.CreateDNSIntentWithResponse(ctx, "shop", "store", "v1", "prod", "front", client.DNSIntent{
		Metadata: named("www"), Spec: client.DNSIntentSpec{App: "web", ServiceName: "web", Hostnames: []string{"www.lab.example"}},
	})
	require.NoError(t, err)
	pods, err := c.CreatePodDNSIntentWithResponse(ctx, "shop", "store", "v1", "prod", "front", client.PodDNSIntent{
		Metadata: named("web"), Spec: client.PodDNSIntentSpec{
			App: "web", DNSPolicy: "Default", DNSConfig: client.PodDNSConfig{Options: []client.PodDNSOption{{Name: "ndots", Value: "2"}, {Name: "edns0"}}},
		},
	})
	require.NoError(t, err)
	require.Equal(t, []client.PodDNSOption{{Name: "ndots", Value: "2"}, {Name: "edns0"}}, pods.JSON201.Spec.DNSConfig.Options)
}

func clientDeploys(t *testing.T, c *client.Client) {
	ctx := t.Context()
	plan, err := c.PlanDeploymentIntentGroupWithResponse(ctx, "shop", "store", "v1", "prod", nil)
	require.NoError(t, err)
	require.Empty(t, plan.JSON200.Errors)
	_, err = c.InstantiateDeploymentIntentGroupWithResponse(ctx, "shop", "store", "v1", "prod",
		&client.InstantiateDeploymentIntentGroupParams{Confirm: new("0")})
	require.Equal(t, http.StatusPreconditionFailed, problemStatus(t, err))
	accepted, err := c.InstantiateDeploymentIntentGroupWithResponse(ctx, "shop", "store", "v1", "prod",
		&client.InstantiateDeploymentIntentGroupParams{Confirm: new(plan.JSON200.Token)})
	require.NoError(t, err)
	status := clientAwaits(t, c, client.StatusStateInstantiated)
	require.Equal(t, accepted.JSON202.ContextID, status.ContextID)
	require.Equal(t, []string{"203.0.113.10"}, status.Names[0].Targets)
	events, err := c.ListDeploymentIntentGroupEventsWithResponse(ctx, "shop", "store", "v1", "prod")
	require.NoError(t, err)
	require.Equal(t, client.ActionInstantiate, events.JSON200.Items[0].Action)
}

// clientAwaits waits until the group is in a state.
func clientAwaits(t *testing.T, c *client.Client, wanted client.StatusState) *client.Status {
	t.Helper()
	var status *client.Status
	require.Eventually(t, func() bool {
		answer, err := c.GetDeploymentIntentGroupStatusWithResponse(t.Context(), "shop", "store", "v1", "prod", nil)
		if err != nil {
			return false
		}
		status = answer.JSON200
		return status.State == wanted
	}, waitLimit, tick, "not %s", wanted)
	return status
}

func clientDeletes(t *testing.T, c *client.Client) {
	ctx := t.Context()
	_, err := c.DeleteDNSUpdateRecordWithResponse(ctx, "shop", "lab", nil)
	require.Equal(t, http.StatusConflict, problemStatus(t, err))
	_, err = c.TerminateDeploymentIntentGroupWithResponse(ctx, "shop", "store", "v1", "prod", nil)
	require.NoError(t, err)
	clientAwaits(t, c, client.StatusStateTerminated)
	const group = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	for path := range strings.FieldsSeq(group + "/traffic-group-intents/front/dns-intents/www " + group + "/traffic-group-intents/front/pod-dns-intents/web " +
		group + "/traffic-group-intents/front " + group + ` projects/shop/composite-apps/store/v1
		projects/shop/logical-clouds/eu/kv-pairs/dns-update-record-list projects/shop/logical-clouds/eu/cluster-references/berlin
		projects/shop/logical-clouds/eu projects/shop/dns-update-records/lab projects/shop
		cluster-providers/edge/clusters/hub cluster-providers/edge/clusters/berlin cluster-providers/edge`) {
		_, err := c.Do(ctx, http.MethodDelete, path, nil, nil)
		require.NoError(t, err, path)
	}
	left, err := c.ListProjectsWithResponse(ctx, &client.ListProjectsParams{Limit: new(1)})
	require.NoError(t, err)
	require.Empty(t, left.JSON200.Items)
}
