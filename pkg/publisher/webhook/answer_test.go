package webhook

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/external-dns/endpoint"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
)

// endless is a text, and then another for ever.
type endless struct {
	io.Reader
	then string
}

func (e *endless) Read(into []byte) (int, error) {
	n, err := e.Reader.Read(into)
	if err == io.EOF {
		e.Reader, err = strings.NewReader(e.then), nil
	}
	return n, err
}

func without(end, then string) *endless {
	return &endless{strings.NewReader(end), strings.Repeat(then, 1000)}
}

// TestAnswersOfAProgramAreLimited in what they cost, also if they are small while they are packed.
func TestAnswersOfAProgramAreLimited(t *testing.T) {
	for says, answer := range map[string]io.Reader{
		"an endpoint of more than 256 KiB": without(`[{"providerSpecific":[`, `{},`),
		"more than 8 MiB of memory":        without(`[`, `{"dnsName":"WWW.lab.example.","recordType":"A","targets":["192.0.2.1"]},`),
		"is no list of endpoints":          without(`{`, `"a":1,`),
		"records cannot be read: ":         without(`[{}`, `{}`),
	} {
		t.Run(says, func(t *testing.T) {
			w := begin(t, &program{answer: func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("Content-Type", mediaType)
				w.Header().Set("Content-Encoding", "gzip")
				_, err := io.Copy(gzip.NewWriter(w), answer)
				return err != nil
			}})
			_, err := w.Read(t.Context(), []string{name})
			require.Equal(t, fault.Refused, fault.Of(err), "%v", err)
			require.ErrorContains(t, err, says)
		})
	}
	err := each(without(`[`, `null,`), "records", func(*endpoint.Endpoint) error { return nil })
	require.ErrorContains(t, err, "more than 500000 endpoints")
	_, err = io.ReadAll(&limited{Reader: without(``, ` `), all: 1000, one: 1001})
	require.ErrorContains(t, err, "more than 64 MiB")
}

// TestAProgramWithoutRecordsMayAnswerNull, as one in Go does.
func TestAProgramWithoutRecordsMayAnswerNull(t *testing.T) {
	states, err := begin(t, &program{}).Read(t.Context(), []string{name})
	require.NoError(t, err)
	require.Empty(t, states[name].Sets)
}
