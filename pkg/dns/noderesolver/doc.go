// Package noderesolver keeps the addresses of some cluster services in a node's
// hosts file, for what runs on the node itself and does not ask the cluster's
// DNS: the container runtime that pulls from a registry inside the cluster.
//
// It owns the lines that carry its mark, and touches no other: a node may have
// several, each with its own. What cannot be
// found out stays as it was: a nameserver that does not answer takes no entry
// away.
package noderesolver
