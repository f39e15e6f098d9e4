package nameindex

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// severities is how many grades of faults there are; the first is the gravest.
const severities = 5

// place is where a page ended.
type place struct {
	Grade    int          `json:"g"`
	Host     string       `json:"h"`
	Owner    intent.Path  `json:"o"`
	Provider string       `json:"p"`
	Scope    intent.Scope `json:"s"`
}

func (p place) encode() (string, error) {
	raw, err := json.Marshal(p)
	return base64.RawURLEncoding.EncodeToString(raw), err
}

// placeOf reads where a page ended; nil for the first page.
func placeOf(after string) (*place, error) {
	if after == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(after)
	p := place{}
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil || p.Host == "" || p.Grade < 0 || p.Grade >= severities {
		return nil, &intent.Error{Code: intent.Invalid, Detail: "continue is not one that this list has answered: leave it out to begin again", Err: err}
	}
	return &p, nil
}

// FindNames returns the names that a query asks for, ordered by host name, or by severity and
// host name. The error is Unavailable while the Index is being filled, or is too old, and
// Invalid for an After that no page had.
func (x *Index) FindNames(q intent.NameQuery) (intent.NamePage, error) {
	q.Pattern = strings.TrimSuffix(strings.ToLower(q.Pattern), ".")
	after, err := placeOf(q.After)
	if err != nil {
		return intent.NamePage{}, err
	}
	x.lockOrdered()
	defer x.mu.RUnlock()
	if err := x.fresh(); err != nil {
		return intent.NamePage{}, err
	}
	s := search{NameQuery: q, tables: x.tables, pattern: strings.Split(q.Pattern, "*"), after: after, sees: map[string]bool{}}
	s.run()
	page, err := s.page()
	page.AsOf = x.asOf()
	return page, err
}

// fresh is Unavailable while the Index is being filled, or is too old.
func (x *Index) fresh() error {
	if heard := x.asOf().Time; heard.IsZero() || x.now().Sub(heard) > oldest {
		return &intent.Error{Code: intent.Unavailable, Detail: "the index of names is being filled; try again soon", RetryAfter: retryAfter}
	}
	return nil
}

// retryAfter is how long a caller waits while there is no answer.
const retryAfter = 5 * time.Second

// Owners returns the owners that publish a host name, in all projects, ordered. The error
// is as of FindNames.
func (x *Index) Owners(host string) ([]intent.Path, error) {
	const most = 1000 // of one host name
	page, err := x.FindNames(intent.NameQuery{Pattern: host, Limit: most, Sees: func(string) bool { return true }})
	var owners []intent.Path
	for _, name := range page.Items {
		if name.Name == host { // and no other one that a wildcard stands for
			owners = append(owners, name.Owner)
		}
	}
	return slices.Compact(owners), err
}

// lockOrdered locks the tables for reading, with the rows in order.
func (x *Index) lockOrdered() {
	for x.mu.RLock(); x.tables.left || len(x.tables.added) > 0; x.mu.RLock() {
		x.mu.RUnlock()
		x.mu.Lock()
		x.tables.settle()
		x.mu.Unlock()
	}
}

// search is one question.
type search struct {
	intent.NameQuery
	tables  *tables
	pattern []string // the texts between the *
	after   *place
	sees    map[string]bool // by project
	total   int
	hosts   int               // of these rows
	last    string            // the host name of the last row that counted; rows are in order
	found   [severities][]hit // those behind after, as many as may be on the page and one more
}

// hit is a row that is found.
type hit struct {
	*row
	in                  *tables
	published, verified string
	by                  []*endpoint // that decide
}

// severity is how grave the fault of a name is.
func (h hit) severity() int {
	switch state := h.of.state; {
	case state == intent.Failed:
		return 0
	case state == intent.Terminating, state == intent.Terminated:
		return severities - 2
	case h.published == no || h.verified == no:
		return 1
	case h.published == unknown || h.verified == unknown, h.held():
		return 2
	case state != intent.Instantiated:
		return severities - 2
	}
	return severities - 1
}

// run looks at the rows that may match.
func (s *search) run() {
	rows := s.tables.rows
	prefix := s.pattern[0]
	begin, _ := slices.BinarySearchFunc(rows, prefix, func(r *row, host string) int { return strings.Compare(r.host, host) })
	for _, r := range rows[begin:] {
		if !strings.HasPrefix(r.host, prefix) {
			return
		}
		if !r.gone && s.matches(r) {
			s.look(r)
		}
	}
}

// matches tells whether a row is asked for, as far as its owner and its names tell.
func (s *search) matches(r *row) bool {
	seen, known := s.sees[r.of.project]
	if !known {
		seen = s.Sees != nil && s.Sees(r.of.project)
		s.sees[r.of.project] = seen
	}
	switch {
	case !seen,
		s.Project != "" && r.of.project != s.Project,
		s.Provider != "" && r.provider != s.Provider,
		s.State != "" && r.of.state != s.State,
		s.Cluster != "" && !r.touches(s.Cluster):
		return false
	}
	return s.Pattern == "" || hostname.Fits(r.host, s.pattern)
}

// touches tells whether a cluster gives addresses to the name, or has its external-dns.
func (r *row) touches(name string) bool {
	return slices.Contains(r.sources, name) || slices.ContainsFunc(r.from, func(e *endpoint) bool { return e.at.name == name })
}

// notTrue asks for what is False or Unknown.
const notTrue = "NotTrue"

// fits tells whether a condition is as it is asked for; empty: any is.
func fits(asked, is string) bool {
	return asked == "" || asked == is || asked == notTrue && is != yes
}

// look counts a row, and keeps it if it may be on the page.
func (s *search) look(r *row) {
	h := hit{row: r, in: s.tables}
	h.published, h.verified, h.by = s.tables.conditions(r)
	if !fits(s.Published, h.published) || !fits(s.Verified, h.verified) {
		return
	}
	s.total++
	if s.hosts == 0 || r.host != s.last {
		s.hosts, s.last = s.hosts+1, r.host
	}
	grade := 0
	if s.Worst {
		grade = h.severity()
	}
	if a := s.after; a != nil && (grade < a.Grade || grade == a.Grade && r.compare(a.Host, a.Owner, a.Provider, a.Scope) <= 0) {
		return
	}
	if len(s.found[grade]) <= s.Limit {
		s.found[grade] = append(s.found[grade], h)
	}
}

// page is what is answered.
func (s *search) page() (intent.NamePage, error) {
	page := intent.NamePage{Items: []intent.FoundName{}, Total: s.total, Hosts: s.hosts}
	var last place
	for grade, hits := range s.found {
		for _, h := range hits {
			if len(page.Items) == s.Limit {
				var err error
				page.Continue, err = last.encode()
				return page, err
			}
			page.Items = append(page.Items, h.name())
			last = place{grade, h.host, h.of.path, h.provider, h.scope}
		}
	}
	return page, nil
}

// name is a row as it is answered.
func (h hit) name() intent.FoundName {
	var homes []string
	for _, e := range h.from {
		homes = append(homes, intent.HomeWord(e.at.name))
	}
	slices.Sort(homes)
	return intent.FoundName{
		Name: h.host, Project: h.of.project, Owner: h.of.path, Provider: h.provider, Scope: h.scope,
		Home: slices.Compact(homes), Clusters: append([]string{}, h.sources...),
		State: h.of.state, Published: h.published, Verified: h.verified, Reason: h.reason(),
	}
}
