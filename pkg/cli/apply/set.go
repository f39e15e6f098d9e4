package apply

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/lifecycle"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

type setFlags struct {
	name  string
	prune bool
}

func (f *setFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "set", "", "the `SET` that the server keeps of the documents, as NAME or PROJECT/NAME; a document is in one set")
	cmd.Flags().BoolVar(&f.prune, "prune", false, "delete the documents that left the set; with --deploy, terminate deployed groups first")
}

// path is the document of the set, empty without --set. It belongs to the project of the
// documents.
func (f *setFlags) path(documents []document.Document) (intent.Path, error) {
	if f.name == "" && f.prune {
		return "", terminal.Usagef("--prune: name the set of the documents by --set")
	}
	if f.name == "" {
		return "", nil
	}
	project, name, both := strings.Cut(f.name, "/")
	if !both {
		project, name = "", f.name
	}
	for _, d := range documents {
		switch other := d.Path.Segment("projects"); {
		case d.Service != nil || other == "" || other == project:
		case project == "":
			project = other
		default:
			return "", terminal.Usagef("--set: a set holds documents of one project, and these are of %s and %s; apply each project with a set of its own", project, other)
		}
	}
	if project == "" {
		return "", terminal.Usagef("--set: no document is of a project; give the set as PROJECT/NAME")
	}
	path, err := document.CleanPath(string(intent.Join("projects", project, intent.SetsCollection, name)))
	if err != nil || intent.KindOf(path).One != "DocumentSet" {
		return "", terminal.Usagef("--set: %q is not a set; give NAME or PROJECT/NAME", f.name)
	}
	return path, nil
}

// set is a set of documents during one apply.
type set struct {
	batch
	path intent.Path
	etag string
	has  []intent.Path // in the files
	left []intent.Path // stored in the set, and not in the files
}

// openSet reads what the server keeps of a set, and compares it with the documents.
func openSet(ctx context.Context, b batch, path intent.Path, documents []document.Document) (*set, error) {
	s := &set{batch: b, path: path}
	for _, d := range documents {
		if d.Service == nil && d.Action == "" && strings.HasPrefix(string(d.Path), string(path.Parent())+"/") && intent.KindOf(d.Path).One != "DocumentSet" {
			s.has = append(s.has, intent.WithTrafficGroup(d.Path))
		}
	}
	stored, err := b.stored(ctx, path)
	if err != nil || stored == nil {
		return s, err
	}
	var body intent.Resource[intent.DocumentSet]
	if err := json.Unmarshal(stored.Body, &body); err != nil {
		return nil, err
	}
	s.etag = stored.Header.Get("ETag")
	s.left = slices.DeleteFunc(body.Spec.Documents, func(p intent.Path) bool { return slices.Contains(s.has, p) })
	slices.SortStableFunc(s.left, func(a, b intent.Path) int { return intent.KindOf(b).Rank - intent.KindOf(a).Rank })
	return s, nil
}

// keep stores the documents that are in the set. It fails if somebody else has stored the
// set meanwhile.
func (s *set) keep(ctx context.Context) error {
	documents := slices.Concat(s.has, s.left)
	slices.Sort(documents)
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]string{"name": s.path.Name()},
		"spec":     intent.DocumentSet{Documents: append([]intent.Path{}, documents...)},
	})
	if err != nil {
		return err
	}
	condition := http.Header{"If-None-Match": {"*"}}
	if s.etag != "" {
		condition = http.Header{"If-Match": {s.etag}}
	}
	response, err := s.api.Do(ctx, http.MethodPut, string(s.path), bytes.NewReader(body), condition)
	if hasStatus(err, http.StatusPreconditionFailed) {
		return fmt.Errorf("%s: somebody else has changed the set meanwhile; run the command again", s.path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	s.etag = response.Header.Get("ETag")
	return nil
}

// otherSets are the documents of the other sets of the project, with the set of each.
func (s *set) otherSets(ctx context.Context) (map[intent.Path]string, error) {
	found := map[intent.Path]string{}
	for next := ""; ; {
		var page client.DocumentSetList
		if _, err := connect.Ask(ctx, s.api, http.MethodGet, s.path.Collection()+next, nil, &page); err != nil {
			return nil, err
		}
		for _, other := range page.Items {
			for _, path := range other.Spec.Documents {
				if other.Metadata.Name != s.path.Name() {
					found[intent.Path(path)] = other.Metadata.Name
				}
			}
		}
		if page.Continue == "" {
			return found, nil
		}
		next = "?continue=" + url.QueryEscape(page.Continue)
	}
}

// prune deletes documents that left the set. Documents that cannot go yet stay in the set; with
// last, they are an error. Groups and logical clouds are terminated first by end, if it is
// given.
func (s *set) prune(ctx context.Context, end func(context.Context, intent.Path) error, last bool) error {
	if len(s.left) == 0 {
		return nil
	}
	others, err := s.otherSets(ctx)
	if err != nil {
		return err
	}
	wrong := 0
	s.left = slices.DeleteFunc(s.left, func(path intent.Path) bool {
		if name, taken := others[path]; taken {
			terminal.Printf(s.out, "left %s to set %s\n", path, terminal.Plain(name))
			return true
		}
		err := s.pruneOne(ctx, path, end)
		switch {
		case err == nil:
			terminal.Printf(s.out, "pruned %s\n", path)
			return true
		case hasStatus(err, http.StatusNotFound):
			return true
		case last || !hasStatus(err, http.StatusConflict):
			wrong++
			terminal.Printf(s.err, "%s: %s\n", path, connect.Describe(err))
		}
		return false
	})
	if wrong > 0 {
		return fmt.Errorf("%d of the documents that left the set could not be deleted; they stay in the set, and the next run tries again", wrong)
	}
	return nil
}

func (s *set) pruneOne(ctx context.Context, path intent.Path, end func(context.Context, intent.Path) error) error {
	switch intent.KindOf(path).One {
	case "DeploymentIntentGroup", "LogicalCloud":
		reason, err := deployed(ctx, s.api, path)
		if err != nil {
			return err
		}
		if reason != "" && end == nil {
			return errors.New(reason + ", or add --deploy")
		}
		if reason != "" {
			if err := end(ctx, path); err != nil {
				return err
			}
		}
	}
	return deletePath(ctx, s.api, path)
}

// plan prints what documents would do, and what would be pruned.
func (f *setFlags) plan(ctx context.Context, p terminal.Program, b batch, documents []document.Document, output *terminal.Format) error {
	path, err := f.path(documents)
	if err != nil {
		return err
	}
	var left []intent.Path
	if f.prune {
		s, err := openSet(ctx, b, path, documents)
		if err != nil {
			return err
		}
		left = s.left
	}
	return lifecycle.PlanDocuments(ctx, p, b.api, documents, left, output, false)
}

// change applies documents as members of a set, prunes what left it, and deploys.
func (f *setFlags) change(ctx context.Context, p terminal.Program, b batch, rollout *lifecycle.Rollout, documents []document.Document) error {
	path, err := f.path(documents)
	if err != nil {
		return err
	}
	first := 0 // the project, without which there is no set
	if at := slices.IndexFunc(documents, func(d document.Document) bool { return d.Path == path.Parent() }); at >= 0 && path != "" {
		documents[0], documents[at] = documents[at], documents[0]
		first, b.later = 1, len(documents)-1
		if err := b.run(ctx, documents[:1], apply); err != nil {
			return err
		}
	}
	b.done, b.later = first, 0
	s := &set{batch: b, path: path}
	if path != "" {
		if s, err = openSet(ctx, b, path, documents); err != nil {
			return err
		}
		if err := s.keep(ctx); err != nil { // before the documents, so that none is forgotten
			return err
		}
	}
	if err := b.run(ctx, documents[first:], apply); err != nil {
		return err
	}
	if !f.prune {
		return rollout.Run(ctx, p, b.api, documents)
	}
	return s.replace(ctx, p, rollout, documents)
}

// replace prunes, deploys, prunes what was in use until then, and keeps the set.
func (s *set) replace(ctx context.Context, p terminal.Program, rollout *lifecycle.Rollout, documents []document.Document) error {
	var end func(context.Context, intent.Path) error
	if rollout.Deploys() {
		end = func(ctx context.Context, owner intent.Path) error { return rollout.Terminate(ctx, p, s.api, owner) }
	}
	left := slices.Clone(s.left)
	err := s.prune(ctx, end, !rollout.Deploys())
	if err == nil {
		for _, path := range left { // their owners no longer have them
			if slices.ContainsFunc(left, func(other intent.Path) bool {
				return strings.HasPrefix(string(path)+"/", string(other)+"/") && isOwner(other)
			}) {
				continue
			}
			documents = append(documents, document.Document{Path: path})
		}
		err = rollout.Run(ctx, p, s.api, documents)
	}
	if err == nil && rollout.Deploys() {
		err = s.prune(ctx, end, true)
	}
	return errors.Join(err, s.keep(context.WithoutCancel(ctx)))
}

// isOwner reports whether documents at the path are deployed as one.
func isOwner(path intent.Path) bool {
	switch intent.KindOf(path).One {
	case "DeploymentIntentGroup", "LogicalCloud", "DNSUpdateRecord":
		return true
	}
	return false
}
