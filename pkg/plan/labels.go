package plan

import (
	"maps"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Marks are the labels of everything that Signpost makes: whose it is. A new
// map at each call.
func Marks(installation string) map[string]string {
	return map[string]string{
		bundle.LabelManagedBy:    bundle.ManagedBy,
		bundle.LabelInstallation: installation,
	}
}

// Labels are the labels of every object of the group that belongs to an app.
func (g Group) Labels(app string) map[string]string {
	labels := Marks(g.Installation)
	maps.Copy(labels, map[string]string{
		bundle.LabelProject: g.Project.Name,
	})
	if intent.IsName(g.Path) {
		labels[bundle.LabelName] = labelValue(g.Name)
		return labels
	}
	maps.Copy(labels, map[string]string{
		bundle.LabelApp:          labelValue(app),
		bundle.LabelLogicalCloud: g.LogicalCloud,
		bundle.LabelDIG:          labelValue(g.CompositeApp + "." + g.Version + "." + g.Name),
	})
	return labels
}

// Labels are the labels by which the record's external-dns in this scope finds
// its DNSEndpoints, with the mark of being managed.
func (r Record) Labels(scope intent.Scope) map[string]string {
	labels := Marks(r.Installation)
	maps.Copy(labels, map[string]string{
		bundle.LabelProject: r.Project.Name,
		bundle.LabelRecord:  r.Name,
		bundle.LabelScope:   string(scope),
	})
	return labels
}

// LabelFilter selects the DNSEndpoints of the record in this scope, as the
// value of external-dns' --label-filter.
func (r Record) LabelFilter(scope intent.Scope) string {
	return bundle.LabelInstallation + "=" + r.Installation +
		"," + bundle.LabelProject + "=" + r.Project.Name +
		"," + bundle.LabelRecord + "=" + r.Name +
		"," + bundle.LabelScope + "=" + string(scope)
}
