package canary

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheSearcherFindsEachEncoding: wherever the secret stands in a text, whole
// or cut, and whatever characters it is of.
func TestTheSearcherFindsEachEncoding(t *testing.T) {
	for _, value := range []string{
		"kW3p9QzT7vBn2LxS", "kW3p9QzT7vBn2LxS5dRf8YhJ", `"<kW3 p9%Qz/T7+vB'n2L\xS&`, "ключ от склада и кассы", string([]byte{0, 1, 2, 0xff, 0xfe, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}),
		strings.Repeat("kW3p9QzT7vBn2LxS5dRf8YhJ", 5),
	} {
		s := newSearcher([]secret{{"it", value}})
		require.Empty(t, s.find([]byte("nothing is here")))
		quoted, err := json.Marshal(value)
		require.NoError(t, err)
		inBody, err := json.Marshal("token=" + base64.StdEncoding.EncodeToString([]byte("key: "+value)))
		require.NoError(t, err)
		texts := map[string]string{
			"plain": value, "JSON": string(quoted), "Go": fmt.Sprintf("%q", value), "hex": hex.EncodeToString([]byte(value)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(value))),
			"query": url.Values{"token": {value}}.Encode(), "path": "https://a/" + url.PathEscape(value), "user": (&url.URL{Scheme: "http", Host: "a", User: url.UserPassword("me", value)}).String(),
			"base64 in JSON": string(inBody),
		}
		for before := range 5 {
			for name, alphabet := range map[string]*base64.Encoding{"std": base64.StdEncoding, "url": base64.URLEncoding, "raw std": base64.RawStdEncoding, "raw url": base64.RawURLEncoding} {
				for behind := range 3 {
					once := alphabet.EncodeToString([]byte(strings.Repeat("x", before) + value + strings.Repeat("y", behind)))
					texts[fmt.Sprint(name, before, behind)] = once
					texts[fmt.Sprint("twice ", name, before, behind)] = base64.StdEncoding.EncodeToString([]byte(strings.Repeat("z", behind) + once))
				}
			}
		}
		for name, text := range texts {
			if strings.ToValidUTF8(value, "") != value && name == "JSON" {
				continue // no JSON holds it
			}
			require.NotEmpty(t, s.find([]byte("before"+text+"behind")), "%s of %q", name, value)
		}
	}
}

func TestTheSearcherFindsAPartOfASecret(t *testing.T) {
	value := "kW3p9QzT7vBn2LxS5dRf8YhJa1Gc4MwEu6Vt0Zo"
	s := newSearcher([]secret{{"other", "nowhere to be seen"}, {"it", value}})
	require.Equal(t, []string{"it in plain"}, s.find([]byte("token "+value[:20]+"…")))
	require.Equal(t, []string{"it in plain"}, s.find([]byte("…"+value[5:]+" is wrong")))
	require.Empty(t, s.find([]byte(value[:10])))
}
