// Package seal encrypts secrets at rest: AES-256-GCM with random nonces, bound
// to the place where they are kept.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// version begins each sealed text, so that its form can change.
const version = "sp1"

// Errors of Open, to be told apart with errors.Is.
var (
	// ErrWrongKey: the text was sealed with a key that this Sealer lacks.
	ErrWrongKey = errors.New("sealed with another key")
	// ErrDamaged: the text is not what Seal answered, or was sealed for
	// another place.
	ErrDamaged = errors.New("damaged, or moved from another place")
)

// Sealer seals with one key and opens what that or an older one has sealed.
// Safe for concurrent use.
type Sealer struct {
	id   string
	keys map[string]cipher.AEAD
}

// New makes a Sealer that seals with key, and opens what it or one of the
// older keys has sealed.
func New(key Key, older ...Key) (*Sealer, error) {
	s := &Sealer{id: key.id, keys: map[string]cipher.AEAD{}}
	for _, one := range append(older, key) {
		if one.id == "" {
			return nil, errors.New("a sealing key is empty")
		}
		block, err := aes.NewCipher(one.secret[:])
		if err != nil {
			return nil, fmt.Errorf("use %s: %w", one, err)
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, fmt.Errorf("use %s: %w", one, err)
		}
		s.keys[one.id] = aead
	}
	return s, nil
}

// Seal encrypts plain for one place, aad, such as a document's path and a
// field of it: "sp1:<key id>:<base64 of nonce and ciphertext>". Sealing the
// same twice gives different texts.
func (s *Sealer) Seal(plain []byte, aad string) (string, error) {
	aead, ok := s.keys[s.id]
	if !ok {
		return "", errors.New("there is no sealing key")
	}
	sealed := aead.Seal(nil, nil, plain, bound(s.id, aad))
	return version + ":" + s.id + ":" + base64.RawStdEncoding.EncodeToString(sealed), nil
}

// Open decrypts what Seal answered for the same place. Errors: ErrWrongKey,
// which names both keys; ErrDamaged. Neither quotes the text.
func (s *Sealer) Open(text, aad string) ([]byte, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 || parts[0] != version {
		return nil, fmt.Errorf("a sealed value is %w: it does not begin with %q", ErrDamaged, version+":<key>:")
	}
	id := parts[1]
	aead, ok := s.keys[id]
	if !ok && isID(id) {
		return nil, fmt.Errorf("a sealed value is %w: %s, here is %s", ErrWrongKey, id, s.id)
	}
	if !ok {
		return nil, fmt.Errorf("a sealed value is %w: it names no key", ErrDamaged)
	}
	sealed, err := base64.RawStdEncoding.Strict().DecodeString(parts[2])
	if err != nil || strings.ContainsAny(parts[2], "\r\n") { // which the decoder skips
		return nil, fmt.Errorf("a sealed value is %w: it is not base64", ErrDamaged)
	}
	plain, err := aead.Open(nil, nil, sealed, bound(id, aad))
	if err != nil {
		return nil, fmt.Errorf("a sealed value is %w", ErrDamaged)
	}
	return plain, nil
}

// Key is the id of the key that seals.
func (s *Sealer) Key() string { return s.id }

// KeyOf is the id of the key that a text was sealed with, empty for other texts. It tells
// by current whether Seal uses that key now, and by known whether Open has it.
func (s *Sealer) KeyOf(text string) (id string, current, known bool) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 || parts[0] != version || !isID(parts[1]) {
		return "", false, false
	}
	_, known = s.keys[parts[1]]
	return parts[1], parts[1] == s.id, known
}

// Knows says whether a key, by its id, is one that this Sealer opens with.
func (s *Sealer) Knows(id string) bool { return s.keys[id] != nil }

func isID(id string) bool {
	return len(id) == 2*idBytes && strings.Trim(id, "0123456789abcdef") == ""
}

// bound is what the ciphertext is bound to, besides the key itself.
func bound(id, aad string) []byte { return []byte(version + ":" + id + ":" + aad) }
