package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/kube"
)

// TestANameResolvesThroughADirectoryThatAnotherToolApplies: Signpost may write nowhere but
// into a directory, and reads addresses in the edges. Somebody applies the files to the hub
// and prunes objects whose files are gone, as Flux and Argo CD do. docs/gitops.md tells it.
func TestANameResolvesThroughADirectoryThatAnotherToolApplies(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s := begin(t, sharedWorld(t), "gitops", "--directory-root="+root)
	s.loadBalancers()
	s.post("/v2/cluster-providers/edge/clusters", `{"metadata": {"name": "hub-git"}, "spec": {"directory": "clusters/hub", "uses": ["home"]}}`)
	s.post("/v2/projects/{p}/dns-update-records", `{
		"metadata": {"name": "lab"},
		"spec": {
			"provider": "coredns", "environment": {"ETCD_URLS": "{etcd}"}, "releaseTimeout": "`+shortRelease+`",
			"deployOn": {"clusterProvider": "edge", "cluster": "hub-git"},
			"external-dns-parameters": {"interval": "5s", "policy": "sync", "domain-filter": ["{zone}"]}
		}
	}`)
	s.cloud(edges(), "lab")
	s.app()
	s.names(s.group("prod"), "www", "www.{zone}")
	s.instantiate(prod)

	tool := &applier{dir: filepath.Join(root, "clusters/hub"), hub: s.world.Cluster(fixture.Hub), applied: map[string]*unstructured.Unstructured{}}
	reconciled := func(want ...string) {
		s.eventually(fmt.Sprintf("www to answer %v", want), func() error {
			return errors.Join(tool.reconcile(t), s.answering("www.{zone}", want...))
		})
	}
	reconciled(parisAddress, berlinAddress)
	s.must(s.world.Cluster(fixture.Paris).SetLoadBalancer(t.Context(), s.project, "web", otherAddress))
	reconciled(berlinAddress, otherAddress)
	s.terminate(prod)
	reconciled()
}

// applier brings the objects of a cluster to the files of a directory.
type applier struct {
	dir     string
	hub     *kube.Server
	applied map[string]*unstructured.Unstructured // by file
}

// reconcile applies all files, and deletes the objects of those that are gone. An error is
// no more than a reason to try again, as when a kind is not known yet.
func (a *applier) reconcile(t *testing.T) error {
	t.Helper()
	there := map[string]bool{}
	err := filepath.WalkDir(a.dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(file) != ".yaml" {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		objects, err := kube.Parse(string(content))
		if err != nil || len(objects) != 1 {
			return fmt.Errorf("%s has %d objects: %w", file, len(objects), err)
		}
		there[file] = true
		if err := a.hub.Apply(t.Context(), string(content)); err != nil {
			return nil //nolint:nilerr // the next round applies it
		}
		a.applied[file] = objects[0]
		return nil
	})
	for file, object := range a.applied {
		if !there[file] {
			if deleted := a.hub.Delete(t.Context(), object.GroupVersionKind(), object.GetNamespace(), object.GetName()); deleted != nil {
				return deleted
			}
			delete(a.applied, file)
		}
	}
	return err
}
