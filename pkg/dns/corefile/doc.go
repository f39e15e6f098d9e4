// Package corefile builds the configuration of a CoreDNS from typed values, and
// tells which way a query would take through it. It is pure: the same values
// give the same bytes.
//
// What it writes is what CoreDNS 1.15 takes. The shape of the server blocks
// follows the DNS operator of OpenShift, so that its users find what they know.
package corefile
