package cli

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/app"
	"github.com/signpost-dns/signpost/pkg/client"
)

const aKubeconfig = `{"apiVersion":"v1","kind":"Config","current-context":"hub","contexts":[{"name":"hub","context":{"cluster":"hub","user":"signpost"}}],
	"clusters":[{"name":"hub","cluster":{"server":"http://127.0.0.1:1"}}],"users":[{"name":"signpost","user":{"token":"t"}}]}`

// TestTheProvidersOfThePageWorkAsTheyStand: the specs of docs/providers.md
// are accepted without a warning, and a name that goes through one is planned.
func TestTheProvidersOfThePageWorkAsTheyStand(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/providers.md")
	require.NoError(t, err)
	specs := regexp.MustCompile("`({\"provider\":.*})`").FindAllStringSubmatch(string(page), -1)
	require.GreaterOrEqual(t, len(specs), 9)
	service := startService(t, func(c *app.Config) { c.AllowedImages = []string{"registry.k8s.io/external-dns/", "registry.example/"} })
	c, err := client.New(service.url, client.Options{})
	require.NoError(t, err)
	send := func(method, path, body string) *client.Response {
		t.Helper()
		answer, err := c.Do(t.Context(), method, path, strings.NewReader(body), nil)
		require.NoError(t, err, "%s %s", path, body)
		return answer
	}
	const cloud, group = "projects/shop/logical-clouds/eu", "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	send("PUT", "projects/shop", `{"metadata":{"name":"shop"}}`)
	send("PUT", "cluster-providers/edge", `{"metadata":{"name":"edge"}}`)
	send("PUT", "cluster-providers/edge/clusters/hub", `{"metadata":{"name":"hub"},"spec":{"kubeconfig":"`+base64.StdEncoding.EncodeToString([]byte(aKubeconfig))+`"}}`)
	send("PUT", cloud, `{"metadata":{"name":"eu"},"spec":{"namespace":"shop"}}`)
	send("PUT", cloud+"/cluster-references/hub", `{"metadata":{"name":"hub"},"spec":{"clusterProvider":"edge","cluster":"hub"}}`)
	send("PUT", "projects/shop/composite-apps/store/v1", `{"metadata":{"name":"store"},"spec":{"compositeAppVersion":"v1"}}`)
	send("PUT", group, `{"metadata":{"name":"prod"},"spec":{"logicalCloud":"eu","apps":[{"name":"web"}]}}`)
	send("PUT", group+"/traffic-group-intents/front", `{"metadata":{"name":"front"}}`)
	for n, spec := range specs {
		record := fmt.Sprintf("r%d", n)
		stored := send("PUT", "projects/shop/dns-update-records/"+record, `{"metadata":{"name":"`+record+`"},"spec":`+spec[1]+`}`)
		require.Equal(t, http.StatusCreated, stored.StatusCode)
		require.Contains(t, string(stored.Body), `"warnings":[]`, spec[1])
		send("PUT", cloud+"/kv-pairs/dns-update-record-list", `{"metadata":{"name":"dns-update-record-list"},"spec":{"kv":[{"key1":"`+record+`"}]}}`)
		send("PUT", group+"/traffic-group-intents/front/dns-intents/www",
			`{"metadata":{"name":"www"},"spec":{"app":"web","serviceName":"web","hostnames":["www.shop.example"],"records":["`+record+`"]}}`)
		require.Contains(t, string(send("POST", group+"/plan", "{}").Body), `"errors":[]`, spec[1])
	}
}
