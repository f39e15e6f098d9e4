package address

import "fmt"

// code is the reason for which a candidate is not published, as data. The words
// for it are in one place, so that the two cannot part.
type code string

// Codes of targets that are not published for a time.
const (
	Standby     = "Standby"     // as long as nothing fails, as was asked for
	NoWeight    = "NoWeight"    // as long as the cluster has no weight
	NotListed   = "NotListed"   // as long as routing.regions or routing.locations does not list the cluster
	Drained     = "Drained"     // the cluster is drained
	NotReady    = "NotReady"    // the Service has no ready endpoint
	Unreachable = "Unreachable" // the cluster cannot be reached
	ProbeFailed = "ProbeFailed" // the address does not answer a probe
)

// The reasons.
const (
	unspecified code = "Unspecified" // classes of addresses
	loopback    code = "Loopback"
	linkLocal   code = "LinkLocal"
	multicast   code = "Multicast"
	broadcast   code = "Broadcast"
	private     code = "Private"
	denied      code = "Denied" // by the record
	notAllowed  code = "NotAllowed"

	invalid   code = "Invalid" // as a target
	localhost code = "Localhost"
	noDomain  code = "NoDomain"
	itself    code = "Itself"

	insideCluster code = "InsideCluster" // beside the scope and the name
	otherType     code = "OtherType"

	drained     code = Drained // health
	notReady    code = NotReady
	unreachable code = Unreachable
	probeFailed code = ProbeFailed

	standby   code = Standby // routing
	noWeight  code = NoWeight
	notListed code = NotListed

	unresolved code = "Unresolved" // host names
	waiting    code = "Waiting"
	oneAlias   code = "OneAlias"
)

// Passes tells whether a target that is rejected by a code may be published later, without a change of documents.
func Passes(reason string) bool {
	switch code(reason) {
	case standby, noWeight, notListed, drained, notReady, unreachable, probeFailed, unresolved, waiting:
		return true
	}
	return false
}

// reason says a code in words, and what to do about it; detail is what they
// are about.
func (c code) reason(detail string) string {
	if words := c.ofAddress(); words != "" {
		return words
	}
	switch c {
	case itself:
		return "the name that is to be published: it cannot be an alias of itself; give the Service's load balancer an address"
	case insideCluster:
		return "an address that is not reachable outside its cluster, in a public name; give the Service a load balancer or external IPs"
	case otherType:
		return detail + " is not among the record types of the name"
	case drained:
		return "the cluster is drained"
	case notReady:
		return "the Service has no ready endpoint" + detail
	case unreachable:
		return "the cluster cannot be reached" + detail
	case probeFailed:
		return "the probe" + detail
	case standby:
		return detail + " is first in order"
	case noWeight:
		return "the cluster has no weight: routing.weights gives it 0, or does not list it"
	case notListed:
		return "the cluster answers only while no other can: routing." + detail + " does not list it"
	case unresolved:
		return "a host name" + detail
	case waiting:
		return fmt.Sprintf("waits until the addresses of %s are known, which can be published beside it; until then that host name stays published as the only alias", detail)
	case oneAlias:
		return fmt.Sprintf("a second host name: DNS allows one alias, and %s is the first in order until the addresses of all are known; give the Services' load balancers addresses, or each Service a name of its own", detail)
	}
	return string(c)
}

// ofAddress are the words for a code that a target has for every publisher, empty for
// others.
func (c code) ofAddress() string {
	switch c {
	case unspecified:
		return "unspecified address: it names no host"
	case loopback:
		return "loopback address: it leads every client to itself"
	case linkLocal:
		return "link-local address: it is reachable only on its own network link"
	case multicast:
		return "multicast address: it names no single host"
	case broadcast:
		return "broadcast address: it names no single host"
	case private:
		return "private address in a public name: its provider has no allowPrivate"
	case denied:
		return "in a network that the provider's targetFilter denies"
	case notAllowed:
		return "in no network that the provider's targetFilter allows"
	case invalid:
		return "neither an IP address nor a host name"
	case localhost:
		return "a name of the host itself: it leads every client to itself"
	case noDomain:
		return "a host name without a domain: it has no meaning outside its cluster; give the Service's load balancer a full name or an address"
	}
	return ""
}
