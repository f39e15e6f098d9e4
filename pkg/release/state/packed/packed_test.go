package packed

import (
	"bytes"
	"hash/adler32"
	"testing"

	"github.com/stretchr/testify/require"
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
	packed, err := Pack(text)
	require.NoError(t, err)
	require.Less(t, len(packed), len(text)*2/3)
	is, err := Unpack(bytes.NewReader(packed))
	require.NoError(t, err)
	require.Equal(t, text, is)
	for at := range packed {
		damaged := bytes.Clone(packed)
		damaged[at] ^= 1
		_, err := Unpack(bytes.NewReader(damaged))
		require.Error(t, err, "byte %d", at)
	}
	_, err = Unpack(bytes.NewReader(packed[:len(packed)-1]))
	require.Error(t, err)
}
