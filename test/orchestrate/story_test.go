package orchestrate

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// TestANameOfAnAppThatEMCODeploysResolves is the main story: Signpost is
// registered with an EMCO that has its own orchestrator, rsync and files, and
// names come, follow addresses, updates and rollbacks, and go with the app.
func TestANameOfAnAppThatEMCODeploysResolves(t *testing.T) {
	t.Parallel()
	const host = "www.shop.corp.example"
	s := newSite(t)
	s.opens()
	s.introduce(host)
	s.answers(host) // intents alone change nothing

	first, err := s.Instantiate(t.Context(), prod())
	require.NoError(t, err)
	require.NoError(t, s.EventError())
	s.settles()
	s.podsHave(fixture.Paris, `{"options":[{"name":"ndots","value":"2"}],"searches":["lab.example"]}`)
	s.podsHave(fixture.Berlin, `{"options":[{"name":"ndots","value":"2"}],"searches":["lab.example"]}`)
	s.gives(fixture.Paris, parisAddress)
	s.answers(host, parisAddress)
	s.gives(fixture.Berlin, berlinAddress)
	s.answers(host, parisAddress, berlinAddress)
	s.namesOneChild(first)
	s.says("Instantiated", first)
	s.away(func() { s.gives(fixture.Paris, otherAddress) })
	s.answers(host, berlinAddress, otherAddress)

	second := s.updates(first)
	s.answers(host, otherAddress)
	s.namesOneChild(second)
	s.childless(first)

	require.NoError(t, s.Rollback(t.Context(), prod(), 1))
	require.NoError(t, s.EventError())
	s.settles()
	s.gives(fixture.Berlin, berlinAddress)
	s.answers(host, berlinAddress, otherAddress)
	s.namesOneChild(first)

	require.NoError(t, s.Terminate(t.Context(), prod()))
	s.settles()
	s.answers(host)
	s.leavesNothing()
	require.NoError(t, s.DeleteContexts(t.Context(), prod()))
}

// TestTheFilesInDeployDoTheStory: what deploy/emco has, with other addresses in
// it, needs no further hand.
func TestTheFilesInDeployDoTheStory(t *testing.T) {
	t.Parallel()
	const host = "www.lab.example"
	s := newSite(t)
	s.opens()
	files := t.TempDir()
	for _, name := range []string{"install/controller", "group", "instantiate", "intents", "records"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "emco", name+".yaml"))
		require.NoError(t, err)
		mended := strings.NewReplacer("host: signpost.signpost", "host: 127.0.0.1", "port: 9048", fmt.Sprintf("port: %d", s.grpcPort),
			"http://etcd.dns.svc:2379", s.fixture.Etcd.URL, "  deployOn:\n", "  releaseTimeout: 40s\n  deployOn:\n").Replace(string(text))
		require.NoError(t, os.MkdirAll(filepath.Join(files, "install"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(files, name+".yaml"), []byte(mended), 0o600))
	}
	with := func(command, files string) string {
		return s.command(command, "--server", s.url(), "--orchestrator", s.Orchestrator.URL, "--dcm", s.DCM.URL, "-f", files)
	}
	with("apply", filepath.Join(files, "install"))
	with("apply", files)
	require.NoError(t, s.EventError())
	s.settles()
	s.gives(fixture.Paris, parisAddress)
	s.gives(fixture.Berlin, berlinAddress)
	s.answers(host, parisAddress, berlinAddress)
	s.prints(with("apply", files), "unchanged")

	require.Contains(t, with("delete", files), "terminated projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/instantiate\n")
	s.answers(host)
	s.leavesNothing()
	s.prints(with("delete", files), "absent")
	require.Contains(t, with("apply", filepath.Join(files, "install")), "unchanged controllers/signpost\n", "other groups use it")
}

// prints expects a command to have printed one word for all documents.
func (s *site) prints(output, word string) {
	s.Helper()
	for line := range strings.Lines(output) {
		require.Equal(s, word, strings.Fields(line)[0], "%s", output)
	}
}

// says expects the group's status to have a state, and EMCO's context with what
// rsync says of it.
func (s *site) says(state, appContext string) {
	s.Helper()
	eventually(s.T, "the status to say "+state, func() error {
		answer, err := s.signpost.Do(s.Context(), http.MethodGet, "/v2/"+groupPath+"/status", "")
		if err != nil {
			return err
		}
		var now struct {
			State      string
			AppContext struct{ ID, State string }
		}
		if err := answer.JSON(&now); err != nil {
			return err
		}
		if now.State != state || now.AppContext.ID != appContext || now.AppContext.State != "Instantiated" {
			err = fmt.Errorf("it is %s", answer.Body)
		}
		return err
	})
}

// away has something happen while Signpost is killed.
func (s *site) away(happens func()) {
	s.Helper()
	s.signpost.Kill()
	happens()
	require.NoError(s, s.etcd.EndLeases(s.Context())) // as their time does
	require.NoError(s, s.signpost.Start(s.Context()))
}

// updates has EMCO update the group to a context without berlin, whose Service
// has another port.
func (s *site) updates(first string) (second string) {
	s.Helper()
	s.SetApp(prod(), "web", file(s.T, "web.yaml", "port: 443", "port: 8443"))
	s.place(`[{"clusterProvider":"edge","cluster":"paris"}]`)
	second, err := s.Update(s.Context(), prod())
	require.NoError(s, err)
	require.NoError(s, s.EventError())
	require.NotEqual(s, first, second)
	s.settles()
	state, err := s.Rsync.State(s.Context(), second)
	require.NoError(s, err)
	require.Equal(s, "Instantiated", state)
	return second
}

// podsHave expects the pods of the app in a cluster to have DNS settings.
func (s *site) podsHave(cluster, want string) {
	s.Helper()
	web, err := s.fixture.Cluster(cluster).Get(s.Context(), deployment(), "shop", "web")
	require.NoError(s, err)
	pod, _, err := unstructured.NestedMap(web.Object, "spec", "template", "spec")
	require.NoError(s, err)
	require.Equal(s, "ClusterFirst", pod["dnsPolicy"])
	require.JSONEq(s, want, string(jsonOf(s.T, pod["dnsConfig"])))
}

// namesOneChild waits until the meta of a context names one child, which is a
// context that knows the same logical cloud.
func (s *site) namesOneChild(id string) {
	s.Helper()
	eventually(s.T, "a child of "+id, func() error {
		children, err := s.children(id)
		if err == nil && len(children) != 1 {
			err = fmt.Errorf("they are %v", children)
		}
		if err != nil {
			return err
		}
		keys, err := s.Keys(s.Context(), children[0])
		if err == nil && !strings.Contains(keys["/context/"+children[0]+"/meta/"], `"Namespace":"shop","Level":"1"`) {
			err = errors.New(keys["/context/"+children[0]+"/meta/"])
		}
		return err
	})
}

// childless waits until the meta of a context names no child.
func (s *site) childless(id string) {
	s.Helper()
	eventually(s.T, "no child of "+id, func() error {
		children, err := s.children(id)
		if err == nil && len(children) > 0 {
			err = fmt.Errorf("they are %v", children)
		}
		return err
	})
}

// children are those that the meta of a context names.
func (s *site) children(id string) ([]string, error) {
	keys, err := s.Keys(s.Context(), id)
	if err != nil {
		return nil, err
	}
	return childrenIn(keys["/context/"+id+"/meta/"])
}

// place replaces the clusters of the app.
func (s *site) place(allOf string) {
	s.Helper()
	s.put(s.Orchestrator.URL+"/v2/projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/generic-placement-intents/everywhere/app-intents/web",
		`{"metadata":{"name":"web"},"spec":{"app":"web","intent":{"allOf":`+allOf+`}}}`)
}
