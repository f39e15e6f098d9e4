package connections

import (
	"context"
	"errors"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/directory"
)

// Preflight asks a cluster whether Signpost could manage it. A cluster that
// cannot be reached is no error, but an answer.
func (c *Pool) Preflight(ctx context.Context, path intent.Path) (intent.Preflight, error) {
	name := clusterName(path)
	spec, now, err := c.read(ctx, name)
	if err != nil {
		return intent.Preflight{}, err
	}
	abandoned, err := c.Identities.Ledger.Abandoned(ctx, name)
	if err != nil {
		return intent.Preflight{}, err
	}
	switch {
	case abandoned != nil && abandoned.UID == now.uid:
		return intent.Preflight{Checks: []intent.Check{{
			Name: "is served", Message: "it is abandoned, so it was not asked: delete its document and register it again",
		}}}, nil
	case spec.Directory != "":
		if err := c.alone(ctx); err != nil {
			return refused("has its directory", err), nil
		}
		target, err := directory.NewDirectory(c.root, spec.Directory, c.options)
		if err != nil {
			return refused("has its directory", err), nil
		}
		defer target.Close()
		return recognized(ctx, c.claimed(target, name, directorySource(spec)), target.Preflight(ctx)), nil
	case spec.KubeconfigRef == "":
		return intent.Preflight{Checks: []intent.Check{{
			Name: "has a kubeconfig or a directory", Message: "it is inventory only: set /spec/kubeconfig or /spec/directory for Signpost to push to it",
		}}}, nil
	}
	target, source, err := c.kubernetes(ctx, name, spec)
	if err != nil {
		return refused("has a kubeconfig that can be used", err), nil
	}
	defer target.Close()
	namespaces, err := c.namespaces(ctx, path, spec)
	if err != nil {
		return intent.Preflight{}, err
	}
	return recognized(ctx, c.claimed(target, name, source), target.Preflight(ctx, spec, namespaces)), nil
}

// recognized adds to a report whether the cluster that answered is the one that
// its name stands for.
func recognized(ctx context.Context, target cluster.Target, report intent.Preflight) intent.Preflight {
	if !report.Reachable {
		return report
	}
	same, once := intent.Check{Name: "is the cluster that it was", OK: true}, intent.Check{Name: "is registered once", OK: true}
	_, err := target.Identity(ctx)
	var refusal *ledger.Refusal
	switch {
	case errors.As(err, &refusal) && refusal.Double():
		once.OK, once.Message = false, err.Error()
	case err != nil:
		same.OK, same.Message = false, err.Error()
	}
	report.Checks = append(report.Checks, same, once)
	return report
}

func refused(check string, err error) intent.Preflight {
	return intent.Preflight{Checks: []intent.Check{{Name: check, Message: err.Error()}}}
}

// namespaces are those of the projects that are named as allowed on the
// cluster, else of those that use it: Signpost's own objects go there.
func (c *Pool) namespaces(ctx context.Context, path intent.Path, spec intent.Cluster) ([]string, error) {
	projects := slices.Clone(spec.Projects)
	if len(projects) == 0 {
		users, err := c.documents.Referrers(ctx, path)
		if err != nil {
			return nil, err
		}
		for _, user := range users {
			projects = append(projects, user.Segment("projects"))
		}
	}
	var namespaces []string
	slices.Sort(projects)
	for _, project := range slices.Compact(projects) {
		doc, err := c.documents.Get(ctx, intent.Join("projects", project))
		if project == "" || intent.CodeOf(err) == intent.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		resource, err := intent.Of[intent.Project](doc)
		if err != nil {
			return nil, err
		}
		namespaces = append(namespaces, resource.Spec.Namespace)
	}
	return namespaces, nil
}

// clusterName is the cluster of a document's path, as one word.
func clusterName(path intent.Path) string {
	return intent.ClusterOf(path).String()
}
