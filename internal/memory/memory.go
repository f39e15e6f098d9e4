// Package memory measures what values take, for tests of how much they may.
package memory

import "runtime"

// InUse returns how many bytes of the heap are in use, without garbage.
func InUse() int {
	runtime.GC()
	runtime.GC() // what has finalizers goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
