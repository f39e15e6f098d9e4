package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/signpost-dns/signpost/pkg/storage/replicas"
	"github.com/signpost-dns/signpost/pkg/storage/seal"
	"github.com/signpost-dns/signpost/pkg/storage/vault"
)

// openSealer makes what seals with the key of secrets at rest, and opens what
// the old one has sealed, too.
func openSealer(c Config) (*seal.Sealer, error) {
	key, err := c.secretKey()
	if err != nil {
		return nil, err
	}
	if c.OldSecretKeyFile == "" {
		return seal.New(key)
	}
	old, err := seal.LoadKeyFile(c.OldSecretKeyFile)
	if err != nil {
		return nil, fmt.Errorf("--old-secret-key-file: %w", err)
	}
	return seal.New(key, old)
}

// secretKey is the key of secrets at rest. With the embedded store alone, it is
// generated at the first start.
func (c Config) secretKey() (seal.Key, error) {
	if c.SecretKey.ID() != "" {
		return c.SecretKey, nil
	}
	if c.SecretKeyFile != "" {
		key, err := seal.LoadKeyFile(c.SecretKeyFile)
		if err != nil {
			return key, fmt.Errorf("--secret-key-file: %w", err)
		}
		return key, nil
	}
	file := filepath.Join(c.DataDir, "secret.key")
	key, err := seal.LoadKeyFile(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return c.generateKey(file)
	}
	if err != nil {
		return key, fmt.Errorf("%w: restore it from a backup; with a new key, credentials and kubeconfigs have to be posted again", err)
	}
	return key, nil
}

// generateKey writes a key if there is none. It first looks for an existing key: a server
// with a key starts on a full disk, too.
func (s Stores) generateKey(file string) (seal.Key, error) {
	if err := os.MkdirAll(s.DataDir, 0o700); err != nil {
		return seal.Key{}, fmt.Errorf("--data-dir: %w", err)
	}
	if _, err := seal.GenerateKeyFile(file); err != nil && !errors.Is(err, fs.ErrExist) {
		return seal.Key{}, fmt.Errorf("the key of secrets at rest: %w", err)
	}
	return seal.LoadKeyFile(file) // another process may have been first
}

// checkSecretKey finds whether there is one key of secrets at rest.
func (c Config) checkSecretKey() error {
	given := c.SecretKey.ID() != ""
	switch {
	case given && c.SecretKeyFile != "":
		return errors.New("--secret-key-file and SIGNPOST_SECRET_KEY exclude each other: give the key once, and an older one as --old-secret-key-file")
	case (c.MongoURI != "" || len(c.EtcdEndpoints) > 0) && c.SecretKeyFile == "" && !given:
		return errors.New("--secret-key-file (or SIGNPOST_SECRET_KEY) is required with --mongo-uri or --etcd-endpoints: a key that was generated here would be lost to other replicas")
	}
	return nil
}

// openVault answers the vault, or fails for a key that is not the one of what is
// in it.
func openVault(ctx context.Context, c Config, values *vault.Vault) (*vault.Vault, error) {
	if err := values.Check(ctx, c.LostSecretKeys); err != nil {
		key, keyErr := c.secretKey()
		return nil, errors.Join(fmt.Errorf("%w; here is %s. Give that one by --secret-key-file or SIGNPOST_SECRET_KEY, or as --old-secret-key-file if %s is to follow it. "+
			"If it is lost for good, say so by --lost-secret-key, and post the credentials and kubeconfigs again", err, key, key), keyErr)
	}
	return values, nil
}

// resealing is the job of sealing anew what an old key has sealed, once no other
// process seals with that any more, with its metric.
func resealing(values *vault.Vault, registry *replicas.Registry, metrics prometheus.Registerer) func(context.Context) error {
	sealed := promauto.With(metrics).NewGaugeVec(prometheus.GaugeOpts{
		Name: "signpost_sealed_values", Help: "Secret values at rest, by the id of the key that has sealed them.",
	}, []string{"key"})
	return func(ctx context.Context) error {
		others, err := registry.Others(ctx)
		if err != nil {
			return err
		}
		var inUse []string
		for _, other := range others {
			inUse = append(inUse, other.Key)
		}
		counts, err := values.Reseal(ctx, inUse...)
		if err != nil {
			return err
		}
		sealed.Reset()
		for key, count := range counts {
			sealed.WithLabelValues(key).Set(float64(count))
		}
		return nil
	}
}
