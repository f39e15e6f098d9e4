package drafts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/signpost-dns/signpost/api/actions"
	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/resources"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// The actions of a write on a document.
const (
	created   = "create"
	updated   = "update"
	unchanged = "unchanged"
	refused   = "refused"
	deleted   = "delete"
)

// unsealed stands for the id of a secret value, which is not stored.
const unsealed = "unsealed"

// judge judges the documents of one request.
type judge struct {
	service.Draft
	put     map[string]*operation.Operation
	actor   intent.Actor
	drafted []*drafted
	was     map[intent.Path]*intent.Document // before the request; nil for new ones
	gone    []intent.OwnerPlan               // of owners that are to be deleted
	room    int                              // bytes of objects that the answer still takes
}

// drafted is a document of the request.
type drafted struct {
	path   intent.Path
	body   []byte
	action string
	faults []intent.Field // why it would be refused, with pointers into the request
}

// documents lays documents over the stored ones, parents and referenced ones first.
// Documents below a refused one are refused without a further error.
func (j *judge) documents(ctx context.Context, all []map[string]json.RawMessage) error {
	j.drafted = make([]*drafted, len(all))
	order := make([]int, len(all))
	for n, fields := range all {
		d := &drafted{action: refused}
		path, body, err := j.read(ctx, fields)
		d.path, d.body, j.drafted[n], order[n] = path, body, d, n
		if err := d.refuse("/documents/"+strconv.Itoa(n), err); err != nil {
			return err
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return intent.KindOf(j.drafted[a].path).Rank - intent.KindOf(j.drafted[b].path).Rank
	})
	for _, n := range order {
		d := j.drafted[n]
		if len(d.faults) > 0 || j.belowRefused(d.path) {
			continue
		}
		action, err := j.lay(ctx, d.path, d.body)
		if err == nil {
			d.action = action
		}
		if err := d.refuse("/documents/"+strconv.Itoa(n), err); err != nil {
			return err
		}
	}
	return nil
}

// refuse notes why a document would be refused. It returns an error of another kind.
func (d *drafted) refuse(at string, err error) error {
	faults, isFault := faultsOf(err)
	if !isFault {
		return err
	}
	for _, f := range faults {
		f.Pointer = at + f.Pointer
		d.faults = append(d.faults, f)
	}
	return nil
}

// read is the path and the body of a document of a known kind that the caller may read.
func (j *judge) read(ctx context.Context, fields map[string]json.RawMessage) (intent.Path, []byte, error) {
	var collection string
	if err := json.Unmarshal(fields["resource"], &collection); err != nil {
		return "", nil, review.ErrNoJSON(err)
	}
	delete(fields, "resource")
	delete(fields, "status")
	raw, err := json.Marshal(fields)
	if err != nil {
		return "", nil, err
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		return "", nil, err
	}
	path := intent.WithTrafficGroup(resources.Created(intent.Path(collection), object))
	put := j.put[intent.KindOf(path).One]
	if put == nil {
		return path, nil, at("/resource", "%q is no collection with such a document; give the path below /v2, as in projects/shop/dns-update-records, and metadata.name", collection)
	}
	if err := j.readable("/resource", path); err != nil {
		return path, nil, err
	}
	sent := operation.JSON(raw)
	_, body, err := put.ReadBody(sent)
	if err != nil {
		documents := resources.Handlers{Store: j.Store, Admitter: j.Admitter}
		err = documents.AllErrors(ctx, put, &operation.Call{Path: path}, sent, err)
	}
	return path, body, err
}

// readable refuses a document that the caller may not read.
func (j *judge) readable(pointer string, path intent.Path) error {
	project := path.Segment("projects")
	switch {
	case j.actor.Sees(project):
		return nil
	case project == "":
		return at(pointer, "%s has rights on single projects only and may not read %s", j.actor.Subject, path.Collection())
	}
	return at(pointer, "%s has no rights on project %s", j.actor.Subject, project)
}

// at is the error of a field of a document.
func at(pointer, format string, args ...any) error {
	return &intent.Error{Code: intent.Invalid, Fields: []intent.Field{{Pointer: pointer, Detail: fmt.Sprintf(format, args...)}}}
}

// lay admits a document as its PUT does, and keeps it in the draft.
func (j *judge) lay(ctx context.Context, path intent.Path, body []byte) (action string, err error) {
	var old *intent.Document
	switch stored, err := j.Store.Get(ctx, path); {
	case err == nil:
		old = &stored
	case intent.CodeOf(err) != intent.NotFound:
		return "", err
	}
	if _, twice := j.was[path]; twice {
		return "", at("", "%s is given twice", path)
	}
	write, err := j.Admitter.Admit(ctx, path, body, old)
	if err != nil {
		return "", err
	}
	for _, secret := range write.Secrets {
		secret.Set(unsealed)
	}
	doc, err := j.Admitter.Put(ctx, write)
	if err != nil {
		return "", err
	}
	j.was[path] = old
	switch {
	case old == nil:
		return created, nil
	case doc.Revision == old.Revision, intent.IsName(path) && bytes.Equal(doc.Body, old.Body): // a name refers to others by its lifecycle
		return unchanged, nil
	}
	return updated, nil
}

// deletions hides documents, and plans to terminate those that are deployed as one.
func (j *judge) deletions(ctx context.Context, paths []intent.Path) error {
	for n, given := range paths {
		path := intent.WithTrafficGroup(given)
		d := &drafted{path: path, action: unchanged}
		err := j.hide(ctx, d)
		if err := d.refuse("/deleted/"+strconv.Itoa(n), err); err != nil {
			return err
		}
		j.drafted = append(j.drafted, d)
	}
	return nil
}

func (j *judge) hide(ctx context.Context, d *drafted) error {
	if intent.KindOf(d.path).One == "" {
		return at("", "%q is not the path of a document; write it as in projects/shop/dns-update-records/lab", d.path)
	}
	if err := j.readable("", d.path); err != nil {
		return err
	}
	if _, laid := j.was[d.path]; laid {
		return at("", "%s is among the documents, too", d.path)
	}
	if _, err := j.Store.Get(ctx, d.path); err != nil {
		if intent.CodeOf(err) == intent.NotFound {
			return nil // it is gone already
		}
		return err
	}
	if intent.IsName(d.path) || isKind(d.path, group) || isKind(d.path, cloud) {
		plan, err := j.Planner.Plan(ctx, d.path, intent.Terminate, 0)
		if err != nil {
			return err
		}
		plan.Token = ""
		j.gone = append(j.gone, intent.OwnerPlan{Path: d.path, Changes: changes(plan), Plan: actions.WholePlan(j.shorten(plan))})
	}
	d.action = deleted
	if intent.IsName(d.path) {
		return nil // its termination says what goes
	}
	return j.Store.Delete(ctx, d.path, intent.Always())
}

// belowRefused reports whether a document lies in one that was refused for a fault.
func (j *judge) belowRefused(path intent.Path) bool {
	for p := path.Parent(); p != ""; p = p.Parent() {
		if slices.ContainsFunc(j.drafted, func(d *drafted) bool { return d.path == p && d.action == refused }) {
			return true
		}
	}
	return false
}

// faultsOf are the faults of a document that an error tells; false for an error of another
// kind.
func faultsOf(err error) ([]intent.Field, bool) {
	var known *intent.Error
	if !errors.As(err, &known) {
		return nil, false
	}
	switch known.Code {
	case intent.Invalid, intent.Conflict, intent.NotFound, intent.Forbidden, intent.TooLarge:
	default:
		return nil, false
	}
	if len(known.Fields) == 0 {
		return []intent.Field{{Detail: known.Detail}}, true
	}
	return slices.Clone(known.Fields), true
}
