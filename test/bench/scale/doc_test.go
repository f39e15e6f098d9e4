// Package scale measures one Signpost process at growing sizes: what it costs at rest, what
// a request costs, how soon a changed address is written, and how a restart goes.
package scale
