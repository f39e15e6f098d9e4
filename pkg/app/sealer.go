package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/signpost-dns/signpost/pkg/seal"
)

// openSealer reads the key of secrets at rest. With the embedded store alone,
// it is generated at the first start.
func openSealer(c Config) (*seal.Sealer, error) {
	file := c.SecretKeyFile
	if file == "" {
		file = filepath.Join(c.DataDir, "secret.key")
		if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
			return nil, fmt.Errorf("--data-dir: %w", err)
		}
		if _, err := seal.GenerateKeyFile(file); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("the key of secrets at rest: %w", err)
		}
	}
	key, err := seal.LoadKeyFile(file)
	switch {
	case err != nil && c.SecretKeyFile == "":
		return nil, fmt.Errorf("%w: put it back from a backup; under a new one, credentials and kubeconfigs have to be posted again", err)
	case err != nil:
		return nil, fmt.Errorf("--secret-key-file: %w", err)
	}
	return seal.New(key)
}
