// Package load asks more of a Signpost server than it can do, from as many
// clients as a busy installation has: writers that do not pause, readers that
// look now and then, and some that mean harm. Its test says what remains true.
package load
