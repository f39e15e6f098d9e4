package contextupdate

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco/emcopb"
)

func gzipped(t *testing.T, content []byte) []byte {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := writer.Write(content)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	return packed.Bytes()
}

func TestMalformedRequestsNameTheField(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	const advice = "a decimal number of at most 63 bits"
	for _, c := range []struct {
		reason, id, name, from string
		says                   []string
	}{
		{"no id", "", "lb", "", []string{`app_context is ""`, advice}},
		{"no number", "shop", "lb", "", []string{`app_context is "shop"`, advice}},
		{"a way out of the contexts", "../signpost", "lb", "", []string{"app_context", advice}},
		{"a key within a context", "17/meta", "lb", "", []string{"app_context", advice}},
		{"a negative number", "-1", "lb", "", []string{"app_context", advice}},
		{"a sign", "+1", "lb", "", []string{"app_context", advice}},
		{"a second spelling of a number", "007", "lb", "", []string{"app_context", advice}},
		{"an underscore in it", "1_000", "lb", "", []string{"app_context", advice}},
		{"a hexadecimal one", "0x10", "lb", "", []string{"app_context", advice}},
		{"64 bits", "9223372036854775808", "lb", "", []string{"app_context", advice}},
		{"a very long number", strings.Repeat("9", 1000), "lb", "", []string{"app_context", strings.Repeat("9", 64) + "…", advice}},
		{"no context at all", "<nil>", "lb", "", []string{`app_context is "<nil>"`, advice}},
		{"no intent", "17", "", "", []string{`intent_name is ""`, "traffic group"}},
		{"an intent's path", "17", "a/b", "", []string{`intent_name is "a/b"`, "traffic group"}},
		{"a way out of the group", "17", "..", "", []string{"intent_name", "traffic group"}},
		{"a line break in a name", "17", "a\nb", "", []string{`intent_name is "a\nb"`}},
		{"a name that no document can have", "17", strings.Repeat("a", 64), "", []string{"intent_name"}},
		{"a context before it that is none", "17", "lb", "nil", []string{`update_from_appContext is "nil"`, advice}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			_, err := client.UpdateAppContext(t.Context(), &emcopb.ContextUpdateRequest{AppContext: c.id, IntentName: c.name, UpdateFromAppContext: c.from})
			require.Equal(t, codes.InvalidArgument, status.Code(err), err)
			for _, text := range c.says {
				require.ErrorContains(t, err, text)
			}
		})
	}
	_, err := client.TerminateAppContext(t.Context(), &emcopb.TerminateRequest{AppContext: "x"})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	_, err = client.PostEvent(t.Context(), &emcopb.PostEventRequest{AppContext: "x"})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	require.Empty(t, w.domain.calls(), "nothing of it reaches the domain")
}

func TestWarningsAreTold(t *testing.T) {
	w := newWorld(t)
	w.domain.answer = func(context.Context) ([]string, error) { return []string{"app web has no Service", "so has api"}, nil }
	answer, err := w.client().UpdateAppContext(t.Context(), update("17"))
	require.NoError(t, err)
	require.True(t, answer.GetAppContextUpdated())
	require.Equal(t, "app context 17 holds what traffic group lb asks for; warnings: app web has no Service; so has api", answer.GetAppContextUpdateMessage())
}

// TestErrorsHaveStatuses: the table, over the wire and for each method.
func TestErrorsHaveStatuses(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	invalid := &intent.Error{Code: intent.Invalid, Detail: "the plan has errors", Fields: []intent.Field{{Pointer: "/spec/app", Detail: "web has no Service"}, {Detail: "nor has api"}}}
	for _, c := range []struct {
		reason string
		err    error
		code   codes.Code
		says   string
	}{
		{"an invalid document, with all that is wrong", invalid, codes.InvalidArgument, "the plan has errors; /spec/app: web has no Service; nor has api"},
		{"media", &intent.Error{Code: intent.UnsupportedMedia, Detail: "no JSON"}, codes.InvalidArgument, "no JSON"},
		{"nobody", &intent.Error{Code: intent.Unauthenticated, Detail: "who?"}, codes.Unauthenticated, "who?"},
		{"another project", &intent.Error{Code: intent.Forbidden, Detail: "not yours"}, codes.PermissionDenied, "not yours"},
		{"an unknown context", &intent.Error{Code: intent.NotFound, Detail: "app context 17 does not exist"}, codes.NotFound, "app context 17 does not exist"},
		{"a conflict, without its cause", &intent.Error{Code: intent.Conflict, Detail: "two resources have one key", Err: errors.New("at 0x1")}, codes.FailedPrecondition, "two resources have one key"},
		{"another writer", &intent.Error{Code: intent.PreconditionFailed, Detail: "it was changed meanwhile"}, codes.Aborted, "it was changed meanwhile"},
		{"a hundred thousand resources", &intent.Error{Code: intent.TooLarge, Detail: "100000 resources"}, codes.ResourceExhausted, "100000 resources"},
		{"a service that is down", &intent.Error{Code: intent.Unavailable, Detail: "etcd does not answer"}, codes.Unavailable, "etcd does not answer"},
		{"wrapped", fmt.Errorf("step: %w", &intent.Error{Code: intent.NotFound, Detail: "gone"}), codes.NotFound, "gone"},
		{"what nobody can act on", errors.New("secret: hunter2"), codes.Internal, "an internal error; the server's log tells more under the request's id "},
		{"a code without a status", &intent.Error{Code: "odd", Detail: "odd"}, codes.Internal, "an internal error"},
		{"a status of another service", status.Error(codes.Unimplemented, "unknown service installapp"), codes.Internal, "an internal error"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			w.domain.answer = func(context.Context) ([]string, error) { return nil, c.err }
			_, first := client.UpdateAppContext(t.Context(), update("17"))
			_, second := client.TerminateAppContext(t.Context(), &emcopb.TerminateRequest{AppContext: "17"})
			_, third := client.PostEvent(t.Context(), &emcopb.PostEventRequest{AppContext: "17"})
			for _, err := range []error{first, second, third} {
				require.Equal(t, c.code, status.Code(err), err)
				if c.code == codes.Internal {
					require.Contains(t, status.Convert(err).Message(), c.says)
					require.NotContains(t, err.Error(), "hunter2")
				} else {
					require.Equal(t, c.says, status.Convert(err).Message())
				}
			}
		})
	}
	require.Contains(t, w.log.String(), "hunter2", "the log is told")
}

// TestEveryCodeHasAStatus: none falls through to an internal error, and none
// is Unimplemented.
func TestEveryCodeHasAStatus(t *testing.T) {
	for _, code := range []intent.Code{
		intent.Invalid, intent.Unauthenticated, intent.Forbidden, intent.NotFound, intent.Conflict, intent.PreconditionFailed,
		intent.TooLarge, intent.UnsupportedMedia, intent.TooMany, intent.Unavailable,
	} {
		require.NotContains(t, []codes.Code{codes.OK, codes.Unknown, codes.Internal, codes.Unimplemented}, codeOf(code), code)
	}
}

// emcoTakesForDone is how EMCO judges an error of the last two methods.
func emcoTakesForDone(err error) bool {
	return strings.Contains(err.Error(), "TerminateAppContext not implemented") || strings.Contains(err.Error(), "PostEvent not implemented")
}

// TestNoFailureLooksLikeAMethodThatIsNotImplemented: whatever names and texts
// are in it.
func TestNoFailureLooksLikeAMethodThatIsNotImplemented(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	for _, text := range []string{
		"method TerminateAppContext not implemented", "PostEvent not implemented", "PostEvent NOT\tImplemented",
		strings.Repeat("PostEvent not implemented ", 1000),
	} {
		w.domain.answer = func(context.Context) ([]string, error) {
			return []string{text}, &intent.Error{Code: intent.Conflict, Detail: text, Fields: []intent.Field{{Detail: text}}}
		}
		_, first := client.TerminateAppContext(t.Context(), &emcopb.TerminateRequest{AppContext: "17"})
		_, second := client.PostEvent(t.Context(), &emcopb.PostEventRequest{AppContext: text})
		_, third := client.PostEvent(t.Context(), &emcopb.PostEventRequest{AppContext: "17"})
		for _, err := range []error{first, second, third} {
			require.Error(t, err)
			require.False(t, emcoTakesForDone(err), err)
			require.NotContains(t, strings.ToLower(err.Error()), "not implemented")
		}
	}
}

func TestALongTextFitsIntoItsHeader(t *testing.T) {
	w := newWorld(t)
	w.domain.answer = func(context.Context) ([]string, error) {
		return nil, &intent.Error{Code: intent.Conflict, Detail: strings.Repeat("ü", 1<<20) + "\xff"}
	}
	_, err := w.client().UpdateAppContext(t.Context(), update("17"))
	text := status.Convert(err).Message()
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
	require.True(t, strings.HasSuffix(text, "ü…"), "no character is cut in two")
	require.LessOrEqual(t, len(text), 5<<10)
}

// TestTwoCallersOnOneContext: both are served at once.
func TestTwoCallersOnOneContext(t *testing.T) {
	w := newWorld(t)
	meet := make(chan struct{})
	w.domain.answer = func(ctx context.Context) ([]string, error) {
		select {
		case meet <- struct{}{}:
		case <-meet:
		case <-ctx.Done():
			return nil, errors.New("the other one was not there")
		}
		return nil, nil
	}
	failures := make(chan error, 2)
	for range 2 {
		client := w.client()
		go func() {
			_, err := client.UpdateAppContext(t.Context(), update("17"))
			failures <- err
		}()
	}
	require.NoError(t, <-failures)
	require.NoError(t, <-failures)
}

// TestFiftyContextsAtOnce go through fewer slots, and none is refused.
func TestFiftyContextsAtOnce(t *testing.T) {
	const slots, contexts = 8, 50
	w := newWorld(t, func(o *Options) { o.MaxInFlight, o.Patience = slots, patience })
	working, goOn := make(chan struct{}, slots), make(chan struct{})
	w.domain.answer = func(context.Context) ([]string, error) {
		select {
		case working <- struct{}{}:
		default:
			return nil, errors.New("more at once than there are slots")
		}
		<-goOn
		<-working
		return nil, nil
	}
	client := w.client()
	failures := make(chan error, contexts)
	for i := range contexts {
		go func() {
			_, err := client.UpdateAppContext(t.Context(), update(fmt.Sprint(i)))
			failures <- err
		}()
	}
	require.Eventually(t, func() bool { return len(working) == slots }, patience, time.Millisecond)
	close(goOn)
	for range contexts {
		require.NoError(t, <-failures)
	}
	require.Len(t, w.domain.calls(), contexts)
}
