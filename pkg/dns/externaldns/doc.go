// Package externaldns knows the flags of the external-dns program: which
// parameters a DNS update record may carry, what each must look like, and which
// command line follows from them for a given version.
//
// The flags are rows of one table (see [Flags]), the providers rows of another (see
// [Providers]), which name their flags. Three questions are answered from it:
//
//   - [Check]: may these parameters be stored, and what is odd about them?
//   - [Compile]: which arguments does external-dns get, or why can it not work?
//   - [Covers]: does a host name fall within what the record manages?
//
// The package is a leaf: it needs the standard library alone, keeps no state,
// and all of its functions are pure and safe for concurrent use.
package externaldns
