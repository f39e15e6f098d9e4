//go:build unix

package etcd

import "syscall"

// space is how much of the disk with a directory is free, and the whole of it; 0 and
// 0 where that cannot be told.
func space(dir string) (free, all int64) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, 0
	}
	block := int64(disk.Bsize)                                    //nolint:unconvert // macOS has another type
	return int64(disk.Bavail) * block, int64(disk.Blocks) * block //nolint:gosec // disks are not that large
}
