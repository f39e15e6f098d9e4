package vault

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const (
	digestKeyBytes = 32
	digestBytes    = 16

	// digestKeyID is that of the value by whose key digests are made. No document
	// refers to it, and it is not swept.
	digestKeyID = "digest-key"
)

// Digest answers 32 hexadecimal digits that identify a secret value. They are the same
// for the same value, on all replicas of the installation and with any sealing key. The
// digest's own key is drawn at the first call and kept sealed like other values: without
// that, a digest reveals nothing of the value.
func (v *Vault) Digest(ctx context.Context) (func(plain []byte) string, error) {
	key, err := v.digestKey(ctx)
	if err != nil {
		return nil, err
	}
	return func(plain []byte) string {
		mac := hmac.New(sha256.New, key)
		mac.Write(plain)
		return hex.EncodeToString(mac.Sum(nil)[:digestBytes])
	}, nil
}

// digestKey is the stored key. If there is none, or the key that sealed it is lost, it
// draws one, unless another replica comes first.
func (v *Vault) digestKey(ctx context.Context) ([]byte, error) {
	condition := intent.IfAbsent()
	doc, err := v.documents.Get(ctx, at(digestKeyID))
	if err == nil {
		var body value
		if err := json.Unmarshal(doc.Body, &body); err != nil {
			return nil, err
		}
		if _, _, known := v.sealer.KeyOf(body.Sealed); known {
			return v.sealer.Open(body.Sealed, body.associated())
		}
		condition = intent.IfRevision(doc.Revision)
	} else if intent.CodeOf(err) != intent.NotFound {
		return nil, err
	}
	key := make([]byte, digestKeyBytes)
	_, _ = rand.Read(key) // which never fails
	err = v.put(ctx, digestKeyID, value{Path: intent.Join(intent.InstallationCollection, "id"), Field: "/digestKey"}, key, condition)
	if code := intent.CodeOf(err); code == intent.Conflict || code == intent.PreconditionFailed {
		return v.Secret(ctx, digestKeyID)
	}
	return key, err
}
