package app

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
)

// memory is how much the process may use: GOMEMLIMIT, or nine tenths of what its
// cgroup or else the machine has.
type memory struct{ limit int64 }

// boundMemory has Go's garbage collector keep to the memory of the machine, unless
// GOMEMLIMIT says otherwise.
func boundMemory() memory {
	const share, of = 9, 10 // the rest is for what is not Go's
	if limit := memoryLimit(os.DirFS("/")); limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / of * share)
	}
	return memory{debug.SetMemoryLimit(-1)}
}

// forRequests is how many bytes requests may take at once; 0 for what is usual.
func (m memory) forRequests() int64 {
	const share, least = 4, 64 << 20
	if m.limit == math.MaxInt64 {
		return 0
	}
	return max(m.limit/share, least)
}

// scarce tells whether what lives takes nearly all: little is left for requests, and
// collecting garbage would take all the time that there is.
func (m memory) scarce() bool {
	const nearly, of = 7, 8
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64() > uint64(m.limit/of*nearly) //nolint:gosec // a limit is not below 0
}

// memoryLimit is how many bytes the process' cgroups allow, or else the machine has;
// 0 where nothing says.
func memoryLimit(root fs.FS) int64 {
	limit := int64(math.MaxInt64)
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		hierarchy, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		switch {
		case hierarchy == "0":
			limit = min(limit, limitOf(root, "sys/fs/cgroup", group, "memory.max"))
		case slices.Contains(strings.Split(controllers, ","), "memory"):
			limit = min(limit, limitOf(root, "sys/fs/cgroup/memory", group, "memory.limit_in_bytes"))
		}
	}
	if limit = min(limit, machineMemory(root)); limit == math.MaxInt64 {
		return 0
	}
	return limit
}

// limitOf is the least that a cgroup and those around it allow.
func limitOf(root fs.FS, mounted, group, file string) int64 {
	limit := int64(math.MaxInt64)
	for at := path.Join("/", group); ; at = path.Dir(at) {
		text, _ := fs.ReadFile(root, path.Join(mounted, at, file))
		if bytes, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && bytes > 0 {
			limit = min(limit, bytes)
		}
		if at == "/" {
			return limit
		}
	}
}

// machineMemory is what the machine has.
func machineMemory(root fs.FS) int64 {
	text, _ := fs.ReadFile(root, "proc/meminfo")
	for line := range strings.Lines(string(text)) {
		if total, is := strings.CutPrefix(line, "MemTotal:"); is {
			if kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(total), " kB"), 10, 64); err == nil {
				return kilobytes << 10
			}
		}
	}
	return math.MaxInt64
}
