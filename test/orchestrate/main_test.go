package orchestrate

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/wait"
	"github.com/signpost-dns/signpost/test/emco"
)

// patience is how long anything may take on a busy machine.
const patience = 90 * time.Second

// suite is what the tests of one run share.
type suite struct {
	dir string // of the program

	once    sync.Once
	program string
	err     error
}

// shared is the suite of this run.
var shared suite

func TestMain(m *testing.M) { os.Exit(shared.run(m)) }

func (s *suite) run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "signpost-orchestrate-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s.dir = dir
	if err := sideBySide(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// sideBySide has several tests run at once, however few processors there are:
// they spend their time waiting. A -parallel on the command line is heard.
func sideBySide() error {
	const tests = "4"
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", tests)
}

// program is the path of signpost, built at the first call.
func program(t *testing.T) string {
	t.Helper()
	shared.once.Do(func() { shared.program, shared.err = fixture.Build(context.Background(), shared.dir) })
	require.NoError(t, shared.err)
	return shared.program
}

// serve prepares a Signpost with these arguments. Its log is shown if the test
// fails, and is a failure itself if it tells of a crash or a race.
func serve(t *testing.T, dir string, args ...string) *fixture.Signpost {
	t.Helper()
	server, err := fixture.NewSignpost(program(t), dir, args...)
	require.NoError(t, err)
	t.Cleanup(func() {
		server.Kill()
		log, _ := os.ReadFile(server.Log) // none if it never ran
		for _, mark := range []string{"WARNING: DATA RACE", "panic: ", "fatal error: "} {
			if strings.Contains(string(log), mark) {
				t.Errorf("Signpost's log has %q", mark)
			}
		}
		if t.Failed() {
			t.Log(server.Tail(60))
		}
	})
	return server
}

// file is the text of a file of testdata with replacements.
func file(t *testing.T, name string, replacements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return strings.NewReplacer(replacements...).Replace(string(text))
}

// eventually waits until check succeeds.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	wait.For(t, patience, what, check)
}

// said is the error of a call that was answered with no.
func said(answer emco.Answer, err error) error {
	if err == nil && !answer.OK {
		err = errors.New(answer.Message)
	}
	return err
}

// prod is the group of testdata.
func prod() emco.DIG {
	return emco.DIG{Project: "shop", CompositeApp: "store", Version: "v1", Name: "prod"}
}

// hostsIn are the names with their targets in a DNSEndpoint; none in any other
// object.
func hostsIn(object *unstructured.Unstructured) []string {
	if object.GetKind() != fixture.EndpointKind().Kind {
		return nil
	}
	endpoints, _, _ := unstructured.NestedSlice(object.Object, "spec", "endpoints")
	var hosts []string
	for _, e := range endpoints {
		endpoint, _ := e.(map[string]any)
		hosts = append(hosts, fmt.Sprint(endpoint["dnsName"], endpoint["targets"]))
	}
	return hosts
}

func jsonOf(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return text
}

// childrenIn are the children that a context's meta names.
func childrenIn(meta string) ([]string, error) {
	var known struct{ ChildContextIDs []string }
	err := json.Unmarshal([]byte(meta), &known)
	return known.ChildContextIDs, err
}
