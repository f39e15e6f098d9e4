// Package tenants tells what a hostile editor of one project tries in order to
// get at another one, and that every attempt is refused: hostile.txt is the
// table. Beside it, two installations share one cluster.
package tenants
