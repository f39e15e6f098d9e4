package intent

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAShareIsReadFromTextAndWrittenAsANumber(t *testing.T) {
	for text, want := range map[string]Percent{`25`: 25, `"25%"`: 25, `"7"`: 7, `0`: 0, `"100%"`: 100} {
		var record Record
		require.NoError(t, json.Unmarshal([]byte(`{"provider":"coredns","maxRemoval":`+text+`}`), &record), text)
		require.Equal(t, want, *record.MaxRemoval, text)
		raw, err := json.Marshal(record.MaxRemoval)
		require.NoError(t, err)
		var number int
		require.NoError(t, json.Unmarshal(raw, &number), "%s becomes %s", text, raw)
	}
	for _, text := range []string{`"a quarter"`, `"%"`, `true`, `[25]`, `2.5`} {
		require.Error(t, json.Unmarshal([]byte(`{"maxRemoval":`+text+`}`), &Record{}), text)
	}
}
