// Package e2e tells Signpost's stories on real parts: kube-apiservers,
// external-dns, CoreDNS, BIND, etcd, and Signpost itself as a process. Each
// file has the stories of one subject, to be read from top to bottom.
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// suite is what the stories of one run share, made when first needed.
type suite struct {
	dir string // of the program

	buildOnce sync.Once
	program   string
	buildErr  error

	worldOnce sync.Once
	world     *fixture.Fixture
	worldErr  error
}

// shared is the suite of this run.
var shared suite

func TestMain(m *testing.M) { os.Exit(shared.run(m)) }

// run runs the tests and cleans up after them.
func (s *suite) run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "signpost-e2e-program-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s.dir = dir
	if err := sideBySide(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	noted := os.Getenv(fixture.RightsVariable)
	if noted == "" {
		noted = filepath.Join(dir, "rights")
		if err := os.Setenv(fixture.RightsVariable, noted); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	status := m.Run()
	if s.world != nil {
		s.world.Close()
	}
	return max(status, s.judge(noted))
}

// judge has each right of the manifests used by some story, if all are told.
func (s *suite) judge(noted string) int {
	if sample.Cases(0, 0, 1) == 0 || flag.Lookup("test.run").Value.String() != "" {
		return 0
	}
	used, err := fixture.UsedRights(noted)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if left := unused(used); len(left) > 0 {
		fmt.Fprintln(os.Stderr, complain(left))
		return 1
	}
	return 0
}

// sideBySide has several stories told at once, however few processors there
// are: they spend their time waiting for external-dns. A -parallel on the
// command line is heard.
func sideBySide() error {
	const stories = "6"
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", stories)
}

// signpost is the path of the program, built at the first call.
func signpost(t *testing.T) string {
	t.Helper()
	shared.buildOnce.Do(func() {
		shared.program, shared.buildErr = fixture.Build(context.Background(), shared.dir)
	})
	if shared.buildErr != nil {
		t.Fatal(shared.buildErr)
	}
	return shared.program
}

// sharedWorld is a world with all three clusters. A story on it keeps to its
// own project, namespaces and names, and stops no cluster.
func sharedWorld(t *testing.T) *fixture.Fixture {
	t.Helper()
	shared.worldOnce.Do(func() {
		shared.world, shared.worldErr = fixture.Start(context.Background(), fixture.Hub, fixture.Paris, fixture.Berlin)
	})
	if shared.worldErr != nil {
		t.Fatal(shared.worldErr)
	}
	return shared.world
}

// ownWorld is a world for one story, which may stop its clusters and touch
// what belongs to a whole cluster.
func ownWorld(t *testing.T) *fixture.Fixture {
	t.Helper()
	return fixture.New(t, fixture.Hub, fixture.Paris, fixture.Berlin)
}
