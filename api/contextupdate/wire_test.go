package contextupdate

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// The contract on the wire, without the code that the server is made with:
// HTTP/2 requests, gRPC frames and protobuf fields put together by hand.

// frame is a gRPC message: not compressed, its length, its bytes.
func frame(message []byte) []byte {
	n := len(message)
	return append([]byte{0, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, message...)
}

// text is a field of type string: its number and wire type 2, its length, its
// bytes. It is short.
func text(number byte, value string) []byte {
	return append([]byte{number<<3 | 2, byte(len(value))}, value...)
}

// number is a field of type bool, int32 or enum: its number and wire type 0, its
// value. It is small.
func number(number, value byte) []byte { return []byte{number << 3, value} }

func join(fields ...[]byte) []byte { return bytes.Join(fields, nil) }

// raw is what the server answers.
type raw struct {
	body            []byte
	status, message string // of the trailers
	header          http.Header
}

// post sends a body as a call, over HTTP/2 without TLS.
func (w *world) post(path string, body []byte, header ...string) raw {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	transport := &http.Transport{Protocols: protocols}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+w.address+path, bytes.NewReader(body))
	require.NoError(w.t, err)
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("Te", "trailers")
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	answer, err := transport.RoundTrip(request)
	require.NoError(w.t, err)
	defer answer.Body.Close()
	require.Equal(w.t, 2, answer.ProtoMajor)
	got := raw{header: answer.Header}
	got.body, err = io.ReadAll(answer.Body)
	require.NoError(w.t, err)
	trailer := answer.Trailer
	if answer.Header.Get("Grpc-Status") != "" { // an answer of trailers alone
		trailer = answer.Header
	}
	got.status, got.message = trailer.Get("Grpc-Status"), trailer.Get("Grpc-Message")
	return got
}

const id = "4611686018427387904"

func TestTheServiceSpeaksEMCOsBytes(t *testing.T) {
	for _, c := range []struct {
		reason, path string
		request      []byte
		asks         string
		answer       []byte
	}{
		{
			"the first instantiation", "/contextupdate/UpdateAppContext",
			join(text(1, id), text(2, "lb"), text(3, "<nil>")), "update " + id + " by lb from ",
			join(number(1, 1), text(2, "app context "+id+" holds what traffic group lb asks for")),
		},
		{
			"an update of another context", "/contextupdate/UpdateAppContext",
			join(text(1, id), text(2, "lb"), text(3, "17")), "update " + id + " by lb from 17",
			join(number(1, 1), text(2, "app context "+id+" holds what traffic group lb asks for")),
		},
		{
			"no context that it replaces", "/contextupdate/UpdateAppContext",
			join(text(1, "0"), text(2, "lb")), "update 0 by lb from ",
			join(number(1, 1), text(2, "app context 0 holds what traffic group lb asks for")),
		},
		{
			"fields in another order, one of them twice, and some of a later version", "/contextupdate/UpdateAppContext",
			join(text(2, "old"), text(9, "?"), text(2, "lb"), number(15, 1), text(1, "7")), "update 7 by lb from ",
			join(number(1, 1), text(2, "app context 7 holds what traffic group lb asks for")),
		},
		{
			"the end", "/contextupdate/TerminateAppContext", text(1, id), "terminate " + id,
			join(number(1, 1), text(2, "app context "+id+" may be uninstalled")),
		},
		{
			"INSTANTIATE is 0, which is left out", "/contextupdate/PostEvent", text(1, id), "instantiate event of " + id,
			join(number(1, 1), text(2, "INSTANTIATE of app context "+id+" is taken note of")),
		},
		{
			"or written", "/contextupdate/PostEvent", join(text(1, id), number(2, 0)), "instantiate event of " + id,
			join(number(1, 1), text(2, "INSTANTIATE of app context "+id+" is taken note of")),
		},
		{
			"TERMINATE is 1", "/contextupdate/PostEvent", join(text(1, id), number(2, 1)), "terminate event of " + id,
			join(number(1, 1), text(2, "TERMINATE of app context "+id+" is taken note of")),
		},
		{
			"UPDATE is 2", "/contextupdate/PostEvent", join(text(1, id), number(2, 2)), "update event of " + id,
			join(number(1, 1), text(2, "UPDATE of app context "+id+" is taken note of")),
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			w := newWorld(t)
			got := w.post(c.path, frame(c.request))
			require.Equal(t, "0", got.status, got.message)
			require.Equal(t, hex.Dump(frame(c.answer)), hex.Dump(got.body))
			require.Equal(t, []string{c.asks}, w.domain.calls())
			require.Equal(t, "application/grpc", got.header.Get("Content-Type"))
			require.NotEmpty(t, got.header.Get("X-Request-Id"))
		})
	}
}

// TestAFailureIsAStatusInTheTrailers: an empty body, a number, and a text.
func TestAFailureIsAStatusInTheTrailers(t *testing.T) {
	w := newWorld(t)
	w.domain.answer = func(context.Context) ([]string, error) {
		return nil, &intent.Error{Code: intent.Conflict, Detail: "the context has no meta"}
	}
	got := w.post("/contextupdate/TerminateAppContext", frame(text(1, id)))
	require.Empty(t, got.body)
	require.Equal(t, "9", got.status)
	require.Equal(t, "the context has no meta", got.message)
}

func TestAnEndThatTheCallerSetsIsKept(t *testing.T) {
	w := newWorld(t)
	w.domain.answer = func(ctx context.Context) ([]string, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	got := w.post("/contextupdate/TerminateAppContext", frame(text(1, id)), "Grpc-Timeout", "2S")
	require.Equal(t, "4", got.status)
	require.Contains(t, got.message, "could not be done in time", "and the answer was there before the caller gave up")
}

// TestWhatIsNoRequestIsRefused: it never reaches the domain, and says what is
// wrong with a status of gRPC.
func TestWhatIsNoRequestIsRefused(t *testing.T) {
	const unknown, invalidArgument, resourceExhausted, unimplemented, internal = "2", "3", "8", "12", "13"
	whole := frame(join(text(1, id), text(2, "lb")))
	for _, c := range []struct {
		reason, path string
		body         []byte
		status, says string
	}{
		{"an empty message", "/contextupdate/UpdateAppContext", frame(nil), invalidArgument, `app_context is ""`},
		{"fields with other types", "/contextupdate/UpdateAppContext", frame(join(number(1, 7), number(2, 7))), invalidArgument, `app_context is ""`},
		{"half a frame", "/contextupdate/UpdateAppContext", whole[:len(whole)-3], unknown, "unexpected EOF"},
		{"a frame that promises four gigabytes", "/contextupdate/UpdateAppContext", []byte{0, 255, 255, 255, 255, 1}, resourceExhausted, "larger than max"},
		{"a message beyond 64 KiB", "/contextupdate/UpdateAppContext", frame(bytes.Repeat(text(9, "a field of a later version"), 4<<10)), resourceExhausted, "65536"},
		{"no protobuf", "/contextupdate/UpdateAppContext", frame([]byte("{}")), internal, "unmarshal"},
		{"a text that is not UTF-8", "/contextupdate/UpdateAppContext", frame(text(1, "\xff")), internal, "UTF-8"},
		{"an event of a later version", "/contextupdate/PostEvent", frame(join(text(1, id), number(2, 3))), invalidArgument, `event_type is "3"; give INSTANTIATE (0), TERMINATE (1) or UPDATE (2)`},
		{"a method of a later version", "/contextupdate/Pause", whole, unimplemented, "unknown method Pause"},
		{"a service with a package", "/emco.contextupdate/UpdateAppContext", whole, unimplemented, "unknown service"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			w := newWorld(t)
			got := w.post(c.path, c.body)
			require.Equal(t, c.status, got.status, got.message)
			require.Contains(t, got.message, c.says)
			require.NotContains(t, strings.ToLower(got.message), "not implemented")
			require.Empty(t, w.domain.calls())
			require.Equal(t, "0", w.post("/contextupdate/UpdateAppContext", whole).status, "others are served")
		})
	}
}

func TestACompressedRequestIsRead(t *testing.T) {
	w := newWorld(t)
	packed := gzipped(t, join(text(1, id), text(2, "lb")))
	body := frame(packed)
	body[0] = 1
	require.Equal(t, "0", w.post("/contextupdate/UpdateAppContext", body, "Grpc-Encoding", "gzip").status)

	bomb := frame(gzipped(t, make([]byte, 8<<20)))
	bomb[0] = 1
	got := w.post("/contextupdate/UpdateAppContext", bomb, "Grpc-Encoding", "gzip")
	require.Equal(t, "8", got.status, got.message)
	require.Len(t, w.domain.calls(), 1)
}
