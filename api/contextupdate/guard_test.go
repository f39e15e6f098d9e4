package contextupdate

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco/emcopb"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// until is work that heeds its context.
func until(ctx context.Context) ([]string, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("reading the context: %w", ctx.Err())
}

// TestTheCallerHearsOfItInTime: what could not be done within the caller's time
// is answered by the server, not given up by the caller.
func TestTheCallerHearsOfItInTime(t *testing.T) {
	for _, c := range []struct {
		reason string
		work   func(ctx context.Context) ([]string, error)
		says   string
		logs   string // where it was
	}{
		{"work that heeds its context", until, "; the call may be repeated", "reading the context: context deadline exceeded"},
		{"a store that does not answer", func(ctx context.Context) ([]string, error) {
			<-ctx.Done()
			return nil, &intent.Error{Code: intent.Unavailable, Detail: "etcd does not answer", Err: ctx.Err()}
		}, ": etcd does not answer; the call may be repeated", "etcd does not answer: context deadline exceeded"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			inABubble(t, func(t *testing.T, w *world) {
				w.domain.answer = c.work
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				_, err := w.client().UpdateAppContext(ctx, update("17"))
				require.NoError(t, ctx.Err(), "the caller has not given up")
				require.Equal(t, codes.DeadlineExceeded, status.Code(err), err)
				require.Contains(t, status.Convert(err).Message(), "could not be done in time and was given up after 2.7s")
				require.ErrorContains(t, err, c.says)
				require.Contains(t, w.log.String(), c.logs)
			})
		})
	}
}

// TestWorkThatDoesNotHeedItsContextIsAnsweredFor: and keeps its slot.
func TestWorkThatDoesNotHeedItsContextIsAnsweredFor(t *testing.T) {
	inABubble(t, func(t *testing.T, w *world) {
		client := w.client()
		end := make(chan struct{})
		w.domain.answer = func(context.Context) ([]string, error) {
			<-end
			return nil, nil
		}
		_, err := client.UpdateAppContext(t.Context(), update("17"))
		require.Equal(t, codes.DeadlineExceeded, status.Code(err), err)
		require.ErrorContains(t, err, "though it has not ended yet")

		_, err = client.UpdateAppContext(t.Context(), update("18"))
		require.Equal(t, codes.DeadlineExceeded, status.Code(err), err)
		require.ErrorContains(t, err, "1 calls are under way, and this one did not get its turn")
		require.Len(t, w.domain.calls(), 1)

		close(end)
		_, err = client.UpdateAppContext(t.Context(), update("19"))
		require.NoError(t, err, "the slot is free again")
	}, func(o *Options) { o.MaxInFlight, o.Patience = 1, 2*time.Second })
}

// TestWhoCallsTooOftenWaits: EMCO does not repeat a call that was refused.
func TestWhoCallsTooOftenWaits(t *testing.T) {
	inABubble(t, func(t *testing.T, w *world) {
		client, began := w.client(), time.Now()
		for range 3 {
			_, err := client.UpdateAppContext(t.Context(), update("17"))
			require.NoError(t, err)
		}
		require.Equal(t, 2*time.Second, time.Since(began), "one at once, and one in each second")

		hasty, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		began = time.Now()
		_, err := client.UpdateAppContext(hasty, update("18"))
		require.Equal(t, codes.ResourceExhausted, status.Code(err), err)
		require.ErrorContains(t, err, "anonymous calls more often than one subject may")
		require.Zero(t, time.Since(began), "who cannot get a turn in time hears of it at once")
		require.Len(t, w.domain.calls(), 3)
	}, func(o *Options) { o.Buckets = throttle.NewBuckets(1, 1) })
}

// TestABetterReasonIsTold, also when the time is over.
func TestABetterReasonIsTold(t *testing.T) {
	inABubble(t, func(t *testing.T, w *world) {
		w.domain.answer = func(ctx context.Context) ([]string, error) {
			<-ctx.Done()
			return nil, &intent.Error{Code: intent.Conflict, Detail: "two resources have one key"}
		}
		_, err := w.client().UpdateAppContext(t.Context(), update("17"))
		require.Equal(t, codes.FailedPrecondition, status.Code(err), err)
	}, func(o *Options) { o.Patience = 2 * time.Second })
}

// TestEMCOsCallersHaveTenSeconds: who sets no deadline gets what EMCO's callers
// have.
func TestEMCOsCallersHaveTenSeconds(t *testing.T) {
	inABubble(t, func(t *testing.T, w *world) {
		left := make(chan time.Duration, 2)
		w.domain.answer = func(ctx context.Context) ([]string, error) {
			deadline, ok := ctx.Deadline()
			require.True(t, ok)
			left <- time.Until(deadline)
			return nil, nil
		}
		client := w.client()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for ctx, want := range map[context.Context]time.Duration{t.Context(): 9 * time.Second, ctx: 54 * time.Second} {
			_, err := client.UpdateAppContext(ctx, update("17"))
			require.NoError(t, err)
			require.Equal(t, want, <-left)
		}
	})
}

// TestACallerThatHangsUpEndsTheWork, and is no fault.
func TestACallerThatHangsUpEndsTheWork(t *testing.T) {
	w := newWorld(t)
	begun, ended := make(chan struct{}), make(chan struct{})
	w.domain.answer = func(ctx context.Context) ([]string, error) {
		close(begun)
		defer close(ended)
		return until(ctx)
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	client := w.client()
	go func() {
		_, err := client.UpdateAppContext(ctx, update("17"))
		failed <- err
	}()
	<-begun
	cancel()
	<-ended
	require.Equal(t, codes.Canceled, status.Code(<-failed))
	require.Eventually(t, func() bool { return strings.Contains(w.log.String(), "code=Canceled") }, patience, time.Millisecond)
	require.NotContains(t, w.log.String(), "level=ERROR")
}

func TestAPanicIsAnsweredAndLogged(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	w.domain.answer = func(context.Context) ([]string, error) { panic("hunter2") }
	var header metadata.MD
	_, err := client.UpdateAppContext(t.Context(), update("17"), grpc.Header(&header))
	require.Equal(t, codes.Internal, status.Code(err))
	require.NotContains(t, err.Error(), "hunter2")
	id := header.Get("x-request-id")[0]
	require.ErrorContains(t, err, id)
	require.Contains(t, w.log.String(), "msg=panic reason=hunter2 stack=")
	require.Contains(t, w.log.String(), "requestID="+id)
	require.Contains(t, w.log.String(), "guard_test.go", "the stack is that of the panic")

	w.domain.answer = nil
	_, err = client.UpdateAppContext(t.Context(), update("17"))
	require.NoError(t, err, "the server lives on")
}

// TestWhoMayCall: the header is judged by what the edge is given.
func TestWhoMayCall(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Authorize = func(_ context.Context, caller access.Caller) (intent.Actor, error) {
			require.NotEmpty(t, caller.Address)
			if caller.Authorization != "Bearer s3cr3t" {
				return intent.Actor{}, &intent.Error{Code: intent.Unauthenticated, Detail: "send a token"}
			}
			return intent.Actor{Subject: "emco"}, nil
		}
	})
	client := w.client()
	for _, wrong := range []metadata.MD{nil, metadata.Pairs("authorization", "Bearer other"), metadata.Pairs("authorization", ""),
		metadata.Pairs("authorization", "Bearer s3cr3t", "authorization", "Bearer other"), metadata.Pairs("authorization", "Bearer s3cr3t", "authorization", "Bearer s3cr3t")} {
		_, err := client.UpdateAppContext(metadata.NewOutgoingContext(t.Context(), wrong), update("17"))
		require.Equal(t, codes.Unauthenticated, status.Code(err))
		require.ErrorContains(t, err, "send a token")
	}
	require.Empty(t, w.domain.calls())
	_, err := client.UpdateAppContext(metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer s3cr3t"), update("17"))
	require.NoError(t, err)
	require.Contains(t, w.log.String(), "actor=emco")
	require.NotContains(t, w.log.String(), "s3cr3t")
	answer, err := grpc_health_v1.NewHealthClient(w.dial()).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	require.NoError(t, err, "probes need no token")
	require.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, answer.GetStatus())
}

func TestHealthKnowsTheService(t *testing.T) {
	w := newWorld(t)
	client := grpc_health_v1.NewHealthClient(w.dial())
	for _, name := range []string{"", "contextupdate"} {
		answer, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: name})
		require.NoError(t, err)
		require.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, answer.GetStatus(), name)
	}
	_, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: "other"})
	require.Equal(t, codes.NotFound, status.Code(err))
	w.health.Shutdown()
	answer, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: "contextupdate"})
	require.NoError(t, err)
	require.Equal(t, grpc_health_v1.HealthCheckResponse_NOT_SERVING, answer.GetStatus())
}

// TestReflectionTellsTheContract: which services there are, and the fields of
// the requests, as a client without our files asks for them.
func TestReflectionTellsTheContract(t *testing.T) {
	w := newWorld(t)
	stream, err := grpc_reflection_v1.NewServerReflectionClient(w.dial()).ServerReflectionInfo(t.Context())
	require.NoError(t, err)
	require.NoError(t, stream.Send(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}}))
	answer, err := stream.Recv()
	require.NoError(t, err)
	var services []string
	for _, service := range answer.GetListServicesResponse().GetService() {
		services = append(services, service.GetName())
	}
	require.Equal(t, []string{"contextupdate", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"}, services)

	require.NoError(t, stream.Send(&grpc_reflection_v1.ServerReflectionRequest{
		MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "contextupdate.UpdateAppContext"},
	}))
	answer, err = stream.Recv()
	require.NoError(t, err)
	var file descriptorpb.FileDescriptorProto
	require.NoError(t, proto.Unmarshal(answer.GetFileDescriptorResponse().GetFileDescriptorProto()[0], &file))
	require.Equal(t, "contextupdate.proto", file.GetName())
	require.Equal(t, ".ContextUpdateRequest", file.GetService()[0].GetMethod()[0].GetInputType())
}

// TestAServerWithoutAnOrchestratorOffersHealthAlone, and reflection.
func TestAServerWithoutAnOrchestratorOffersHealthAlone(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Contexts = nil })
	_, err := w.client().UpdateAppContext(t.Context(), update("17"))
	require.Equal(t, codes.Unimplemented, status.Code(err))
	require.False(t, emcoTakesForDone(err), err)
	_, err = grpc_health_v1.NewHealthClient(w.dial()).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	require.NoError(t, err)
}

func TestCallsAreMeasuredAndLogged(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	var header metadata.MD
	var followed string
	w.domain.answer = func(ctx context.Context) ([]string, error) {
		followed = tracing.Parent(ctx)
		return nil, nil
	}
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	_, err := client.UpdateAppContext(metadata.AppendToOutgoingContext(t.Context(), "traceparent", trace), update("17"), grpc.Header(&header))
	require.NoError(t, err)
	require.Equal(t, trace, followed, "what is done belongs to the caller's trace, also where none is recorded here")
	_, err = client.PostEvent(t.Context(), &emcopb.PostEventRequest{AppContext: "nobody\nlevel=ERROR"})
	require.Error(t, err)
	families, err := w.metrics.Gather()
	require.NoError(t, err)
	measured := map[string]string{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			measured[family.GetName()] += metric.String() + "\n"
		}
	}
	took := measured["signpost_grpc_request_duration_seconds"]
	for _, label := range []string{"/contextupdate/UpdateAppContext", "/contextupdate/PostEvent", "OK", "InvalidArgument"} {
		require.Contains(t, took, `value:"`+label+`"`)
	}
	require.Contains(t, measured["signpost_grpc_requests_in_flight"], "gauge:{value:0}")
	lines := strings.Split(strings.TrimSpace(w.log.String()), "\n")
	require.Len(t, lines, 2, "nobody writes lines of their own")
	for _, text := range []string{
		"level=INFO", "msg=call", "requestID=" + header.Get("x-request-id")[0], "method=/contextupdate/UpdateAppContext", "code=OK",
		"took=", "actor=anonymous", "peer=127.0.0.1:", "appContext=17", "trace=4bf92f3577b34da6a3ce929d0e0e4736",
	} {
		require.Contains(t, lines[0], text)
	}
	require.Contains(t, lines[1], "code=InvalidArgument")
	require.Contains(t, lines[1], "app_context is", "with the error")
}

func TestOptionsAreChecked(t *testing.T) {
	_, err := New(Options{})
	require.ErrorContains(t, err, "Health is required")
	w := newWorld(t)
	_, err = New(Options{Health: w.health, Metrics: w.metrics})
	require.ErrorContains(t, err, "contextupdate: metrics: ", "a registry has one edge")
	_, err = New(Options{Health: w.health})
	require.NoError(t, err, "the rest has defaults")
}

// TestTheCertificateOfACallerIsJudged, where it has shown one.
func TestTheCertificateOfACallerIsJudged(t *testing.T) {
	pair, pool := certificate(t)
	authenticator, err := access.Open(access.Options{})
	require.NoError(t, err)
	w := newWorld(t, func(o *Options) {
		o.Credentials = credentials.NewTLS(&tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: pool,
		})
		o.Authorize = authenticator.Certified
	})
	call := func(show ...tls.Certificate) error {
		config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, Certificates: show}
		_, err := emcopb.NewContextupdateClient(w.dial(grpc.WithTransportCredentials(credentials.NewTLS(config)))).UpdateAppContext(t.Context(), update("17"))
		return err
	}
	require.NoError(t, call(pair))
	require.Contains(t, w.log.String(), `actor=cert:emco`)
	require.Equal(t, codes.Unauthenticated, status.Code(call()))
}

// certificate is one for both ends, and who trusts it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "emco"}, NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(raw)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key, Leaf: leaf}, pool
}

// TestLongHeadersAreRefused: before anything is read of the call.
func TestLongHeadersAreRefused(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	_, err := client.UpdateAppContext(metadata.AppendToOutgoingContext(t.Context(), "baggage", strings.Repeat("a", 8<<10)), update("17"))
	require.NoError(t, err, "what tracing sends fits")
	_, err = client.UpdateAppContext(metadata.AppendToOutgoingContext(t.Context(), "baggage", strings.Repeat("a", 64<<10)), update("17"))
	require.Error(t, err)
	require.Len(t, w.domain.calls(), 1)
}

// TestStreamsThatNeverEndAreBounded, over all connections: whoever reaches the
// listener may open them.
func TestStreamsThatNeverEndAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, end := context.WithCancel(t.Context())
	watch := func(ctx context.Context, of grpc.ClientConnInterface) error {
		stream, err := grpc_health_v1.NewHealthClient(of).Watch(ctx, &grpc_health_v1.HealthCheckRequest{})
		require.NoError(t, err)
		_, err = stream.Recv()
		return err
	}
	const ofConnection = 32
	one := w.dial()
	for n := range maxStreams {
		if n%ofConnection == 0 {
			one = w.dial()
		}
		require.NoError(t, watch(ctx, one))
	}
	one = w.dial()
	require.Equal(t, codes.ResourceExhausted, status.Code(watch(t.Context(), one)))
	_, err := w.client().TerminateAppContext(t.Context(), &emcopb.TerminateRequest{AppContext: "1"})
	require.NoError(t, err, "calls go on")
	end()
	require.Eventually(t, func() bool { return watch(t.Context(), one) == nil }, patience, time.Millisecond)
}
