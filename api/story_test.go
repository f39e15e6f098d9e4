package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/client"
)

func TestTheGeneratedClientTellsTheMainStory(t *testing.T) {
	server := httptest.NewServer(newWorld(t).handler)
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, client.Options{Retries: 1})
	require.NoError(t, err)
	ctx := t.Context()
	named := func(name string) client.Metadata { return client.Metadata{Name: name} }
	hub := client.ClusterRef{ClusterProvider: "edge", Cluster: "hub"}

	_, err = c.CreateProjectWithResponse(ctx, client.Project{Metadata: named("shop")})
	require.NoError(t, err)
	_, err = c.CreateClusterProviderWithResponse(ctx, client.ClusterProvider{Metadata: named("edge")})
	require.NoError(t, err)
	_, err = c.CreateClusterWithResponse(ctx, "edge", client.Cluster{Metadata: named("hub"), Spec: client.ClusterSpec{Directory: "hub"}})
	require.NoError(t, err)
	record, err := c.CreateDNSUpdateRecordWithResponse(ctx, "shop", client.DNSUpdateRecord{
		Metadata: named("lab"),
		Spec: client.DNSUpdateRecordSpec{
			Provider:              "coredns",
			ExternalDNSParameters: client.Parameters{"policy": "sync", "domain-filter": []any{"lab.example"}},
			Environment:           map[string]string{"ETCD_URLS": "http://10.0.0.5:2379"},
			DeployOn:              hub,
		},
	})
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, record.StatusCode())
	require.EqualValues(t, 1, record.JSON201.Metadata.Revision)
	_, err = c.CreateLogicalCloudWithResponse(ctx, "shop", client.LogicalCloud{Metadata: named("eu")})
	require.NoError(t, err)
	_, err = c.CreateClusterReferenceWithResponse(ctx, "shop", "eu", client.ClusterReference{Metadata: named("hub"), Spec: hub})
	require.NoError(t, err)
	_, err = c.CreateLogicalCloudKVPairsWithResponse(ctx, "shop", "eu", client.KVPairs{
		Metadata: named("dns-update-record-list"),
		Spec:     client.KVPairsSpec{KV: []map[string]any{{"key1": "lab"}}},
	})
	require.NoError(t, err)
	_, err = c.CreateCompositeAppWithResponse(ctx, "shop", client.CompositeApp{
		Metadata: named("store"), Spec: client.CompositeAppSpec{CompositeAppVersion: "v1"},
	})
	require.NoError(t, err)
	_, err = c.CreateDeploymentIntentGroupWithResponse(ctx, "shop", "store", "v1", client.DeploymentIntentGroup{
		Metadata: named("prod"), Spec: client.DeploymentIntentGroupSpec{LogicalCloud: "eu", Apps: []client.App{{Name: "web"}}},
	})
	require.NoError(t, err)
	_, err = c.CreateTrafficGroupIntentWithResponse(ctx, "shop", "store", "v1", "prod", client.TrafficGroupIntent{Metadata: named("front")})
	require.NoError(t, err)
	_, err = c.CreateDNSIntentWithResponse(ctx, "shop", "store", "v1", "prod", "front", client.DNSIntent{
		Metadata: named("www"), Spec: client.DNSIntentSpec{App: "web", ServiceName: "web", Hostnames: []string{"www.lab.example"}},
	})
	require.NoError(t, err)

	plan, err := c.PlanDeploymentIntentGroupWithResponse(ctx, "shop", "store", "v1", "prod", nil)
	require.NoError(t, err)
	accepted, err := c.InstantiateDeploymentIntentGroupWithResponse(ctx, "shop", "store", "v1", "prod",
		&client.InstantiateDeploymentIntentGroupParams{Confirm: new(plan.JSON200.Token)})
	require.NoError(t, err)
	require.NotEmpty(t, accepted.JSON202.ContextID)
	status, err := c.GetDeploymentIntentGroupStatusWithResponse(ctx, "shop", "store", "v1", "prod")
	require.NoError(t, err)
	require.Equal(t, client.StatusStateInstantiated, status.JSON200.State)
	list, err := c.ListProjectsWithResponse(ctx, &client.ListProjectsParams{Limit: new(1)})
	require.NoError(t, err)
	require.Len(t, list.JSON200.Items, 1)

	_, err = c.DeleteProjectWithResponse(ctx, "shop", nil)
	var problem *client.Error
	require.ErrorAs(t, err, &problem)
	require.Equal(t, http.StatusConflict, problem.Status)
}

func TestTheSeedsExampleRecordIsAccepted(t *testing.T) {
	w := newWorld(t).fill("DNSUpdateRecord")
	answer := w.send("POST", "/v2/project/shop/dns-update-records/", `{
		"metadata": {"name": "name_of_dns_information_record", "description": "description of the DNS information",
			"userdata1": "some user data", "userdata2": "some different user data"},
		"spec": {"provider": "coredns", "external-dns-parameters": {
			"coredns-prefix": "skydns", "contour-load-balancer": "heptio-contour/contour", "fqdn-template": "template",
			"combine-fqdn-annotation": true, "ignore-hostname-annotation": true, "compatibility": "mate",
			"publish-internal-services": true, "publish-host-ip": true, "service-type-filter": "all",
			"domain-filter": "example.com", "exclude-domains": "example.com", "zone-id-filter": "zone filter",
			"tls-ca": "tls ca path", "tls-client-cert": "tls client cert path", "tls-client-cert-key": "tls client cert key path",
			"policy": "sync", "registry": "txt", "txt-owner-id": "default", "txt-prefix": "custom string",
			"txt-cache-interval": "30s", "interval": "30s", "once": true, "dry-run": true, "log-format": "text",
			"metrics-address": ":7979", "log-level": "info"}}}`).want(http.StatusCreated)
	require.Equal(t, "/v2/projects/shop/dns-update-records/name_of_dns_information_record", answer.Header().Get("Location"))
	status, _ := answer.json()["status"].(map[string]any)
	require.NotEmpty(t, status["warnings"])
}
