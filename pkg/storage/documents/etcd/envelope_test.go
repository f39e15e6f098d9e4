package etcd

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestAnEnvelopeIsReadAsItsWholeText is, whatever its names and its body look like, and also
// if it is damaged.
func TestAnEnvelopeIsReadAsItsWholeText(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"spec":{"a":[1,"x"]}}`, ` {"a": "b"} ` + "\n", `{"a":",\"body\":"}`, `{"a":1,"body":{"c":1,"body":2}}`, `null`, `[]`, `"}"`, ``, `{`, `{}}`, "\u00a0{}", `{"a":1},"write":"other"`,
	} {
		for _, refs := range [][]intent.Path{nil, {"projects/shop"}, {"body/a"}, {"a/b", "body/a", "c/d"}, {`a/,"body":{}`}} {
			doc := intent.Document{UID: "u", Revision: 7, CreatedAt: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), Refs: refs, Body: []byte(body)}
			value, err := encode(doc, `w,"body":`)
			require.NoError(t, err)
			for end := range len(value) + 1 {
				same(t, value[:end])
			}
		}
	}
	for _, text := range []string{`{,"body":{}}`, `{"uid":"a","body":{},"uid":"b"}`, `{"uid":"a"},"body":{}}`, `{"body":{},"body":1}`, `{"uid":1,"body":{}}`} {
		same(t, []byte(text))
	}
}

func same(t *testing.T, value []byte) {
	t.Helper()
	var want envelope
	wantErr := json.Unmarshal(value, &want)
	got, err := open(value)
	require.Equal(t, wantErr, err, "%s", value)
	if err == nil {
		require.Equal(t, want, got, "%s", value)
	}
}
