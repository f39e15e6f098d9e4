// Package corefile builds the configuration of a CoreDNS from typed values, and traces
// queries through it. It is pure: the same values give the same bytes.
//
// Its output is for CoreDNS 1.15. The shape of the server blocks follows the DNS operator
// of OpenShift, so that its users find their way.
package corefile
