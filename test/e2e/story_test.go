package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

const (
	// patience is how long anything may take on a busy machine.
	patience = 2 * time.Minute
	// interval is the one of the external-dns that the stories ask for.
	interval = 5 * time.Second
)

// The addresses that the clouds give.
const (
	parisAddress  = "203.0.113.10"
	berlinAddress = "203.0.113.20"
	otherAddress  = "203.0.113.99"
)

// story is one story: a Signpost of its own that knows the clusters of a
// world, and a project. In paths and bodies these words are filled in:
//
//	{p}       the project, which also names the namespace of the apps
//	{zone}    a part of the zone of CoreDNS for this story alone
//	{corp}    a part of the zone of BIND for this story alone
//	{etcd}    the URL of the etcd that CoreDNS answers from
//	{port}    the port of BIND
//	{tsig}    the secret of BIND's key
//	{dig}     the path of the deployment intent group prod
type story struct {
	*testing.T

	world    *fixture.Fixture
	signpost *fixture.Signpost
	project  string
	words    *strings.Replacer
}

// begin starts a Signpost with these further arguments and introduces the
// clusters and a project.
func begin(t *testing.T, world *fixture.Fixture, project string, args ...string) *story {
	t.Helper()
	s := beginEmpty(t, world, project, args...)
	s.post("/v2/cluster-providers", `{"metadata": {"name": "edge"}, "spec": {}}`)
	for _, name := range []string{fixture.Hub, fixture.Paris, fixture.Berlin} {
		s.post("/v2/cluster-providers/edge/clusters", s.registration(name, name))
	}
	s.post("/v2/projects", `{"metadata": {"name": "{p}"}}`)
	return s
}

// beginEmpty starts a Signpost that has no document.
func beginEmpty(t *testing.T, world *fixture.Fixture, project string, args ...string) *story {
	t.Helper()
	dir, err := os.MkdirTemp(world.Dir, "signpost-"+project+"-") //nolint:usetesting // it is kept where the world is kept
	if err != nil {
		t.Fatal(err)
	}
	server, err := fixture.NewSignpost(signpost(t), dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	s := &story{T: t, world: world, signpost: server, project: project, words: words(world, project, project)}
	t.Cleanup(s.end)
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// words are those of a project whose zones are another's, or its own.
func words(world *fixture.Fixture, project, zones string) *strings.Replacer {
	return strings.NewReplacer("{p}", project,
		"{zone}", zones+"."+dns.CoreDNSZone, "{corp}", zones+"."+dns.BINDZone,
		"{etcd}", world.Etcd.URL, "{port}", strconv.Itoa(world.BIND.Port), "{tsig}", world.BIND.Secret,
		"{dig}", "/v2/projects/"+project+"/composite-apps/store/v1/deployment-intent-groups/prod")
}

// rival is the same story as another project tells it, with the same zones.
func (s *story) rival(project string) *story {
	s.Helper()
	r := *s
	r.project, r.words = project, words(s.world, project, s.project)
	r.post("/v2/projects", `{"metadata": {"name": "{p}"}}`)
	return &r
}

// registration is the document of a name that leads to a cluster.
func (s *story) registration(name, cluster string) string {
	s.Helper()
	kubeconfig, err := s.world.Cluster(cluster).Kubeconfig(kube.Signpost)
	s.must(err)
	return fmt.Sprintf(`{"metadata": {"name": %q}, "spec": {"kubeconfig": %q}}`, name, base64.StdEncoding.EncodeToString(kubeconfig))
}

// end ends the story's Signpost, and shows the logs if the story failed. What
// the race detector or a crash left in the log is a failure, too.
func (s *story) end() {
	s.signpost.Kill()
	log, err := os.ReadFile(s.signpost.Log)
	for _, mark := range []string{"WARNING: DATA RACE", "panic: ", "fatal error: "} {
		if strings.Contains(string(log), mark) {
			s.Errorf("Signpost's log has %q:\n%s", mark, log)
		}
	}
	if s.Failed() || err != nil {
		s.Log(s.signpostLog())
		s.Log(s.world.Logs(s.namespace(), 20))
	}
}

// signpostLog is the end of the server's log, without the requests of those
// who wait.
func (s *story) signpostLog() string {
	var kept []string
	for _, line := range strings.Split(s.signpost.Tail(2000), "\n") {
		if !strings.Contains(line, "method=GET") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept[max(0, len(kept)-60):], "\n")
}

// namespace is the one of the project, where external-dns lives.
func (s *story) namespace() string { return "signpost-" + s.project }

// post makes a resource.
func (s *story) post(path, body string) {
	s.Helper()
	s.call(http.MethodPost, path, body, http.StatusCreated)
}

// put replaces a resource.
func (s *story) put(path, body string) {
	s.Helper()
	s.call(http.MethodPut, path, body, http.StatusOK)
}

// putJSON replaces a resource by what v encodes to.
func (s *story) putJSON(path string, v any) {
	s.Helper()
	raw, err := json.Marshal(v)
	s.must(err)
	s.put(path, string(raw))
}

// remove deletes a resource.
func (s *story) remove(path string) {
	s.Helper()
	s.call(http.MethodDelete, path, "", http.StatusNoContent)
}

// instantiate, update and terminate act on a deployment intent group.
func (s *story) instantiate(dig string) {
	s.Helper()
	s.call(http.MethodPost, dig+"/instantiate", "", http.StatusAccepted)
}

func (s *story) update(dig string) {
	s.Helper()
	s.call(http.MethodPost, dig+"/update", "", http.StatusAccepted)
}

func (s *story) terminate(dig string) {
	s.Helper()
	s.call(http.MethodPost, dig+"/terminate", "", http.StatusAccepted)
}

// call expects one status; any other fails the story.
func (s *story) call(method, path, body string, want int) fixture.Answer {
	s.Helper()
	answer, err := s.signpost.Do(s.Context(), method, s.words.Replace(path), s.words.Replace(body))
	if err == nil && answer.Status != want {
		err = answer.Unexpected(want)
	}
	if err != nil {
		s.Fatal(err)
	}
	return answer
}

// get reads a resource into v. Its errors are for those who wait.
func (s *story) get(path string, v any) error {
	answer, err := s.signpost.Do(s.Context(), http.MethodGet, s.words.Replace(path), "")
	if err != nil {
		return err
	}
	if answer.Status != http.StatusOK {
		return answer.Unexpected(http.StatusOK)
	}
	return answer.JSON(v)
}

// eventually waits until check succeeds.
func (s *story) eventually(what string, check func() error) {
	s.Helper()
	wait.For(s.T, patience, s.words.Replace(what), check)
}

// throughout looks for several of external-dns' intervals that check succeeds.
func (s *story) throughout(what string, check func() error) {
	s.Helper()
	wait.Always(s.T, 3*interval, s.words.Replace(what), check)
}

// must fails the story on an error of the world.
func (s *story) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}
