package contextupdate

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// bytesCodec sends messages that are bytes already, whatever they are.
type bytesCodec struct{}

func (bytesCodec) Marshal(v any) ([]byte, error) {
	raw, ok := v.([]byte)
	if !ok {
		return nil, errors.New("no bytes")
	}
	return raw, nil
}

func (bytesCodec) Unmarshal(data []byte, v any) error {
	raw, ok := v.(*[]byte)
	if !ok {
		return errors.New("no bytes")
	}
	*raw = append([]byte{}, data...)
	return nil
}

func (bytesCodec) Name() string { return "proto" }

// FuzzRequests: whatever bytes are sent to whichever method, the server lives,
// the domain sees ids and names alone that can be, and a failure never looks to
// EMCO like a success.
func FuzzRequests(f *testing.F) {
	for method := range byte(3) {
		f.Add(method, join(text(1, id), text(2, "lb"), text(3, "<nil>")), "it failed")
		f.Add(method, join(text(1, id), number(2, 2)), "PostEvent not implemented")
		f.Add(method, join(text(1, "17/meta"), text(2, "../x"), text(3, "TerminateAppContext not implemented")), "\xff")
		f.Add(method, []byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f}, "not\nimplemented")
		f.Add(method, []byte{}, "")
	}
	paths := []string{"/contextupdate/UpdateAppContext", "/contextupdate/TerminateAppContext", "/contextupdate/PostEvent"}
	f.Fuzz(func(t *testing.T, method byte, request []byte, failure string) {
		w := newWorld(t)
		w.domain.answer = func(context.Context) ([]string, error) {
			return nil, &intent.Error{Code: intent.Conflict, Detail: failure}
		}
		var answer []byte
		err := w.dial().Invoke(t.Context(), paths[int(method)%len(paths)], request, &answer, grpc.ForceCodec(bytesCodec{}))
		require.Error(t, err)
		require.False(t, emcoTakesForDone(err), err)
		calls := w.domain.calls()
		switch status.Code(err) {
		case codes.FailedPrecondition:
			require.Len(t, calls, 1)
			require.Regexp(t, `^(update [0-9]+ by [-A-Za-z0-9_.]{1,63} from [0-9]*|terminate [0-9]+|(instantiate|update|terminate) event of [0-9]+)$`, calls[0])
		case codes.InvalidArgument, codes.Internal, codes.ResourceExhausted:
			require.Empty(t, calls)
		default:
			require.Fail(t, "another status", "%v", err)
		}
		require.NotContains(t, w.log.String(), "msg=panic")
		for line := range strings.Lines(w.log.String()) {
			require.True(t, strings.HasPrefix(line, "time="), "a line of its own: %q", line)
		}
	})
}
