// Package hostile floods a running Signpost: six clusters of one tenant, the issuer of
// tokens and a DNS server answer what has no end. Signpost stays small, other tenants
// are answered as ever, and no address is lost.
package hostile
