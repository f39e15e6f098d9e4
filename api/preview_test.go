package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const previewPath = "/v2/projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/traffic-group-intents/front/pod-dns-intents/preview"

// TestPreviewOfPodDNS: body and answer are the contract's.
func TestPreviewOfPodDNS(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("PodDNSIntent")
	const question = `{"spec":{"dnsPolicy":"ClusterFirst","dnsConfig":{"options":[{"name":"ndots","value":1}]}},
		"hostResolvConf":"nameserver 10.1.1.10\nsearch foo.com\noptions ndots:1\n","namespace":"default","clusterDomain":"cluster.local","clusterDNS":"10.0.0.10"`
	const resolvConf = `"resolvConf":"nameserver 10.0.0.10\nsearch default.svc.cluster.local svc.cluster.local cluster.local foo.com\noptions ndots:1\n"`
	for _, path := range []string{previewPath, strings.Replace(previewPath, "/projects/", "/project/", 1) + "/"} {
		got := w.send("POST", path, question+`}`).want(http.StatusOK)
		require.JSONEq(t, `{`+resolvConf+`,"warnings":[]}`, got.Body.String(), "warnings is never null")
	}
	got := w.send("POST", previewPath, question+`,"name":"web.example."}`).want(http.StatusOK)
	require.JSONEq(t, `{`+resolvConf+`,"queries":{"before":["web.example. A","web.example. AAAA"],"after":["web.example. A","web.example. AAAA"]},"warnings":[]}`, got.Body.String())
}

// TestAnAnswerIsShortHoweverMuchIsWrong: of a body as large as is taken, and of
// one that the schema lets pass.
func TestAnAnswerIsShortHoweverMuchIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("PodDNSIntent")
	many := func(n int, what string) string { return strings.TrimSuffix(strings.Repeat(what+",", n), ",") }
	for config, says := range map[string]string{
		`"options":[` + many(60_000, `{"name":"x"}`) + `]`:                                                     "/spec/dnsConfig/options: must have at most 100 items",
		`"options":[` + many(5_000, `{}`) + `]`:                                                                "has more errors than are told here",
		`"options":[` + many(100, `{"name":"x","value":"y z"}`) + `],"nameservers":[` + many(100, `"z"`) + `]`: " and 101 more",
		`"nameservers":[` + many(101, `"192.0.2.1"`) + `]`:                                                     "/spec/dnsConfig/nameservers: must have at most 100 items",
		`"searches":[` + many(101, `"a"`) + `]`:                                                                "/spec/dnsConfig/searches: must have at most 100 items",
		`"search":[` + many(101, `"a"`) + `]`:                                                                  "/spec/dnsConfig/search: must have at most 100 items",
	} {
		spec := `{"app":"web","dnsPolicy":"Default","dnsConfig":{` + config + `}}`
		for path, body := range map[string]string{previewPath: `{"spec":` + spec + `}`, podDNSPath: `{"metadata":{"name":"x"},"spec":` + spec + `}`} {
			problem := w.send("POST", path, body).want(http.StatusBadRequest).problem()
			require.Contains(t, problem, says)
			require.Less(t, len(problem), 40_000)
		}
	}
}

func TestBadPreviews(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("PodDNSIntent")
	for body, problem := range map[string]string{
		`{"spec":{"dnsPolicy":"Default"},"name":""}`:                   "/name: must be a name of at most 1024 characters, or leave it out",
		`{"spec":{"dnsPolicy":"Default"},"clusterDNS":"10.0.0.10:53"}`: "/clusterDNS: \"10.0.0.10:53\" has a port, which resolv.conf cannot hold: the port is always 53; give 10.0.0.10",
		`{"spec":{"dnsPolicy":"Default"},"clusterDNS":"[fd00::a]"}`:    "/clusterDNS: \"[fd00::a]\" has brackets, which resolv.conf cannot hold; give fd00::a",
		`{"spec":{"dnsPolicy":"Default"},"clusterDns":"10.0.0.10"}`:    "clusterDNS",
		`{"spec":{}}`: "/spec/dnsPolicy",
		`{"spec":{"dnsPolicy":"ClusterFirst","dnsConfig":[{"options":[{"name":"ndots"},{"value":1}]}]}}`:         `/spec/dnsConfig: must be an object as in {"options":[{"name":"ndots","value":"1"}]}, not a list`,
		`{"spec":{"app":"none","dnsPolicy":"Default"}}`:                                                          "/spec/app: \"none\" is not an app of",
		`{"spec":{"dnsPolicy":"Default"},"hostResolvConf":"` + strings.Repeat("x", 65537) + `"}`:                 "/hostResolvConf",
		`{"spec":{"dnsPolicy":"Default","dnsConfig":{"nameservers":["1.2.3.4","1.2.3.5","1.2.3.6","1.2.3.7"]}}}`: "/spec/dnsConfig/nameservers: has 4",
	} {
		require.Contains(t, w.send("POST", previewPath, body).want(http.StatusBadRequest).problem(), problem, body)
	}
	w.send("POST", strings.Replace(previewPath, "front", "none", 1), `{"spec":{"dnsPolicy":"Default"}}`).want(http.StatusNotFound)
	w.send("GET", previewPath, nil).want(http.StatusMethodNotAllowed)
}
