// Package autopath proves autopath on real parts: pods' lookups, by a client
// that expands as glibc does and by glibc itself, through node caches and DNS
// pods as a DNS CR intent asks for them, with a cluster in a real API server
// and the rest of the world in a nameserver that counts.
//
// Its tests run on a machine of their own ([Enter]), so the addresses are those
// of a node: 169.254.20.10 and port 53.
package autopath
