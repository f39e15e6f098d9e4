package requests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api/apitest"
	"github.com/signpost-dns/signpost/openapi"
)

func generator(t *testing.T, seed uint64) *Generator {
	doc, err := openapi.Load()
	require.NoError(t, err)
	return New(doc, seed)
}

func TestTheSameSeedMakesTheSameRequests(t *testing.T) {
	one, again, other := generator(t, 7), generator(t, 7), generator(t, 8)
	differ := 0
	for range 2000 {
		r := one.Next()
		require.Equal(t, r, again.Next())
		if r.Target != other.Next().Target {
			differ++
		}
	}
	require.Greater(t, differ, 1000)
}

func TestEveryOperationIsCalledInEveryKind(t *testing.T) {
	g := generator(t, 1)
	checker := apitest.New(t, g.doc)
	kinds := map[string]map[Kind]int{}
	for range 10_000 {
		r := g.Next()
		path, err := r.Path()
		if err != nil {
			continue
		}
		operation := checker.Operation(r.Method, path)
		if operation == nil {
			require.Equal(t, Hostile, r.Kind, "%s %s", r.Method, r.Target)
			continue
		}
		if kinds[operation.OperationID] == nil {
			kinds[operation.OperationID] = map[Kind]int{}
		}
		kinds[operation.OperationID][r.Kind]++
	}
	for _, op := range g.operations {
		made := kinds[op.OperationID]
		require.NotZero(t, made[Valid], op.OperationID)
		require.NotZero(t, made[Hostile], op.OperationID)
		require.Equal(t, op.RequestBody != nil, made[NearlyValid] > 0, op.OperationID)
	}
}

func TestAValidBodyFitsAndAMistakeDoesNot(t *testing.T) {
	g := generator(t, 3)
	for range 5000 {
		op := oneOf(g.Rand, g.operations)
		if op.RequestBody == nil {
			continue
		}
		require.NoError(t, bodyOf(op).VisitJSON(decoded(t, g.valid(op).Body)))
		if r, ok := g.nearlyValid(op); ok {
			require.Error(t, bodyOf(op).VisitJSON(decoded(t, r.Body)), "%s: %s", r.Wrong, r.Body)
			require.NotEmpty(t, r.Wrong)
		}
	}
}

// decoded is a body with its numbers as they are written: some are too large
// for a float64.
func decoded(t *testing.T, body []byte) any {
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	var value any
	require.NoError(t, decoder.Decode(&value))
	return value
}

func TestMakingRequestsLeavesTheDocumentAlone(t *testing.T) {
	g := generator(t, 1)
	before, err := g.doc.MarshalJSON()
	require.NoError(t, err)
	for range 5000 {
		g.Next()
	}
	after, err := g.doc.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

func TestWhatWasMadeIsAskedFor(t *testing.T) {
	g := generator(t, 1)
	g.Remember("/v2/projects/bakery/dns-update-records/bread")
	asked := 0
	for range 5000 {
		if strings.Contains(g.Next().Target, "bakery/dns-update-records/bread") {
			asked++
		}
	}
	require.Greater(t, asked, 50)
}

// TestACurlLineIsTheRequest runs the line with a curl that says what it got.
func TestACurlLineIsTheRequest(t *testing.T) {
	const curl = `curl() { for a; do case $a in @*) printf 'body:'; cat "${a#@}";; *) printf '%s' "$a";; esac; printf '\0'; done; }; `
	g := generator(t, 5)
	for range 200 {
		r := g.Next()
		if len(r.Body) > 50_000 { // too long for a command line
			continue
		}
		said, err := exec.CommandContext(t.Context(), "bash", "-c", curl+r.Curl("http://host")).Output()
		require.NoError(t, err, r.Curl("http://host"))
		words := strings.Split(strings.TrimSuffix(string(said), "\x00"), "\x00")
		require.Equal(t, "http://host"+r.Target, words[len(words)-1])
		require.Contains(t, words, r.Method)
		if strings.Contains(string(r.Body), "\x00") {
			continue // which separates the words
		}
		if r.Body != nil {
			require.Contains(t, words, "body:"+string(r.Body))
		}
		for name, values := range r.Header {
			require.Contains(t, words, name+": "+values[0])
		}
	}
}

// TestTheJudgeNotices shows that it bites.
func TestTheJudgeNotices(t *testing.T) {
	g := generator(t, 1)
	c := &conversation{T: t, generator: g, checker: apitest.New(t, g.doc), statuses: map[string]map[int]int{}}
	get := Request{Kind: Valid, Method: http.MethodGet, Target: "/version?x=%zz"}
	post := Request{Kind: NearlyValid, Method: http.MethodPost, Target: "/v2/projects", Wrong: "/metadata/name"}
	problem := `{"type":"about:blank","title":"x","status":400,"detail":"x","errors":[{"pointer":"/spec","detail":"x"}]}`
	version := `{"version":"1","commit":"2","go":"3"}`
	for reason, seen := range map[string]struct {
		request     Request
		status      int
		media, body string
		want        string
	}{
		"nothing is wrong":        {get, 200, "application/json", version, ""},
		"a 5xx":                   {get, 503, "application/problem+json", problem, "a failure of the server"},
		"an undocumented status":  {get, 418, "application/problem+json", problem, "not documented"},
		"an undocumented field":   {get, 200, "application/json", `{"version":"1","commit":"2","go":"3","x":1}`, "x"},
		"a field too few":         {get, 200, "application/json", `{"version":"1"}`, "commit"},
		"more than one value":     {get, 200, "application/json", version + "{}", "goes on"},
		"another content type":    {get, 200, "text/plain", version, "content type"},
		"no JSON":                 {get, 200, "application/json", "panic", "invalid character"},
		"a header that is needed": {Request{Method: "POST", Target: "/v2/projects"}, 201, "application/json", `{"metadata":{"name":"x"}}`, "is missing"},
		"a path that is not":      {Request{Method: "GET", Target: "/v3"}, 200, "application/json", version, "want 404"},
		"a 405 without Allow":     {Request{Method: "PATCH", Target: "/version"}, 405, "application/problem+json", problem, "Allow"},
		"no HTTP":                 {Request{Method: "GET", Target: "/%zz"}, 404, "text/plain", "", "want 400"},
		"a mistake accepted":      {post, 409, "application/problem+json", problem, "want 400 for the mistake at /metadata/name"},
		"a mistake not named":     {post, 400, "application/problem+json", problem, "the mistake at /metadata/name is not named"},
		"a mistake named":         {post, 400, "application/problem+json", strings.Replace(problem, "/spec", "/metadata/name", 1), ""},
		"a mistake above":         {post, 400, "application/problem+json", strings.Replace(problem, "/spec", "/metadata", 1), ""},
		"a mistake below":         {post, 400, "application/problem+json", strings.Replace(problem, "/spec", "/metadata/name/0", 1), ""},
		"a mistake beside":        {post, 400, "application/problem+json", strings.Replace(problem, "/spec", "/metadata/names", 1), "is not named"},
	} {
		t.Run(reason, func(t *testing.T) {
			got := apitest.Response{Status: seen.status, Header: http.Header{"Content-Type": {seen.media}}, Body: []byte(seen.body)}
			require.Regexp(t, seen.want, fmt.Sprint(c.judge(seen.request, got)))
		})
	}
}
