package state

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/state/packed"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/recent"
)

// Release is what a group's lifecycle points to: the frozen inputs. It is written once, under its context id, and never changed.
type Release struct {
	Schema int        `json:"schema"` // the schema version that it needs; before schema versions 0
	Group  plan.Group `json:"group"`
	Inputs []Input    `json:"inputs"` // ordered by path
}

// Input is one document that a release follows from.
type Input struct {
	Path     intent.Path `json:"path"`
	UID      string      `json:"uid"`
	Revision int64       `json:"revision"`
	Schema   int         `json:"schema,omitempty"` // the schema version that it needs, where that is not 1
}

// NewRelease makes the release of a group, which needs what its inputs need. An input that needs more than this program
// knows is a Conflict: what it says beyond that would be missing.
func NewRelease(group plan.Group, inputs []Input) (Release, error) {
	r := Release{Schema: 1, Group: group, Inputs: inputs}
	for _, input := range inputs {
		if err := intent.CheckSchema(string(input.Path), input.Schema); err != nil {
			return r, err
		}
		r.Schema = max(r.Schema, input.Schema)
	}
	return r, nil
}

// ReleasePrefix is where releases are stored, by the id of their app context.
const ReleasePrefix = "/signpost/release/"

// ReleaseKeys is what the keys of a release begin with.
func ReleaseKeys(contextID string) string { return ReleasePrefix + contextID + "/" }

func chunkKey(contextID string, n int) string {
	return fmt.Sprintf("%s%06d", ReleaseKeys(contextID), n)
}

// chunkSize is how many bytes of a compressed release go into one key.
const chunkSize = 512 << 10

// SaveRelease writes a packed release. A crash in between leaves chunks that nobody points to.
func (s *Store) SaveRelease(ctx context.Context, contextID string, raw []byte) error {
	_, err := SaveReleaseIf(ctx, s, contextID, raw, nil)
	return err
}

// SaveReleaseIf writes a packed release, and other keys with its beginning. It answers the revision of that, 0 if the conditions do not hold.
func SaveReleaseIf(ctx context.Context, s *Store, contextID string, raw []byte, when []kv.Compare, also ...kv.Op) (revision int64, err error) {
	whole := raw
	for n := 0; len(raw) > 0; n++ {
		part := raw[:min(chunkSize, len(raw))]
		raw = raw[len(part):]
		done, at, err := s.KV.Txn(ctx, when, append([]kv.Op{kv.Put(chunkKey(contextID, n), part)}, also...)...)
		if !done || err != nil {
			return 0, err
		}
		revision, when, also = cmp.Or(revision, at), nil, nil
	}
	remember(&s.releases, contextID, keptRelease{packed: whole})
	return revision, nil
}

// keptRelease is a release that was read or written lately.
type keptRelease struct {
	packed []byte
	read   *Release // that of a name, of which there may be very many; nil: it was not read since it was written
}

// Bounds of what is remembered.
const (
	mostReleases = 640      // more than are read together by those who step
	largeRelease = 16 << 10 // bytes of a packed release that is read again
)

// remember keeps a release for who reads it next.
func remember(releases *recent.Memory[string, keptRelease], contextID string, r keptRelease) {
	if len(r.packed) <= largeRelease {
		releases.Keep(contextID, r, mostReleases)
	}
}

// LoadRelease reads a release back; the error of one that is not there has the
// code NotFound. The release of a name is shared: nobody may change its slices, maps and pointers.
func (s *Store) LoadRelease(ctx context.Context, contextID string) (r Release, err error) {
	known, is := s.releases.Get(contextID)
	if is && known.read != nil {
		return *known.read, nil
	}
	if !is {
		if known.packed, err = readPacked(ctx, s, contextID); err != nil {
			return r, err
		}
	}
	if r, err = unpack(s, contextID, known.packed); err == nil && intent.IsName(r.Group.Path) {
		known.read = &r
	}
	remember(&s.releases, contextID, known)
	return r, err
}

// Stores tells whether a release is what is stored under a context id.
func (s *Store) Stores(ctx context.Context, contextID string, r Release) (bool, error) {
	stored, err := readPacked(ctx, s, contextID) // another process may have dropped what is remembered here
	if intent.CodeOf(err) == intent.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	was, err := s.Packer.Unpack(bytes.NewReader(stored))
	if err != nil {
		return false, fmt.Errorf("release %s: %w", contextID, err)
	}
	is, err := json.Marshal(r)
	return bytes.Equal(was, is), err
}

// HasRelease tells whether a release is stored under a context id.
func HasRelease(ctx context.Context, s *Store, contextID string) (bool, error) {
	_, err := readPacked(ctx, s, contextID)
	if intent.CodeOf(err) == intent.NotFound {
		return false, nil
	}
	return err == nil, err
}

// LoadReleases reads several releases back, by their context ids. Missing and
// damaged releases are left out.
func (s *Store) LoadReleases(ctx context.Context, contextIDs []string) (map[string]Release, error) {
	keys := make([]string, 0, len(contextIDs))
	ids := make(map[string]string, len(contextIDs))
	out := make(map[string]Release, len(contextIDs))
	for _, id := range contextIDs {
		if _, known := s.releases.Get(id); known {
			if r, err := s.LoadRelease(ctx, id); err == nil {
				out[id] = r
				continue
			}
		}
		key := chunkKey(id, 0)
		keys, ids[key] = append(keys, key), id
	}
	if len(keys) == 0 {
		return out, nil
	}
	first, _, err := s.KV.Range(ctx, kv.Range{Keys: keys})
	if err != nil {
		return nil, err
	}
	for _, item := range first {
		id := ids[item.Key]
		var r Release
		if len(item.Value) == chunkSize { // there may be more of it
			r, err = s.LoadRelease(ctx, id)
		} else {
			r, err = unpack(s, id, item.Value)
		}
		switch {
		case err == nil:
			out[id] = r
		case intent.CodeOf(err) == intent.Unavailable:
			return nil, err
		case intent.CodeOf(err) != intent.NotFound:
			s.Logger.WarnContext(ctx, "a release is damaged", "contextID", id, "error", err)
		}
	}
	return out, nil
}

// readPacked reads a packed release.
func readPacked(ctx context.Context, s *Store, contextID string) ([]byte, error) {
	items, _, err := s.KV.Range(ctx, kv.Range{Prefix: ReleaseKeys(contextID)})
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, &intent.Error{Code: intent.NotFound, Detail: "release " + contextID + " is not there"}
	}
	var raw bytes.Buffer
	for _, item := range items {
		raw.Write(item.Value)
	}
	return raw.Bytes(), nil
}

// DropRelease removes a release. It is no error if there is none.
func (s *Store) DropRelease(ctx context.Context, contextID string) error {
	s.releases.Forget(contextID)
	_, _, err := s.KV.Txn(ctx, nil, kv.DeletePrefix(ReleaseKeys(contextID)))
	return err
}

// Pack is a release as it is stored.
func (s *Store) Pack(r Release) ([]byte, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return s.Packer.Pack(raw)
}

// Unpack is the release of Pack.
func Unpack(by *packed.Packer, from io.Reader) (r Release, err error) {
	text, err := by.Unpack(from)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

// unpack is the release that is stored under a context id.
func unpack(s *Store, contextID string, from []byte) (r Release, err error) {
	if r, err = Unpack(s.Packer, bytes.NewReader(from)); err != nil {
		err = fmt.Errorf("release %s: %w", contextID, err)
	}
	return r, err
}
