// Package directory has a directory of manifests stand for a cluster, as GitOps tools apply it.
package directory

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// clusterFolder holds the files of objects that stand outside namespaces.
const clusterFolder = "_cluster"

// Files can be read by everybody who may read the tree, as Git has it.
const (
	folderMode = 0o755
	fileMode   = 0o644
)

// maxManifest is the size, in bytes, of the largest file that is looked into.
const maxManifest = 4 << 20

// Directory is a Target over a directory of manifests, one file per object,
// as a Git working tree has them. Files that do not carry the installation's
// label are somebody else's. An object's resource version is the hash of its
// file, and its UID that of its place.
type Directory struct {
	options cluster.Options
	base    string // the directory root
	name    string

	mu       sync.Mutex // one write at a time
	watchers map[*directoryWatches]bool

	opening sync.Mutex
	root    *os.Root // of the cluster's directory: nothing outside can be reached, through symlinks neither
}

var _ cluster.Target = (*Directory)(nil)

// CheckDirectory judges the name of a cluster's directory: a relative path
// that stays below the root.
func CheckDirectory(name string) error {
	if name == "" || name == "." || !filepath.IsLocal(name) || strings.Contains(name, `\`) || path.Clean(name) != name {
		return fmt.Errorf("directory %q is not a path below the directory root: it must be relative, without . or .. segments", name)
	}
	return nil
}

// NewDirectory makes a Target over the directory name below root; both are
// made where they are missing.
func NewDirectory(root, name string, options cluster.Options) (*Directory, error) {
	if err := CheckDirectory(name); err != nil {
		return nil, &fault.Error{Fault: fault.Refused, Message: err.Error(), Err: err}
	}
	if err := os.MkdirAll(root, folderMode); err != nil {
		return nil, fileError("make the directory root", err)
	}
	d := &Directory{options: options, base: root, name: name, watchers: map[*directoryWatches]bool{}}
	own, err := d.open()
	if err != nil {
		return nil, err
	}
	d.root = own
	return d, nil
}

func (d *Directory) open() (*os.Root, error) {
	all, err := os.OpenRoot(d.base)
	if err != nil {
		return nil, fileError("open the directory root", err)
	}
	defer func() { _ = all.Close() }()
	if err := all.MkdirAll(d.name, folderMode); err != nil {
		return nil, fileError("make directory "+d.name, err)
	}
	own, err := all.OpenRoot(d.name)
	if err != nil {
		return nil, fileError("open directory "+d.name, err)
	}
	return own, nil
}

// dir is the open directory.
func (d *Directory) dir() *os.Root {
	d.opening.Lock()
	defer d.opening.Unlock()
	return d.root
}

// reopen follows a directory that was removed or put in another's place since
// it was opened. A root that is gone is not made again: it may be a mount that
// is missing, below which nothing is known.
func (d *Directory) reopen() error {
	own, err := d.open()
	if err != nil {
		return err
	}
	now, err := own.Stat(".")
	if err != nil {
		_ = own.Close()
		return fileError("look at directory "+d.name, err)
	}
	d.opening.Lock()
	defer d.opening.Unlock()
	if before, err := d.root.Stat("."); err == nil && os.SameFile(before, now) {
		return own.Close()
	}
	_ = d.root.Close()
	d.root = own
	return nil
}

// fileError says what could not be done, without the machine's paths.
func fileError(what string, err error) error {
	var at *fs.PathError
	message := err.Error()
	if errors.As(err, &at) {
		message = at.Err.Error()
	}
	return &fault.Error{Fault: fault.Unreachable, Message: what + ": " + message, Err: err}
}

// Identity answers the directory's name: all that lies there is this cluster.
func (d *Directory) Identity(ctx context.Context) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", cluster.Classify(err, cluster.Reading)
	}
	if err := d.reopen(); err != nil {
		return "", err
	}
	return "directory:" + d.name, nil
}

// Metrics implements Target: there is nobody to ask.
func (d *Directory) Metrics(context.Context, string, string, int32) (cluster.Metrics, error) {
	return nil, errNoPods()
}

func errNoPods() error { return cluster.Refuse("a directory of manifests runs no pods") }

// place is the object's file, relative to the cluster's directory.
func place(id bundle.ID) (string, error) {
	folder := cmp.Or(id.Namespace, clusterFolder)
	file := strings.ToLower(id.Kind) + "_" + id.Name + ".yaml"
	for _, segment := range []string{folder, file} {
		if strings.ContainsAny(segment, "/\\\x00") || !filepath.IsLocal(segment) {
			return "", cluster.Refuse(id.String() + ": its name makes no file name")
		}
	}
	return path.Join(folder, file), nil
}

// Get implements Target.
func (d *Directory) Get(ctx context.Context, id bundle.ID) (*cluster.Live, error) {
	if err := ctx.Err(); err != nil {
		return nil, cluster.Classify(err, cluster.Reading)
	}
	at, err := place(id)
	if err != nil {
		return nil, err
	}
	return d.read(at, id)
}

// read answers what lies at a place. A file that holds some other object, or none, is
// there all the same, and nobody's. So is a path that is no file; it is not opened,
// because that could take for ever.
func (d *Directory) read(at string, id bundle.ID) (*cluster.Live, error) {
	info, err := d.dir().Lstat(at)
	if err == nil && !info.Mode().IsRegular() {
		return &cluster.Live{Version: cluster.Version{UID: hash([]byte(at)), ResourceVersion: info.Mode().Type().String()}}, nil
	}
	raw, err := d.slurp(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fileError("read "+at, err)
	}
	live, found, err := contentOf(at, raw)
	if err != nil || found.Group != id.Group || found.Kind != id.Kind || found.Name != id.Name {
		live.Labels, live.Annotations = nil, nil
	}
	return &live, nil
}

func (d *Directory) slurp(at string) ([]byte, error) {
	file, err := d.dir().Open(at)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	return io.ReadAll(io.LimitReader(file, maxManifest))
}

// Create implements Target.
func (d *Directory) Create(ctx context.Context, o bundle.Object) (cluster.Live, error) {
	return d.write(ctx, o, func(live *cluster.Live) error {
		if live != nil {
			return &fault.Error{Fault: cluster.Exists, Code: http.StatusConflict, Message: "there is a file of this name already"}
		}
		return nil
	})
}

// Apply implements Target.
func (d *Directory) Apply(ctx context.Context, o bundle.Object, at cluster.Version) (cluster.Live, error) {
	return d.write(ctx, o, func(live *cluster.Live) error {
		if live == nil || live.Version != at {
			return &fault.Error{Fault: fault.Stale, Code: http.StatusConflict, Message: "the file has changed"}
		}
		return nil
	})
}

func (d *Directory) write(ctx context.Context, o bundle.Object, allow func(*cluster.Live) error) (cluster.Live, error) {
	if err := ctx.Err(); err != nil {
		return cluster.Live{}, cluster.Classify(err, cluster.Applying)
	}
	at, err := place(o.ID)
	if err != nil {
		return cluster.Live{}, err
	}
	raw, asJSON, err := d.render(o)
	if err != nil {
		return cluster.Live{}, err
	}
	wrote, _, err := contentAs(at, raw, asJSON)
	if err != nil {
		return cluster.Live{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	live, err := d.read(at, o.ID)
	if err != nil {
		return cluster.Live{}, err
	}
	if err := allow(live); err != nil {
		return cluster.Live{}, err
	}
	if live != nil && live.Version == wrote.Version {
		return wrote, nil
	}
	if err := d.put(at, raw, live == nil); err != nil {
		return cluster.Live{}, err
	}
	d.changed(at)
	return wrote, nil
}

// put writes the whole file or nothing: into a temporary file beside it, which
// then takes its name. A new file never replaces one that came in between.
func (d *Directory) put(at string, raw []byte, fresh bool) error {
	folder := path.Dir(at)
	if err := d.dir().MkdirAll(folder, folderMode); err != nil {
		return fileError("make "+folder, err)
	}
	temporary := path.Join(folder, ".signpost-"+rand.Text())
	if err := d.writeSynced(temporary, raw); err != nil {
		_ = d.dir().Remove(temporary)
		return fileError("write "+at, err)
	}
	var err error
	if fresh {
		err = d.dir().Link(temporary, at)
		_ = d.dir().Remove(temporary)
	} else if err = d.dir().Rename(temporary, at); err != nil {
		_ = d.dir().Remove(temporary)
	}
	if errors.Is(err, fs.ErrExist) {
		return &fault.Error{Fault: cluster.Exists, Code: http.StatusConflict, Message: "there is a file of this name already", Err: err}
	}
	if err != nil {
		return fileError("write "+at, err)
	}
	d.syncFolder(folder)
	return nil
}

func (d *Directory) writeSynced(at string, raw []byte) error {
	file, err := d.dir().OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	_, err = file.Write(raw)
	return errors.Join(err, file.Sync(), file.Close())
}

// syncFolder makes the names in a folder last. If the file system cannot, the scan finds
// what a crash has lost.
func (d *Directory) syncFolder(folder string) {
	file, err := d.dir().Open(folder)
	if err != nil {
		return
	}
	_ = file.Sync()
	_ = file.Close()
}

// Restore implements Target: a file that is written holds nothing of others.
func (d *Directory) Restore(ctx context.Context, o bundle.Object, at cluster.Version) (cluster.Live, error) {
	return d.Apply(ctx, o, at)
}

// Delete implements Target. A namespace's folder goes with its last file: Git
// knows no empty ones.
func (d *Directory) Delete(ctx context.Context, id bundle.ID, version cluster.Version) error {
	if err := ctx.Err(); err != nil {
		return cluster.Classify(err, cluster.Deleting)
	}
	at, err := place(id)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	live, err := d.read(at, id)
	if err != nil || live == nil {
		return err
	}
	if live.Version != version {
		return &fault.Error{Fault: fault.Stale, Code: http.StatusConflict, Message: "the file has changed"}
	}
	if err := d.dir().Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fileError("remove "+at, err)
	}
	d.syncFolder(path.Dir(at))
	d.vacated(path.Dir(at))
	d.changed(at)
	return nil
}

// vacated removes a folder that a file of ours has left; the file system refuses
// that unless it is empty.
func (d *Directory) vacated(folder string) {
	if info, err := d.dir().Lstat(folder); err == nil && info.IsDir() {
		_ = d.dir().Remove(folder)
	}
}

// Established implements Target: what a directory's kinds mean is up to those
// who apply it.
func (d *Directory) Established(ctx context.Context, _ cluster.Kind) (bool, error) {
	return true, cluster.Classify(ctx.Err(), cluster.Reading)
}

// Occupant implements Target.
func (d *Directory) Occupant(ctx context.Context, namespace string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", cluster.Classify(err, cluster.Reading)
	}
	if _, err := place(bundle.ID{Kind: "Namespace", Namespace: namespace, Name: namespace}); err != nil || namespace == "" {
		return "", cluster.Refuse("a namespace's name makes no folder name")
	}
	entries, err := fs.ReadDir(d.dir().FS(), namespace)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fileError("list "+namespace, err)
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".signpost-") {
			return path.Join(namespace, entry.Name()), nil
		}
	}
	return "", nil
}

// Close implements Target.
func (d *Directory) Close() { _ = d.dir().Close() }

// changed tells the watches of a write of our own, at once.
func (d *Directory) changed(at string) {
	for w := range d.watchers {
		w.refresh(at)
	}
}

// Share implements Target: the file would be edited by two.
func (d *Directory) Share(_ context.Context, o bundle.Object) (cluster.Live, error) {
	return cluster.Live{}, cluster.Refuse(o.ID.String() + " is somebody else's file: in a directory of manifests its keys cannot be shared")
}

// Unshare implements Target: nothing was ever shared.
func (d *Directory) Unshare(context.Context, bundle.ID) error { return nil }

// Preflight checks that the directory is there and can be written to.
func (d *Directory) Preflight(ctx context.Context) intent.Preflight {
	const there, writable = "has its directory", "can write to its directory"
	if _, err := d.Identity(ctx); err != nil {
		return intent.Preflight{Checks: []intent.Check{cluster.Checked(there, false, err.Error())}}
	}
	report := intent.Preflight{Reachable: true, Checks: []intent.Check{cluster.Checked(there, true, "")}}
	const probe = ".signpost-preflight"
	file, err := d.dir().Create(probe)
	if err == nil {
		err = file.Close()
	}
	if err == nil {
		err = d.dir().Remove(probe)
	}
	if err != nil {
		report.Checks = append(report.Checks, cluster.Checked(writable, false, fileError("write a file", err).Error()))
		return report
	}
	report.Checks = append(report.Checks, cluster.Checked(writable, true, ""))
	return report
}
