package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockPoll is how often a process looks again whether the lock is free.
const lockPoll = 200 * time.Millisecond

// lock takes the lock that the file at path stands for, waiting while another
// process holds it; waiting is called once when that is so. The system frees
// the lock of a process that dies. The caller calls unlock when done.
func lock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := acquire(ctx, file, waiting); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = file.Close() }, nil
}

// acquire tries to lock the file until it succeeds or ctx ends.
func acquire(ctx context.Context, file *os.File, waiting func()) error {
	taken, err := tryLock(file)
	if err != nil || taken {
		return err
	}
	waiting()
	ticker := time.NewTicker(lockPoll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
			if taken, err := tryLock(file); err != nil || taken {
				return err
			}
		}
	}
}

// tryLock takes the lock if it is free.
func tryLock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}
