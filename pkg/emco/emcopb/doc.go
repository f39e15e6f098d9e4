// Package emcopb is what EMCO's services and Signpost say to each other, over gRPC.
// Signpost offers the service contextupdate, and EMCO's rsync offers installapp,
// updateapp and readyNotify. The .proto files fix field numbers, names and service paths
// as EMCO has them; none has a package, so that a method is
// /contextupdate/UpdateAppContext.
package emcopb

// The compiler and its plugins are tools of a module of its own; `make
// generate` runs this.
//
//go:generate go tool -modfile=../../../test/tools/buf/go.mod buf generate
