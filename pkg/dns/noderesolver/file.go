package noderesolver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// File is a hosts file that is replaced as a whole. A reader sees the old content or the
// new one, also after a crash.
//
// A file that is a mount of its own, as a container gets it, cannot be replaced, only
// written to. Then the new content goes to Journal first, and Recover finishes a write
// that a crash interrupted.
type File struct {
	Path    string
	Journal string // a file that outlives the program; empty: a file that cannot be replaced is refused
}

// Change is how a file was changed.
type Change int

// The changes.
const (
	Unchanged Change = iota // it was right already
	Replaced                // by another file, in one step
	Rewritten               // in place, since it cannot be replaced
)

// Update changes the content of the file. Its mode and owner stay. It waits for
// others that change files of the directory, until ctx ends.
func (f File) Update(ctx context.Context, edit func(content []byte) []byte) (Change, error) {
	path, err := filepath.EvalSymlinks(f.Path)
	if err != nil {
		return Unchanged, err
	}
	unlock, err := lock(ctx, filepath.Dir(path))
	if err != nil {
		return Unchanged, err
	}
	defer unlock()
	before, err := os.ReadFile(path)
	if err != nil {
		return Unchanged, err
	}
	after := edit(before)
	if bytes.Equal(before, after) {
		return Unchanged, nil
	}
	err = replace(path, before, after)
	if errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV) {
		return Rewritten, f.rewrite(path, after)
	}
	return Replaced, err
}

// lockRetry is how often a lock that somebody else has is tried.
const lockRetry = 10 * time.Millisecond

// lock keeps other node resolvers from changing files of the directory, until
// it is unlocked or the program ends.
func lock(ctx context.Context, directory string) (unlock func(), err error) {
	file, err := os.Open(directory)
	if err != nil {
		return nil, err
	}
	unlock = func() { _ = file.Close() } // which nobody has written to
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return unlock, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			unlock()
			return nil, fmt.Errorf("lock %s: %w", directory, err)
		}
		select {
		case <-ctx.Done():
			unlock()
			return nil, fmt.Errorf("lock %s, which another program keeps locked: %w", directory, ctx.Err())
		case <-time.After(lockRetry):
		}
	}
}

// errEdited says that somebody else has edited the file meanwhile.
var errEdited = errors.New("somebody else has edited the file meanwhile")

// draftSuffix names the draft beside a file. A draft that a crash left is
// overwritten by the next one.
const draftSuffix = ".signpost-new"

// replace puts another file in the place of this one.
func replace(path string, before, after []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	draft := path + draftSuffix
	if err := writeDraft(draft, after, info); err != nil {
		_ = os.Remove(draft) // else the next one overwrites it
		return err
	}
	now, err := os.ReadFile(path)
	if err == nil && !bytes.Equal(now, before) {
		err = errEdited
	}
	if err == nil {
		err = os.Rename(draft, path)
	}
	if err != nil {
		_ = os.Remove(draft) // else the next one overwrites it
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

// writeDraft writes a file down to the disk, with the mode and the owner of
// another one, if any.
func writeDraft(path string, content []byte, like fs.FileInfo) error {
	draft, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = draft.Write(content)
	if err == nil && like != nil {
		err = resemble(draft, like)
	}
	if err == nil {
		err = draft.Sync()
	}
	return errors.Join(err, draft.Close())
}

// resemble gives a file the owner and the mode of another one.
func resemble(file *os.File, like fs.FileInfo) error {
	if owner, ok := like.Sys().(*syscall.Stat_t); ok {
		if err := file.Chown(int(owner.Uid), int(owner.Gid)); err != nil {
			return err
		}
	}
	return file.Chmod(like.Mode().Perm())
}

// rewrite writes the content in place.
func (f File) rewrite(path string, content []byte) error {
	if f.Journal == "" {
		return fmt.Errorf("%s is a mount of its own, which cannot be replaced: mount its directory, or give a journal", path)
	}
	if err := writeJournal(f.Journal, content); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return f.finish(path, content)
}

// Recover finishes a rewriting that was cut short. It is called before the
// first Update.
func (f File) Recover() error {
	if f.Journal == "" {
		return nil
	}
	content, err := os.ReadFile(f.Journal)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	path, err := filepath.EvalSymlinks(f.Path)
	if err != nil {
		return err
	}
	return f.finish(path, content)
}

// finish brings the file to the journal's content and ends the journal.
func (f File) finish(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(content, 0)
	if err == nil {
		err = file.Truncate(int64(len(content)))
	}
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Remove(f.Journal)
}

// writeJournal writes a file, whole or not at all.
func writeJournal(path string, content []byte) error {
	draft := path + draftSuffix
	if err := writeDraft(draft, content, nil); err != nil {
		return err
	}
	if err := os.Rename(draft, path); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

func syncDirectory(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}
