package drafts

import (
	"context"
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/api/actions"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const (
	maxOwners = 100     // that one request plans
	maxBytes  = 4 << 20 // of objects in an answer
)

// Kinds of documents.
const (
	group    = "DeploymentIntentGroup"
	cloud    = "LogicalCloud"
	provider = "DNSUpdateRecord"
	dnsCR    = "DNSCRIntent"
)

func isKind(path intent.Path, kind string) bool { return intent.KindOf(path).One == kind }

// owners are the plans of the owners of the documents.
func (j *judge) owners(ctx context.Context) ([]intent.OwnerPlan, error) {
	owners, err := j.touched(ctx)
	if err != nil {
		return nil, err
	}
	if len(owners) > maxOwners {
		return nil, &intent.Error{Code: intent.Invalid, Detail: fmt.Sprintf("the documents belong to %d groups, logical clouds, providers and names, and at most %d are planned at once; give fewer documents", len(owners), maxOwners)}
	}
	plans := j.gone
	for _, owner := range owners {
		plan, err := j.plan(ctx, owner)
		faults, isFault := faultsOf(err)
		if !isFault && err != nil {
			return nil, err
		}
		plan.Errors, plan.Token = append(plan.Errors, faults...), "" // it is of documents that are not stored
		plans = append(plans, intent.OwnerPlan{Path: owner, Changes: changes(plan), Plan: actions.WholePlan(j.shorten(plan))})
	}
	return plans, nil
}

// plan tells what deploying an owner would do.
func (j *judge) plan(ctx context.Context, owner intent.Path) (intent.Plan, error) {
	switch {
	case intent.IsName(owner):
		doc, err := j.Store.Get(ctx, owner)
		if err != nil {
			return intent.Plan{}, err
		}
		next := intent.NameDocument{UID: doc.UID, Revision: doc.Revision, CreatedAt: doc.CreatedAt, UpdatedAt: doc.UpdatedAt, Body: doc.Body}
		return j.Planner.PlanName(ctx, owner, intent.NameRequest{Next: next, Was: j.was[owner], Actor: j.actor.Subject})
	case isKind(owner, provider):
		return j.Planner.PlanRecord(ctx, owner, "")
	}
	return j.Planner.Plan(ctx, owner, "", 0)
}

// touched are the owners that the documents belong to, and the groups of a logical cloud
// that changes, in the order of the documents.
func (j *judge) touched(ctx context.Context) ([]intent.Path, error) {
	var owners []intent.Path
	for _, d := range j.drafted {
		owner := ownerOf(d.path)
		if !isKind(owner, cloud) {
			owners = append(owners, owner)
			continue
		}
		if !isKind(d.path, dnsCR) && d.action != unchanged {
			users, err := j.groupsOf(ctx, owner)
			if err != nil {
				return nil, err
			}
			owners = append(owners, users...)
		}
		intents, err := j.Store.List(ctx, intent.ListOptions{Collection: string(owner) + "/dns-cr-intents", Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(intents.Items) > 0 {
			owners = append(owners, owner)
		}
	}
	seen := map[intent.Path]bool{"": true}
	for _, d := range j.drafted {
		seen[d.path] = d.body == nil || seen[d.path] // it is deleted
	}
	return slices.DeleteFunc(owners, func(owner intent.Path) bool {
		again := seen[owner]
		seen[owner] = true
		return again
	}), nil
}

// groupsOf are the deployment intent groups of a logical cloud.
func (j *judge) groupsOf(ctx context.Context, cloud intent.Path) ([]intent.Path, error) {
	users, err := j.Store.Referrers(ctx, cloud)
	return slices.DeleteFunc(users, func(user intent.Path) bool { return !isKind(user, group) }), err
}

// ownerOf is the group, the logical cloud, the provider or the name that a document is or
// lies in; empty if there is none.
func ownerOf(document intent.Path) intent.Path {
	for p := document; p != ""; p = p.Parent() {
		if intent.IsName(p) || isKind(p, group) || isKind(p, cloud) || isKind(p, provider) {
			return p
		}
	}
	return ""
}

// changes reports whether a plan changes a name or an object.
func changes(p intent.Plan) bool {
	if left := p.ObjectsLeftOut; left != nil && left.Create+left.Update+left.Delete > 0 {
		return true
	}
	return slices.ContainsFunc(p.Objects, func(o intent.ObjectChange) bool { return o.Action != unchanged }) ||
		slices.ContainsFunc(p.Names, func(n intent.NameChange) bool { return n.Action != unchanged })
}

// shorten counts the objects that stay as they are, and those that the answer has no room
// for, in place of listing them.
func (j *judge) shorten(p intent.Plan) intent.Plan {
	const each = 256 // bytes of an object besides its difference
	left := intent.ObjectCounts{}
	if p.ObjectsLeftOut != nil {
		left = *p.ObjectsLeftOut
	}
	count := map[string]*int{created: &left.Create, updated: &left.Update, "delete": &left.Delete, unchanged: &left.Unchanged}
	var listed []intent.ObjectChange
	for _, o := range p.Objects {
		bytes := each + len(o.Diff)
		if o.Action == unchanged || bytes > j.room {
			*count[o.Action]++
			continue
		}
		j.room -= bytes
		listed = append(listed, o)
	}
	p.Objects = listed
	if left != (intent.ObjectCounts{}) {
		p.ObjectsLeftOut = &left
	}
	return p
}
