// Package noderesolver keeps the addresses of some cluster services in a node's hosts
// file. They are for programs on the node that do not ask the cluster's DNS. The
// container runtime that pulls from a registry inside the cluster is one.
//
// It owns the lines that carry its mark, and touches no other: a node may have several,
// each with its own. An address that cannot be found out stays as it was: a nameserver
// that does not answer removes no entry.
package noderesolver
