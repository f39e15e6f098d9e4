//go:build unix

package throttle

import (
	"math"
	"syscall"
)

// Descriptors returns how many files and sockets the process may have. Go raises that to
// the hard limit at the start.
func Descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		const usual = 1024
		return usual
	}
	return int(min(limit.Cur, math.MaxInt32)) //nolint:gosec // it is no more than fits
}
