// Package address decides which addresses a name gets: it reads candidates out
// of Services, and folds a release with what the clusters were observed to
// offer into targets, each choice and rejection explained. All of it is pure.
package address

// Service names a Service of a cluster ("provider+cluster").
type Service struct {
	Cluster   string
	Namespace string
	Name      string
}

// Candidate is an address or host name that a Service offers.
type Candidate struct {
	Target string `json:"target"` // an IP address or a host name, as found
	Field  string `json:"field"`  // where it stands, as in "status.loadBalancer.ingress[0].ip"
}

// Observation is what a Service was last seen to offer. A Service that was
// seen to be absent has an Observation with Found false; one that was never
// looked at has none (unknown is not empty, I11).
type Observation struct {
	Found      bool        `json:"found"`
	Candidates []Candidate `json:"candidates,omitempty"` // in the order of the Service's fields
	ClusterIPs []string    `json:"clusterIPs,omitempty"` // its addresses inside the cluster
}
