package failover

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// scopedRules are the rules of a project, or with an empty name of the installation.
type scopedRules struct {
	project string
	rules   intent.SafetyRules
}

// SafetyRules returns the rules of the installation, and the revision of their document; 0
// if there is none.
func (m *Mover) SafetyRules(ctx context.Context) (intent.SafetyRules, int64, error) {
	return readRules(ctx, m.Documents)
}

func readRules(ctx context.Context, documents intent.Store) (intent.SafetyRules, int64, error) {
	var rules intent.SafetyRules
	doc, err := documents.Get(ctx, intent.SafetyPath)
	if intent.CodeOf(err) == intent.NotFound {
		return rules, 0, nil
	}
	if err != nil {
		return rules, 0, err
	}
	err = json.Unmarshal(doc.Body, &rules)
	return rules, doc.Revision, err
}

// PutSafetyRules replaces the rules of the installation. Invalid for rules that contradict
// each other or those of a project.
func (m *Mover) PutSafetyRules(ctx context.Context, rules intent.SafetyRules, actor string) error {
	all, err := m.fleet(ctx)
	if err != nil {
		return err
	}
	projects, err := m.projectRules(ctx, nil)
	if err != nil {
		return err
	}
	wrong := rules.Check(len(all))
	for _, of := range projects {
		for _, fault := range rules.Check(len(all), of.rules) {
			if !slices.Contains(wrong, fault) {
				fault.Detail = "project " + of.project + ": " + fault.Detail
				wrong = append(wrong, fault)
			}
		}
	}
	if len(wrong) > 0 {
		return &intent.Error{Code: intent.Invalid, Detail: "the safety rules cannot hold", Fields: wrong}
	}
	_, err = state.RetryOnConflict(ctx, intent.SafetyPath, func(ctx context.Context) (struct{}, error) {
		_, revision, err := m.SafetyRules(ctx)
		if err == nil {
			_, err = state.SwapDocument(ctx, m.Documents, rules, intent.Write{Path: intent.SafetyPath}, revision)
		}
		return struct{}{}, err
	})
	if err == nil {
		m.Logger.InfoContext(ctx, "safety rules are replaced", "actor", actor)
	}
	return err
}

// projectRules reads the rules of projects; nil: of all that have some.
func (m *Mover) projectRules(ctx context.Context, projects map[string]bool) ([]scopedRules, error) {
	var all []scopedRules
	add := func(doc intent.Document) error {
		project, err := intent.Of[intent.Project](doc)
		if err == nil && project.Spec.Safety != nil {
			all = append(all, scopedRules{doc.Path.Name(), *project.Spec.Safety})
		}
		return err
	}
	if projects == nil {
		const batch = 500
		err := intent.Each(ctx, m.Documents, intent.ListOptions{Collection: "projects", Limit: batch, Bytes: intent.PageBytes}, add)
		return all, err
	}
	var paths []intent.Path
	for _, name := range slices.Sorted(maps.Keys(projects)) {
		paths = append(paths, intent.Join("projects", name))
	}
	docs, err := m.Documents.GetAll(ctx, paths)
	for _, doc := range docs {
		err = cmp.Or(err, add(doc))
	}
	return all, err
}

// rulesFor are the rules that hold for a picture: those of the installation, and those of the
// projects whose names it has.
func (m *Mover) rulesFor(ctx context.Context, p picture) ([]scopedRules, error) {
	rules, _, err := m.SafetyRules(ctx)
	if err != nil {
		return nil, err
	}
	touched := map[string]bool{}
	for at := range p.names {
		touched[at.Project] = true
	}
	projects, err := m.projectRules(ctx, touched)
	return append([]scopedRules{{"", rules}}, projects...), err
}

// judge returns what the rules refuse, all at once. It is a function of its arguments.
func judge(all []scopedRules, p picture, before, after state.DrainedClusters, now time.Time) []intent.FailoverRefusal {
	var refused []intent.FailoverRefusal
	for _, of := range all {
		refuse := func(rule intent.SafetyRule, format string, values ...any) {
			refused = append(refused, intent.FailoverRefusal{
				Rule: rule, Project: of.project, Detail: fmt.Sprintf(format, values...),
				Allow: fmt.Sprintf("the role admin in all projects, with ?override=%s (--override %s)", rule, rule),
			})
		}
		if few := p.thinned(of); len(few) > 0 {
			refuse(intent.MinClusters, "fewer than %d clusters would serve %s", of.rules.MinClusters, state.Few(few))
		}
		for _, set := range of.rules.NeverBoth {
			if drainsAll(set, after) && !drainsAll(set, before) {
				refuse(intent.NeverBoth, "%s would all be drained", strings.Join(set, " and "))
			}
		}
		if w := of.rules.Window; w != nil && !w.Contains(now) && !maps.Equal(before, after) {
			refuse(intent.InWindow, "moves are made %s, and it is %s now", w, now.UTC().Format("Mon 15:04 MST"))
		}
	}
	return refused
}

// thinned are the names that lose a cluster, and have fewer than the rule asks for.
func (p *picture) thinned(of scopedRules) []string {
	var few []string
	for at, all := range p.names {
		if of.project != "" && of.project != at.Project || len(all.able) >= of.rules.MinClusters || len(all.able) >= len(all.could) {
			continue
		}
		few = append(few, at.Name)
	}
	slices.Sort(few)
	return slices.Compact(few)
}

func drainsAll(set []string, drained state.DrainedClusters) bool {
	return !slices.ContainsFunc(set, func(name string) bool {
		_, is := drained[strings.Replace(name, "/", "+", 1)]
		return !is
	})
}

// RefuseDrain judges the drain of single clusters, which cannot override a rule.
func (m *Mover) RefuseDrain(ctx context.Context, before, after state.DrainedClusters) error {
	some, err := m.anyRules(ctx)
	if err != nil || !some {
		return err
	}
	changed := map[string]bool{}
	for name := range after {
		if _, was := before[name]; !was {
			changed[name] = true
		}
	}
	all, err := m.forecasts(ctx, changed, after)
	if err != nil {
		return err
	}
	p := pictureOf(all, changed, state.DrainedList{Clusters: before}, nil) // health does not matter to the rules
	rules, err := m.rulesFor(ctx, p)
	if err != nil {
		return err
	}
	return refusal(judge(rules, p, before, after, m.Now()), "use POST /v2/failovers (signpost drain --override) to override a rule")
}

// anyRules tells whether there are safety rules at all.
func (m *Mover) anyRules(ctx context.Context) (bool, error) {
	rules, revision, err := m.SafetyRules(ctx)
	if err != nil || revision > 0 && (rules.MinClusters > 0 || len(rules.NeverBoth) > 0 || rules.Window != nil) {
		return err == nil, err
	}
	projects, err := m.projectRules(ctx, nil)
	return len(projects) > 0, err
}

// refusal is the error that lists all refusals; nil if there are none.
func refusal(refused []intent.FailoverRefusal, hint string) error {
	if len(refused) == 0 {
		return nil
	}
	err := &intent.Error{Code: intent.Conflict, Detail: "the move is refused; " + hint}
	for _, one := range refused {
		text := one.Detail
		if one.Rule != "" {
			owner := "the installation"
			if one.Project != "" {
				owner = "project " + one.Project
			}
			text = fmt.Sprintf("%s (safety rule %s of %s)", text, one.Rule, owner)
		}
		err.Fields = append(err.Fields, intent.Field{Detail: text + "; allowed: " + one.Allow})
	}
	return err
}
