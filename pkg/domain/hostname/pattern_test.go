package hostname_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/hostname"
)

// TestAPatternFitsTheTextsInTheirOrder: no text counts twice.
func TestAPatternFitsTheTextsInTheirOrder(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"www.lab.example": true, "WWW.Lab.Example.": true, "*": true, "www.*": true, "*.example": true, "*w*.*b.*le": true,
		"www.lab": false, "lab.*": false, "*.lab": false, "www.lab*b.example": false, "*example*lab*": false,
	} {
		require.Equal(t, want, hostname.Fits("www.lab.example", hostname.Pattern(pattern)), pattern)
	}
}
