package packed

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/adler32"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// TestStoredReleasesNeedTheDictionary as it is. A better one is added beside it, and read
// by its checksum, which zlib writes in front of a release.
func TestStoredReleasesNeedTheDictionary(t *testing.T) {
	t.Parallel()
	const stored = 0x933fa01f
	require.Equal(t, uint32(stored), adler32.Checksum([]byte(dictionary)))
}

// TestAPackedTextIsReadAsItWas, and a damaged one is not read.
func TestAPackedTextIsReadAsItWas(t *testing.T) {
	t.Parallel()
	text := []byte(`{"schema":1,"group":{"path":"projects/shop/names/www.lab.example"},"inputs":[]}`)
	var packer Packer
	packed, err := packer.Pack(text)
	require.NoError(t, err)
	require.Less(t, len(packed), len(text)*2/3)
	is, err := packer.Unpack(bytes.NewReader(packed))
	require.NoError(t, err)
	require.Equal(t, text, is)
	for at := range packed {
		damaged := bytes.Clone(packed)
		damaged[at] ^= 1
		_, err := packer.Unpack(bytes.NewReader(damaged))
		require.Error(t, err, "byte %d", at)
	}
	_, err = packer.Unpack(bytes.NewReader(packed[:len(packed)-1]))
	require.Error(t, err)
}

// TestAPackerForgetsTheTextBefore: what it keeps shows in no later text, and several use it at
// once.
func TestAPackerForgetsTheTextBefore(t *testing.T) {
	t.Parallel()
	var packer Packer
	var together errgroup.Group
	for n := range 8 {
		together.Go(func() error {
			for length := range 40 {
				text := bytes.Repeat([]byte{byte(n), byte(length)}, 7*length)
				packed, err := packer.Pack(text)
				if err != nil {
					return err
				}
				alone, err := (*Packer)(nil).Pack(text)
				if err != nil {
					return err
				}
				is, err := packer.Unpack(bytes.NewReader(packed))
				if err != nil || !bytes.Equal(packed, alone) || !bytes.Equal(text, is) {
					return fmt.Errorf("text %d of %d: %w", length, n, cmp.Or(err, errors.New("it is another")))
				}
			}
			return nil
		})
	}
	require.NoError(t, together.Wait())
}

// TestAPackerAllocatesLittle for texts that follow others. The race detector has pools forget
// some of what they are given.
func TestAPackerAllocatesLittle(t *testing.T) { //nolint:paralleltest // it counts what the process allocates
	text := []byte(`{"schema":1,"group":{"path":"projects/shop/names/www.lab.example"},"inputs":[]}`)
	var packer Packer
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const times = 100
	for range times {
		packed, err := packer.Pack(text)
		require.NoError(t, err)
		_, err = packer.Unpack(bytes.NewReader(packed))
		require.NoError(t, err)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)/times, uint64(400_000))
}
