package release

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// homelessWarnings warn of a record of which nothing says yet where its public
// external-dns is to live: neither itself nor the server, nor each of the logical
// clouds that are associated with it.
func (s *Service) homelessWarnings(ctx context.Context, doc intent.Document, l RecordLifecycle) ([]intent.Warning, error) {
	record, err := intent.Of[intent.Record](doc)
	if err != nil || record.Spec.DeployOn != nil || s.ControllerCluster != nil || l.Deployed && l.Record.UID == doc.UID {
		return nil, err
	}
	users, err := s.Documents.Referrers(ctx, doc.Path)
	if err != nil {
		return nil, err
	}
	where := "no logical cloud with a controllerCluster is associated with the record"
	for _, user := range users {
		cloud := user.Parent()
		if user.Name() != intent.AssociationName {
			continue
		}
		where = "" // of a cluster, that is the home
		if !IsCloud(cloud) {
			continue
		}
		if homed, err := s.cloudHas(ctx, cloud); err != nil {
			return nil, err
		} else if !homed {
			where = "logical cloud " + cloud.Name() + " of the record has no controllerCluster"
			break
		}
	}
	if where == "" {
		return nil, nil
	}
	return []intent.Warning{{Parameter: "deployOn", Message: "is missing, and " + where + ": give one of them, or start the server with --controller-cluster; until then plans refuse names of the record"}}, nil
}

// cloudHas tells whether a logical cloud says where the external-dns of its records
// is to live, or has one cluster alone.
func (s *Service) cloudHas(ctx context.Context, cloud intent.Path) (bool, error) {
	doc, err := s.Documents.Get(ctx, cloud)
	if intent.CodeOf(err) == intent.NotFound {
		return true, nil // with it the association goes
	}
	if err != nil {
		return false, err
	}
	stored, err := intent.Of[intent.LogicalCloud](doc)
	if err != nil || stored.Spec.ControllerCluster != nil {
		return true, err
	}
	page, err := s.Documents.List(ctx, intent.ListOptions{Collection: string(cloud) + "/cluster-references", Limit: 2})
	return len(page.Items) == 1, err
}
