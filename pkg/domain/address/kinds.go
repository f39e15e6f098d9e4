package address

import "github.com/signpost-dns/signpost/pkg/domain/intent"

// Kind says what a candidate is an address of.
type Kind string

// The kinds of candidates.
const (
	LoadBalancer Kind = "loadBalancer" // of the Service's load balancer
	External     Kind = "external"     // an external IP of the Service
	Ingress      Kind = "ingress"      // of an Ingress that leads to the Service
	Gateway      Kind = "gateway"      // of a Gateway with an HTTPRoute that leads to the Service
	Node         Kind = "node"         // an external address of a node, for a NodePort
	NodeInternal Kind = "nodeInternal" // an internal address of a node, for a NodePort
	ClusterIP    Kind = "clusterIP"    // of the Service inside its cluster
	Endpoint     Kind = "endpoint"     // of a ready endpoint of a headless Service
	Fixed        Kind = "fixed"        // none: the document of the name gives it
)

// Ranks of kinds in a scope: only the best kind of a Service counts. Addresses for
// clients outside are the best, in each address family by itself. A Service's nodes and
// its cluster IPs have different ports, so that they never stand under one name.
const (
	outward = iota
	nodes
	moreNodes
	inside
	nowhere // the kind is never published in the scope
)

// kindRow is a kind with its rank in each scope.
type kindRow struct {
	kind            Kind
	public, cluster int
}

// kindRows lists all kinds, in the order of candidates.
func kindRows() []kindRow {
	return []kindRow{
		{LoadBalancer, outward, outward},
		{External, outward, outward},
		{Ingress, outward, outward},
		{Gateway, outward, outward},
		{Node, nodes, moreNodes},
		{NodeInternal, nowhere, nodes},
		{ClusterIP, nowhere, inside},
		{Endpoint, inside, inside},
		{Fixed, outward, outward},
	}
}

// Kinds are all kinds, in the order of candidates.
func Kinds() []Kind {
	var kinds []Kind
	for _, row := range kindRows() {
		kinds = append(kinds, row.kind)
	}
	return kinds
}

func rank(scope intent.Scope, kind Kind) int {
	for _, row := range kindRows() {
		switch {
		case row.kind != kind:
		case scope == intent.Public:
			return row.public
		default:
			return row.cluster
		}
	}
	return nowhere // a kind without a rank must not become public
}
