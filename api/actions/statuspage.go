package actions

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// longMessage is how many bytes of a condition's message a summary has.
const longMessage = 500

// summary returns a status without its lists, of which it has the counts.
func summary(s intent.Status) intent.Status {
	s.Names, s.Clusters, s.Providers, s.DNS, s.Undeployed, s.Leftovers = nil, nil, nil, nil, nil, nil
	s.Conditions = slices.Clone(s.Conditions)
	for n := range s.Conditions {
		if text := s.Conditions[n].Message; len(text) > longMessage {
			s.Conditions[n].Message = strings.ToValidUTF8(text[:longMessage], "") + " …"
		}
	}
	return s
}

// statusPage returns a page of the names and objects that the query asks for. Objects follow
// the names.
func statusPage(s intent.Status, c *operation.Call) (intent.Status, error) {
	s.Names = selectNames(s.Names, c.Query)
	if cluster := strings.Replace(c.Query.Get("cluster"), "/", "+", 1); cluster != "" {
		s.Clusters = slices.DeleteFunc(slices.Clone(s.Clusters), func(of intent.ClusterStatus) bool { return of.ClusterRef.String() != cluster })
		s.DNS = slices.DeleteFunc(slices.Clone(s.DNS), func(of intent.DNSStatus) bool { return of.ClusterRef.String() != cluster })
	}
	page, err := pageOf(c)
	if err != nil {
		return s, err
	}
	s.Names = choose(page, s.Names, func(n intent.NameStatus) string { return "n" + n.Name + " " + n.Type + " " + n.Record })
	s.Clusters = slices.Clone(s.Clusters)
	for n := range s.Clusters {
		of := &s.Clusters[n]
		if onlyNames(c.Query) {
			of.Resources = nil
		}
		of.Resources = choose(page, of.Resources, func(r intent.ResourceStatus) string {
			return strings.Join([]string{"o" + of.ClusterRef.String(), r.Kind, r.Namespace, r.Name}, "\x00")
		})
	}
	s.Continue = page.next()
	return s, nil
}

// onlyNames tells whether a query asks for some names: objects have none of what it says.
func onlyNames(q url.Values) bool { return q.Has("name") || q.Has("published") || q.Has("verified") }

// selectNames returns the names that a query asks for.
func selectNames(names []intent.NameStatus, q url.Values) []intent.NameStatus {
	pattern, cluster := hostname.Pattern(cmp.Or(q.Get("name"), "*")), strings.Replace(q.Get("cluster"), "/", "+", 1)
	return slices.DeleteFunc(slices.Clone(names), func(n intent.NameStatus) bool {
		return !hostname.Fits(n.Name, pattern) || cluster != "" && !involves(n, cluster) ||
			q.Has("published") && !intent.Holds(n.Conditions, "Published", q.Get("published")) ||
			q.Has("verified") && !intent.Holds(n.Conditions, "Verified", q.Get("verified"))
	})
}

// involves tells whether a cluster offers the name an address, one that is left out
// included.
func involves(n intent.NameStatus, cluster string) bool {
	return slices.ContainsFunc(n.Sources, func(s intent.Source) bool { return s.Cluster == cluster }) ||
		slices.ContainsFunc(n.Rejected, func(r intent.Rejection) bool { return r.Cluster == cluster })
}

// page chooses rows by their keys, which rise.
type page struct {
	after string // the last key of the page before; empty: this is the first page
	left  int    // how many rows may follow
	last  string // the last key that was chosen
	more  bool
}

// pageOf reads which page a request asks for.
func pageOf(c *operation.Call) (*page, error) {
	after, err := base64.RawURLEncoding.DecodeString(c.Query.Get("continue"))
	if err != nil {
		return nil, operation.ContinueError(&intent.Error{Code: intent.Invalid, Err: err})
	}
	return &page{after: string(after), left: c.Limit()}, nil
}

// choose returns the rows that are on a page. Rows of one key stay together.
func choose[T any](p *page, rows []T, key func(T) string) []T {
	var chosen []T
	for _, row := range rows {
		at := key(row)
		switch {
		case at <= p.after:
		case p.left > 0 || at == p.last:
			chosen = append(chosen, row)
			p.left, p.last = p.left-1, at
		default:
			p.more = true
			return chosen
		}
	}
	return chosen
}

// next is the continue of the page, empty on the last one.
func (p *page) next() string {
	if !p.more {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(p.last))
}

// providerPage returns the external-dns of a provider that a query asks for, a page of them.
func providerPage(s intent.RecordStatus, c *operation.Call) (intent.RecordStatus, error) {
	page, err := pageOf(c)
	if err != nil {
		return s, err
	}
	type row struct {
		status   intent.ProviderStatus
		deployed intent.Deployment
	}
	key := func(r row) string { return string(r.status.Scope) + " " + r.status.Cluster }
	cluster := strings.Replace(c.Query.Get("cluster"), "/", "+", 1)
	var rows []row
	for n, p := range s.Providers { // Deployments has one for each
		if cluster == "" || p.Cluster == cluster {
			rows = append(rows, row{p, s.Deployments[n]})
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(key(a), key(b)) })
	s.Providers, s.Deployments = []intent.ProviderStatus{}, []intent.Deployment{}
	for _, r := range choose(page, rows, key) {
		s.Providers, s.Deployments = append(s.Providers, r.status), append(s.Deployments, r.deployed)
	}
	s.Continue = page.next()
	return s, nil
}
