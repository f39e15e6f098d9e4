package app

import (
	"math"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestTheMemoryLimitFollowsTheCgroup(t *testing.T) {
	t.Parallel()
	const machine = "MemTotal:       16000000 kB\nMemFree: 1 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"a container":               {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n"}, 512 << 20},
		"a service of systemd":      {map[string]string{"proc/self/cgroup": "0::/system.slice/signpost.service\n", "sys/fs/cgroup/system.slice/signpost.service/memory.max": "1073741824\n"}, 1 << 30},
		"a slice that allows less":  {map[string]string{"proc/self/cgroup": "0::/a.slice/b.service\n", "sys/fs/cgroup/a.slice/b.service/memory.max": "1073741824\n", "sys/fs/cgroup/a.slice/memory.max": "536870912\n"}, 512 << 20},
		"a path that is the host's": {map[string]string{"proc/self/cgroup": "0::/kubepods/pod1/c1\n", "sys/fs/cgroup/memory.max": "536870912\n"}, 512 << 20},
		"no limit":                  {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 16000000 << 10},
		"more than the machine has": {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "99999999999999\n"}, 16000000 << 10},
		"version 1":                 {map[string]string{"proc/self/cgroup": "5:cpu,memory:/docker/x\n0::/x\n", "sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": "268435456\n"}, 256 << 20},
		"version 1 without a limit": {map[string]string{"proc/self/cgroup": "5:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 16000000 << 10},
		"another system than Linux": {map[string]string{"proc/meminfo": ""}, 0},
		"what nobody can read":      {map[string]string{"proc/self/cgroup": "nonsense", "proc/meminfo": "MemTotal: much"}, 0},
	} {
		root := fstest.MapFS{"proc/meminfo": {Data: []byte(machine)}}
		for file, content := range c.files {
			root[file] = &fstest.MapFile{Data: []byte(content)}
		}
		require.Equal(t, c.want, memoryLimit(root), name)
	}
}

func TestMemoryIsScarceWhenLittleIsLeft(t *testing.T) {
	t.Parallel()
	require.True(t, memory{1}.scarce())
	require.False(t, memory{math.MaxInt64}.scarce())
	require.Zero(t, memory{math.MaxInt64}.forRequests())
	require.Equal(t, int64(128<<20), memory{512 << 20}.forRequests())
	require.Equal(t, int64(64<<20), memory{64 << 20}.forRequests())
}
