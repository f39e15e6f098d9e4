// Package bench measures Signpost beside something to measure it by: the least
// that any program needs for the same, or what others do.
package bench
