package terminal

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// TestATerminalObeysNothing that a document says: neither control characters nor those
// that turn or hide what is written.
func TestATerminalObeysNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain, ünïcode, 漢字, 😀":           "plain, ünïcode, 漢字, 😀",
		"two\nlines\r\nand\ttabs":         "two lines  and tabs",
		"\x1b[31mred\x07\x7f":             `\x1b[31mred\a\x7f`,
		"\u009b31m":                       `\u009b31m`,
		"www\u202egnp.exe":                `www\u202egnp.exe`,
		"\u2066a\u2069\u200f\u061c":       `\u2066a\u2069\u200f\u061c`,
		"zero\u200bwidth\ufeff":           `zero\u200bwidth\ufeff`,
		"lines\u2028of\u2029others\u0085": "lines of others ",
	} {
		require.Equal(t, want, Visible(text))
		table := NewTable("NAME")
		table.Add(text)
		var out strings.Builder
		require.NoError(t, table.Write(&out))
		require.Equal(t, "NAME\n"+strings.TrimSpace(want)+"\n", out.String())
	}
}

// TestYAMLIsPrintedOfAnyText, and says the same as the JSON that came.
func TestYAMLIsPrintedOfAnyText(t *testing.T) {
	t.Parallel()
	for r := rune(0); r < 0x11000; r++ {
		if r%64 != 0 && r > 0x2100 && r < 0xfe00 {
			continue
		}
		body, err := json.Marshal(map[string]string{"a": "x" + string(r) + "y"})
		require.NoError(t, err)
		body = []byte(strings.ReplaceAll(string(body), `\u007f`, "\x7f"))
		var out strings.Builder
		require.NoError(t, PrintYAML(&out, body), "%U", r)
		back, err := yaml.YAMLToJSON([]byte(out.String()))
		require.NoError(t, err, "%U", r)
		require.JSONEq(t, string(body), string(back), "%U", r)
	}
	var out strings.Builder
	require.NoError(t, PrintYAML(&out, []byte("{\"a\":\"\x7f\xc2\x9b\xe2\x80\xae\xff\"}\n")))
	require.NotContains(t, out.String(), "\x7f")
}
