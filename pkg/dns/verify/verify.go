// Package verify asks the authoritative servers of a zone whether they answer the
// published targets, and judges the answers.
//
// A server that does not answer, or does not speak for the zone, leaves the question open
// (I6). The judgement is a function of the question and the replies. The client is
// careful. It asks few questions a second, waits for none of them for long, and dials no
// address of the machine itself unless allowed.
package verify

import (
	"cmp"
	"context"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
)

// Question is what authoritative servers are asked about a name.
type Question struct {
	Name string     // canonical, without a final dot
	Type string     // A, AAAA, CNAME or SRV
	Sets [][]string // the targets of each set of the name and type; a server answers one set

	// Leaving says that the name is being given up: none of the targets is to be
	// answered any more.
	Leaving bool

	// Aliases says that the DNS provider may answer addresses where it was given a
	// CNAME.
	Aliases bool

	Owner string // of the external-dns that publishes the name; empty: DNS does not tell whose a name is
	TXT   string // the name at which it marks this one as its own
}

// Options are what a Verifier needs.
type Options struct {
	AllowLocal bool                    // addresses of the machine itself and its links may be asked
	Timeout    time.Duration           // of each exchange; default 2s
	Resolvers  func() []netip.AddrPort // find the servers of zones; default those of the system
}

// Verifier asks authoritative servers. It is safe for concurrent use.
type Verifier struct {
	client *client
	finder *finder
}

// New makes a Verifier.
func New(o Options) *Verifier {
	o.Timeout = cmp.Or(o.Timeout, 2*time.Second)
	if o.Resolvers == nil {
		o.Resolvers = systemResolvers
	}
	c := newClient(o)
	return &Verifier{client: c, finder: newFinder(c, o.Resolvers)}
}

// Verify asks each of the servers, MostServers at most, or where none are given
// those of the name's zone. It does not fail: what could not be found out is a verdict of its own.
// When ctx ends early the finding is worth nothing.
func (v *Verifier) Verify(ctx context.Context, q Question, servers []netip.AddrPort) Finding {
	if len(servers) == 0 {
		found, err := v.finder.serversOf(ctx, q.Name)
		if err != nil {
			return Finding{Verdict: NoServers, Message: err.Error()}
		}
		servers = found
	}
	servers = servers[:min(len(servers), MostServers)]
	replies := make([]Reply, len(servers))
	var group sync.WaitGroup
	for i, server := range servers {
		group.Go(func() { replies[i] = v.ask(ctx, q, server) })
	}
	group.Wait()
	return Judge(q, replies)
}

// ask asks one server, and where it answers something else also whose that is.
func (v *Verifier) ask(ctx context.Context, q Question, server netip.AddrPort) Reply {
	r := v.client.ask(ctx, server, q.Name, q.Type)
	if q.Type == "CNAME" && len(r.Values) == 0 {
		r = v.askForAlias(ctx, q, server, r)
	}
	if goal := q.goal(); goal != "" && !q.Leaving {
		r = v.askForGoal(ctx, q, server, goal, r)
	}
	if !q.contested(r) {
		return r
	}
	marks := v.client.ask(ctx, server, q.TXT, "TXT")
	if marks.Err == nil && marks.Authoritative && (marks.Rcode == noError || marks.Rcode == noName) {
		r.Marked, r.Owner = true, owner(marks.Values)
	}
	return r
}

// askForAlias asks for addresses where a server has no alias to tell of. CoreDNS follows an
// alias of its etcd whose key is below that of the name. To those who ask for the alias
// itself, it denies the name.
func (v *Verifier) askForAlias(ctx context.Context, q Question, server netip.AddrPort, denied Reply) Reply {
	if denied.Err != nil || !denied.Authoritative || denied.Rcode != noError && denied.Rcode != noName {
		return denied
	}
	r := v.client.ask(ctx, server, q.Name, "A")
	if r.Err != nil || !r.Authoritative || r.CNAME == "" {
		return denied
	}
	r.Values, r.CNAME = []string{r.CNAME}, ""
	return r
}

// askForGoal asks the same server for the target of a CNAME. If the zone of both has no such
// name, the CNAME leads to no address. CoreDNS then denies the CNAME, too.
//
// A target in another zone leaves it open, because the server need not know of it. So does a
// target with records of other types than A.
func (v *Verifier) askForGoal(ctx context.Context, q Question, server netip.AddrPort, goal string, r Reply) Reply {
	if verdict, _ := q.judge(r); verdict != Matches && verdict != NotThere {
		return r
	}
	found := v.client.ask(ctx, server, goal, "A")
	within := func(name string) bool { return name == found.Zone || strings.HasSuffix(name, "."+found.Zone) }
	r.NoGoal = found.Err == nil && found.Authoritative && found.Rcode == noName && found.Zone != "" && within(q.Name) && within(goal)
	return r
}

// owner is the owner id that the texts beside a name tell of; empty: none.
func owner(texts []string) string {
	for _, text := range texts {
		if id, ok := externaldns.OwnerOf(text); ok {
			return id
		}
	}
	return ""
}
