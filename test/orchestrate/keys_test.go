package orchestrate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/test/emco"
)

// groupPath is where the group of testdata is, below /v2/.
const groupPath = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"

// The contexts of EMCO's on a stage, and what dumps call them.
const (
	first  = "4611686018427387901"
	second = "4611686018427387902"
)

// lifecycle is what a dump shows of a group's lifecycle document: what is left
// out are times and events.
type lifecycle struct {
	Wanted     string     `json:"wanted"`
	Seq        int        `json:"seq"`
	ContextID  string     `json:"contextID"`
	Settled    bool       `json:"settled"`
	Failure    string     `json:"failure,omitempty"`
	History    []released `json:"history,omitempty"`
	Uses       []any      `json:"uses,omitempty"`
	Leaving    []any      `json:"leaving,omitempty"`
	Draining   []any      `json:"draining,omitempty"`
	AppContext string     `json:"appContext,omitempty"`
	Prepared   []released `json:"prepared,omitempty"`
}

// released is an earlier release, or one that was frozen for an app context.
type released struct {
	Seq        int      `json:"seq,omitempty"`
	AppContext string   `json:"appContext,omitempty"`
	ContextID  string   `json:"contextID"`
	Traffic    []string `json:"traffic,omitempty"`
}

// The keys of Signpost's that dumps are made from.
const (
	contexts   = "/context/"
	pointers   = "/signpost/current/"
	releases   = "/signpost/release/"
	lifecycles = "/signpost/doc/lifecycle//"
	references = "/signpost/ref/"
)

// keys is what etcd holds of EMCO's contexts and of what Signpost has for them,
// laid out for golden files. What nobody refers to any more, or nobody came to
// refer to, is left out: the sweeps remove it in their time. So are the ledger
// and what is observed, which are of clusters.
func (s *stage) keys() (string, error) {
	all, err := s.etcd.Prefix(s.Context(), "/")
	if err != nil {
		return "", err
	}
	now, err := s.lifecycleIn(all)
	if err != nil {
		return "", err
	}
	names := now.names()
	shown := map[string]string{lifecycles + groupPath: string(jsonOf(s.T, now))}
	if now.Seq == 0 && len(now.Prepared) == 0 {
		shown = map[string]string{}
	}
	for key, value := range all {
		owner, isPointer := strings.CutPrefix(key, pointers)
		if !isPointer || strings.HasPrefix(owner, "touched/") {
			continue
		}
		var pointer struct {
			ContextID string `json:"contextID"`
			Services  any    `json:"services"`
		}
		if err := json.Unmarshal([]byte(value), &pointer); err != nil {
			return "", fmt.Errorf("%s: %w", key, err)
		}
		names[pointer.ContextID] = "PROVIDER"
		if owner == groupPath {
			names[pointer.ContextID] = "CHILD"
		}
		shown[key] = string(jsonOf(s.T, pointer))
	}
	delete(names, "")
	for key, value := range all {
		if text, ok := s.shows(key, value, names); ok {
			shown[key] = text
		}
	}
	if id := s.installation(all); id != "" {
		names[id] = "INSTALLATION"
	}
	return emco.Text(shown, names), nil
}

// lifecycleIn is the lifecycle document of the group; a zero one if there is
// none.
func (s *stage) lifecycleIn(all map[string]string) (now lifecycle, err error) {
	text, exists := all[lifecycles+groupPath]
	if !exists {
		return now, nil
	}
	var document struct{ Body json.RawMessage }
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		return now, err
	}
	if err := json.Unmarshal(document.Body, &now); err != nil {
		return now, err
	}
	read, err := state.ReadLifecycle(intent.Document{Path: state.LifecyclePath(groupPath), Body: document.Body})
	now.Wanted, now.Settled = string(read.Wanted), read.Settled
	now.Uses, now.Leaving, now.Draining = usesIn(read.Uses), usesIn(read.Leaving), usesIn(read.Draining)
	return now, err
}

// usesIn are the external-dns of a lifecycle as dumps show them.
func usesIn(uses []state.Use) (shown []any) {
	for _, use := range uses {
		shown = append(shown, map[string]any{"record": use.Record, "scope": use.Scope, "cluster": use.Cluster})
	}
	return shown
}

// installation is the id that all objects of a Signpost carry.
func (s *stage) installation(all map[string]string) string {
	var document struct{ Body struct{ ID string } }
	_ = json.Unmarshal([]byte(all["/signpost/doc/installation//id"]), &document) // there is none before the first start
	return document.Body.ID
}

// names are what dumps call the contexts of EMCO's, and the releases that a
// lifecycle refers to.
func (l lifecycle) names() map[string]string {
	names := map[string]string{first: "FIRST", second: "SECOND"}
	for i, past := range l.History {
		names[past.ContextID] = fmt.Sprintf("PAST-%d", i+1)
	}
	for _, p := range l.Prepared {
		names[p.ContextID] = "FOR-" + names[p.AppContext]
	}
	names[l.ContextID] = "RELEASE"
	return names
}

// shows tells whether dumps show a key, and with which value. Objects other than
// names are there without theirs: they are somebody else's to prove.
func (s *stage) shows(key, value string, names map[string]string) (string, bool) {
	if rest, ok := strings.CutPrefix(key, contexts); ok {
		id, _, _ := strings.Cut(rest, "/")
		switch names[id] {
		case "FIRST", "SECOND":
			return value, true
		case "CHILD", "PROVIDER":
			if strings.Contains(key, "/resource/") && !strings.Contains(key, "+DNSEndpoint/") && !strings.Contains(key, "/instruction/") {
				value = `"…"`
			}
			return value, true
		}
		return "", false
	}
	if rest, ok := strings.CutPrefix(key, releases); ok {
		id, _, _ := strings.Cut(rest, "/")
		return `"…"`, names[id] != ""
	}
	if strings.HasPrefix(key, references) {
		return value, strings.Contains(key, "//lifecycle/")
	}
	return value, slices.ContainsFunc([]string{"/activecontext/", "/signpost/emco/", "/signpost/owner-id/"}, func(prefix string) bool {
		return strings.HasPrefix(key, prefix)
	})
}
