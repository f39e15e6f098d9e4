package directory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// contentOf is what a file has: its version, the marks of its object, and which object that is. Of a text that is no
// object, only the version and the error are of use.
func contentOf(at string, raw []byte) (cluster.Live, bundle.ID, error) {
	var asJSON json.RawMessage
	if err := safeyaml.Unmarshal(raw, &asJSON); err != nil {
		return cluster.Live{Version: versionOf(at, raw)}, bundle.ID{}, err
	}
	return contentAs(at, raw, asJSON)
}

func versionOf(at string, raw []byte) cluster.Version {
	return cluster.Version{UID: hash([]byte(at)), ResourceVersion: hash(raw)}
}

// contentAs is contentOf a file that says the same as some JSON.
func contentAs(at string, raw, asJSON []byte) (cluster.Live, bundle.ID, error) {
	live := cluster.Live{Version: versionOf(at, raw)}
	var head struct {
		Metadata struct {
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(asJSON, &head); err == nil {
		live.Labels, live.Annotations = head.Metadata.Labels, head.Metadata.Annotations
	}
	o, err := bundle.Parse("", "", asJSON)
	return live, o.ID, err
}

func hash(raw []byte) string {
	of := sum(raw)
	return hex.EncodeToString(of[:])
}

// hashed is how many bytes a hash has: enough to tell a file from what it was before.
const hashed = 8

func sum(raw []byte) [hashed]byte {
	of := sha256.Sum256(raw)
	return [hashed]byte(of[:hashed])
}

// render writes the object as a file has it, and as JSON. A Secret whose value only
// Signpost knows is refused: it would be plain in Git.
func (d *Directory) render(o bundle.Object) (raw, asJSON []byte, err error) {
	c, err := cluster.Parse(o, d.options.Installation)
	if err != nil {
		return nil, nil, err
	}
	references, err := c.References()
	if err != nil {
		return nil, nil, err
	}
	if len(references) > 0 {
		return nil, nil, cluster.Refuse("a directory takes credentials with secretRef only: an inline value would be plain in its files")
	}
	if asJSON, err = json.Marshal(c.Fields); err != nil {
		return nil, nil, cluster.Refuse(o.ID.String() + " cannot be written as JSON")
	}
	if raw, err = safeyaml.FromJSON(asJSON); err != nil {
		return nil, nil, cluster.Refuse(o.ID.String() + " cannot be written as YAML")
	}
	return raw, asJSON, nil
}
