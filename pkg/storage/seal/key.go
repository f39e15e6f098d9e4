package seal

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	keyBytes = 32    // AES-256
	keyMode  = 0o600 // of a key file
	idBytes  = 4     // of a key's hash, in its id
	maxFile  = 1 << 12
)

// Key is a key for sealing. Its zero value seals nothing. It prints as its id.
type Key struct {
	secret [keyBytes]byte
	id     string
}

// NewKey makes a key of 32 bytes of secret.
func NewKey(secret []byte) (Key, error) {
	if len(secret) != keyBytes {
		return Key{}, fmt.Errorf("a key has %d bytes, not %d", keyBytes, len(secret))
	}
	sum := sha256.Sum256(append([]byte("signpost key id\n"), secret...))
	k := Key{id: hex.EncodeToString(sum[:idBytes])}
	copy(k.secret[:], secret)
	return k, nil
}

// ID names the key in what it sealed: 8 hexadecimal digits of a hash of it.
func (k Key) ID() string { return k.id }

// String keeps the secret out of logs.
func (k Key) String() string { return "key " + k.id }

// GoString keeps the secret out of logs.
func (k Key) GoString() string { return k.String() }

// LoadKeyFile reads a key file: base64 of 32 bytes, white space around it is
// ignored. A file that everybody may read, or others than its owner may write,
// is refused. Its group may read it: that is how Kubernetes gives a Secret's
// file to a container that does not run as root.
func LoadKeyFile(path string) (Key, error) {
	file, err := os.Open(path)
	if err != nil {
		return Key{}, fmt.Errorf("open the key file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Key{}, fmt.Errorf("look at the key file: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return Key{}, fmt.Errorf("the key file %s is not a file of base64 of %d bytes", path, keyBytes)
	}
	if mode := info.Mode().Perm(); mode&0o027 != 0 {
		return Key{}, fmt.Errorf("the key file %s has mode %04o, which is open to others: chmod 600 %s", path, mode, path)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return Key{}, fmt.Errorf("read the key file: %w", err)
	}
	key, err := ParseKey(string(text))
	if err != nil {
		return Key{}, fmt.Errorf("the key file %s: %w", path, err)
	}
	return key, nil
}

// ParseKey reads a key from text: base64 of 32 bytes, white space around it is
// ignored. Its error does not quote the text.
func ParseKey(text string) (Key, error) {
	secret, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(text))
	if err != nil || len(secret) != keyBytes {
		return Key{}, fmt.Errorf("a key is base64 of %d bytes, which this is not", keyBytes)
	}
	return NewKey(secret)
}

// GenerateKeyFile writes a new random key to path, with mode 0600, whole or
// not at all, and answers it. A file that is there already is left alone: the
// error is fs.ErrExist then.
func GenerateKeyFile(path string) (key Key, err error) {
	secret := make([]byte, keyBytes)
	if _, err := rand.Read(secret); err != nil {
		return Key{}, fmt.Errorf("draw a key: %w", err)
	}
	draft, err := os.CreateTemp(filepath.Dir(path), ".key-*")
	if err != nil {
		return Key{}, fmt.Errorf("make the key file: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(draft.Name())) }()
	if err := writeAndClose(draft, base64.StdEncoding.EncodeToString(secret)+"\n"); err != nil {
		return Key{}, err
	}
	// Unlike a rename, a link replaces nothing.
	if err := os.Link(draft.Name(), path); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return Key{}, fmt.Errorf("the key file %s: %w", path, fs.ErrExist)
		}
		return Key{}, fmt.Errorf("make the key file: %w", err)
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return Key{}, err
	}
	return NewKey(secret)
}

func writeAndClose(file *os.File, text string) error {
	_, err := file.WriteString(text)
	err = errors.Join(err, file.Chmod(keyMode), file.Sync(), file.Close())
	if err != nil {
		return fmt.Errorf("write the key file: %w", err)
	}
	return nil
}

// syncDir makes the name survive a power failure, as file.Sync does for the
// content: what is sealed with a lost key is lost.
func syncDir(dir string) error {
	opened, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open the key file's directory: %w", err)
	}
	if err := errors.Join(opened.Sync(), opened.Close()); err != nil {
		return fmt.Errorf("sync the key file's directory: %w", err)
	}
	return nil
}
