package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const lintPath = "/v2/corefile/lint"

func TestLintAnswersTheFindings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.send(http.MethodPost, lintPath, `{"corefile":".:53 {\n whoami\n}\n"}`).want(http.StatusOK)
	require.JSONEq(t, `{"findings":[]}`, got.Body.String())
	require.Equal(t, ".:53 {\n whoami\n}\n", w.corefiles.asked)
	w.corefiles.findings = []corefile.Finding{{Line: 3, Severity: corefile.Error, Message: "no"}, {Line: 0, Severity: corefile.Warning, Message: "perhaps"}}
	got = w.send(http.MethodPost, lintPath+"/", `{"corefile":""}`).want(http.StatusOK)
	require.JSONEq(t, `{"findings":[{"line":3,"severity":"error","message":"no"},{"line":0,"severity":"warning","message":"perhaps"}]}`, got.Body.String())
}

func TestLintOfWhatIsNoCorefile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, one := range []struct{ body, pointer string }{
		{`{}`, "/corefile: "},
		{`{"corefile":null}`, "/corefile: "},
		{`{"corefile":["x"]}`, "/corefile: "},
		{`{"corefile":"x","import":true}`, "/import: "},
		{`"x"`, ": must be a JSON object"},
	} {
		require.Contains(t, w.send(http.MethodPost, lintPath, one.body).want(http.StatusBadRequest).problem(), one.pointer, one.body)
	}
	w.send(http.MethodPost, lintPath, fmt.Sprintf(`{"corefile":%q}`, strings.Repeat("x", 1<<20))).want(http.StatusRequestEntityTooLarge)
	w.send(http.MethodGet, lintPath, nil).want(http.StatusMethodNotAllowed)
}

func TestLintSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.corefiles.err = &intent.Error{Code: intent.Conflict, Detail: "there is no signpost-dns"}
	require.Equal(t, "there is no signpost-dns", w.send(http.MethodPost, lintPath, `{"corefile":""}`).want(http.StatusConflict).problem())
	w.corefiles.err = &intent.Error{Code: intent.Unavailable, Detail: "try again"}
	require.Equal(t, "1", w.send(http.MethodPost, lintPath, `{"corefile":""}`).want(http.StatusServiceUnavailable).Header().Get("Retry-After"))
	w.corefiles.err = context.DeadlineExceeded
	w.send(http.MethodPost, lintPath, `{"corefile":""}`).want(http.StatusServiceUnavailable)
}

const (
	resolvers = "/v2/projects/shop/logical-clouds/eu/dns-cr-intents/resolvers"
	tracePath = resolvers + "/trace"
)

func TestTraceAnswersTheWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	w.corefiles.way = corefile.Way{Server: "a.foo.com:5353", Plugin: "forward", Upstreams: []string{"1.2.3.4:53"}, Policy: "round_robin", Why: []string{"because"}}
	got := w.send(http.MethodPost, tracePath, `{"name":"www.a.foo.com","type":"A"}`).want(http.StatusOK)
	require.JSONEq(t, `{"server":"a.foo.com:5353","plugin":"forward","upstreams":["1.2.3.4:53"],"policy":"round_robin","why":["because"]}`, got.Body.String())

	w.corefiles.way = corefile.Way{Server: ".:5353", Plugin: "kubernetes", Why: []string{"it is the cluster's"}}
	got = w.send(http.MethodPost, tracePath+"/", `{"name":"KUBERNETES.default.svc.cluster.local."}`).want(http.StatusOK)
	require.JSONEq(t, `{"server":".:5353","plugin":"kubernetes","upstreams":[],"why":["it is the cluster's"]}`, got.Body.String())
}

func TestTraceAsksForTheCanonicalNameAndTypeA(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	const owner = "projects/shop/logical-clouds/eu/dns-cr-intents/resolvers "
	for body, want := range map[string]string{
		`{"name":"WWW.a.Foo.com."}`:                              owner + " www.a.foo.com A",
		`{"name":"münchen.example","type":"AAAA"}`:               owner + " xn--mnchen-3ya.example AAAA",
		`{"name":"foo.com","type":"DS","cluster":"edge+berlin"}`: owner + "edge+berlin foo.com DS",
		`{"name":".","type":"NS"}`:                               owner + " . NS",
		`{"name":"_http._tcp.web.shop.svc.local","type":"SRV"}`:  owner + " _http._tcp.web.shop.svc.local SRV",
		`{"name":"5.2.0.192.in-addr.arpa","type":"PTR"}`:         owner + " 5.2.0.192.in-addr.arpa PTR",
	} {
		w.send(http.MethodPost, tracePath, body).want(http.StatusOK)
		require.Equal(t, want, w.corefiles.asked)
	}
}

func TestTraceOfWhatCannotBeAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("")
	for body, says := range map[string]string{
		`{}`:                              "/name: ",
		`{"name":""}`:                     "/name: ",
		`{"name":"a..b"}`:                 `/name: "a..b" has an empty label`,
		`{"name":"a b"}`:                  `/name: "a b" has a label with other characters than letters`,
		`{"name":"a","type":"BOGUS"}`:     "/type: ",
		`{"name":"a","type":""}`:          "/type: ",
		`{"name":"a","cluster":"edge"}`:   "/cluster: must be a cluster as provider+cluster",
		`{"name":"a","server":"1.2.3.4"}`: "/server: ",
		`{"name":["a"]}`:                  "/name: ",
	} {
		require.Contains(t, w.send(http.MethodPost, tracePath, body).want(http.StatusBadRequest).problem(), says, body)
	}
	w.send(http.MethodPost, strings.Replace(tracePath, "resolvers", "others", 1), `{"name":"a"}`).want(http.StatusNotFound)
	w.corefiles.err = &intent.Error{Code: intent.Conflict, Detail: "cannot work on edge+berlin"}
	require.Equal(t, "cannot work on edge+berlin", w.send(http.MethodPost, tracePath, `{"name":"a"}`).want(http.StatusConflict).problem())
}
