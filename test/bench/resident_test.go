package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// resident is how much of a process is in memory, in bytes.
func resident(pid int) (int, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kilobytes, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
			return kilobytes << 10, err
		}
	}
	return 0, fmt.Errorf("process %d tells no VmRSS", pid)
}

// processorTime is how long a process has kept processors busy so far.
func processorTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	const tick = 10 * time.Millisecond // Linux counts in hundredths of a second
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	const user, system = 11, 12 // behind the name, see proc(5)
	if len(fields) <= system {
		return 0, fmt.Errorf("process %d tells no times", pid)
	}
	var total time.Duration
	for _, field := range []string{fields[user], fields[system]} {
		ticks, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		total += time.Duration(ticks) * tick
	}
	return total, nil
}
