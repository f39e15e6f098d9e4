//go:build !unix

package throttle

// Descriptors returns how many files and sockets the process may have, if the system
// cannot tell.
func Descriptors() int {
	const usual = 1024
	return usual
}
