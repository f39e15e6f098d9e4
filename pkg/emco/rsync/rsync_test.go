package rsync

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco/emcopb"
)

const patience = 30 * time.Second

// server is an rsync that does nothing but answer.
type server struct {
	emcopb.UnimplementedInstallappServer
	emcopb.UnimplementedUpdateappServer

	mu     sync.Mutex
	asked  []string
	answer func(ctx context.Context, count int) (done bool, message string, err error) // nil: yes
}

func (s *server) ask(ctx context.Context, what string) (done bool, message string, err error) {
	s.mu.Lock()
	s.asked = append(s.asked, what)
	count := len(s.asked)
	s.mu.Unlock()
	if s.answer == nil {
		return true, "", nil
	}
	return s.answer(ctx, count)
}

func (s *server) InstallApp(ctx context.Context, r *emcopb.InstallAppRequest) (*emcopb.InstallAppResponse, error) {
	done, message, err := s.ask(ctx, "install "+r.GetAppContext())
	return &emcopb.InstallAppResponse{AppContextInstalled: done, AppContextInstallMessage: message}, err
}

func (s *server) UninstallApp(ctx context.Context, r *emcopb.UninstallAppRequest) (*emcopb.UninstallAppResponse, error) {
	done, message, err := s.ask(ctx, "uninstall "+r.GetAppContext())
	return &emcopb.UninstallAppResponse{AppContextUninstalled: done, AppContextUninstallMessage: message}, err
}

func (s *server) UpdateApp(ctx context.Context, r *emcopb.UpdateAppRequest) (*emcopb.UpdateAppResponse, error) {
	done, message, err := s.ask(ctx, "update "+r.GetUpdateFromAppContext()+" to "+r.GetUpdateToAppContext())
	return &emcopb.UpdateAppResponse{AppContextUpdated: done, AppContextUpdateMessage: message}, err
}

func (s *server) calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.asked...)
}

// serve runs a server on a listener until the test ends.
func serve(t *testing.T, listener net.Listener, register func(s *grpc.Server)) {
	made := grpc.NewServer()
	register(made)
	served := make(chan error, 1)
	go func() { served <- made.Serve(listener) }()
	t.Cleanup(func() {
		made.Stop()
		if err := <-served; !errors.Is(err, grpc.ErrServerStopped) { // before it has begun
			require.NoError(t, err)
		}
	})
}

func (s *server) register(to *grpc.Server) {
	emcopb.RegisterInstallappServer(to, s)
	emcopb.RegisterUpdateappServer(to, s)
}

func listen(t *testing.T) net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return listener
}

// client is one of an rsync, with a short timeout when the test waits for it.
func client(t *testing.T, endpoint string, timeout time.Duration) *Client {
	c, err := New(Options{Endpoint: endpoint, Timeout: timeout})
	require.NoError(t, err)
	return c
}

// calls are all that a client can ask for.
func calls(c *Client) map[string]func(ctx context.Context) error {
	return map[string]func(ctx context.Context) error{
		"install 17":      func(ctx context.Context) error { return c.Install(ctx, "17") },
		"uninstall 17":    func(ctx context.Context) error { return c.Uninstall(ctx, "17") },
		"update 17 to 18": func(ctx context.Context) error { return c.Update(ctx, "17", "18") },
	}
}

func TestRsyncIsAsked(t *testing.T) {
	t.Parallel()
	for what := range calls(nil) {
		s, l := &server{}, listen(t)
		serve(t, l, s.register)
		require.NoError(t, calls(client(t, l.Addr().String(), 0))[what](t.Context()))
		require.Equal(t, []string{what}, s.calls())
	}
}

// TestAnAnswerOfRsyncIsBounded checks that one that is too long is not read, and may be asked for again.
func TestAnAnswerOfRsyncIsBounded(t *testing.T) {
	t.Parallel()
	s, l := &server{}, listen(t)
	s.answer = func(context.Context, int) (bool, string, error) { return true, strings.Repeat("x", 1<<20), nil }
	serve(t, l, s.register)
	err := client(t, l.Addr().String(), 0).Install(t.Context(), "17")
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	require.ErrorContains(t, err, "received message larger than max")
	require.Equal(t, []string{"install 17"}, s.calls())
}

// TestRsyncSaysNo: by an error, which is not repeated, since rsync has begun to
// uninstall then; or by an answer.
func TestRsyncSaysNo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason  string
		done    bool
		message string
		err     error
		says    string
	}{
		{"an error of Go, as rsync's are", false, "", errors.New("Terminate Flag is set"), ": Terminate Flag is set"},
		{"a status", false, "", status.Error(codes.PermissionDenied, "RBAC: access denied"), ": RBAC: access denied"},
		{"no, with a reason", false, "no such context", nil, ": no such context"},
		{"no, at length", false, strings.Repeat("x", 2000), nil, ": " + strings.Repeat("x", 500) + "…"},
		{"an error at length", false, "", errors.New(strings.Repeat("x", 2000)), ": " + strings.Repeat("x", 500) + "…"},
		{"no, without one", false, "", nil, ", and does not say why"},
	} {
		s, l := &server{}, listen(t)
		s.answer = func(context.Context, int) (bool, string, error) { return c.done, c.message, c.err }
		serve(t, l, s.register)
		for what, call := range calls(client(t, l.Addr().String(), 0)) {
			err := call(t.Context())
			require.Equal(t, intent.Conflict, intent.CodeOf(err), "%s: %s", c.reason, what)
			require.ErrorContains(t, err, "rsync at "+l.Addr().String()+" refuses to ")
			require.ErrorContains(t, err, "app context 17")
			require.ErrorContains(t, err, c.says)
		}
		require.Len(t, s.calls(), len(calls(nil)), "each was asked for once")
	}
}

// TestAnRsyncThatRestartsIsAskedAgain: what it may not have got is repeated.
func TestAnRsyncThatRestartsIsAskedAgain(t *testing.T) {
	t.Parallel()
	s, l := &server{}, listen(t)
	s.answer = func(_ context.Context, count int) (bool, string, error) {
		if count < 3 {
			return false, "", status.Error(codes.Unavailable, "shutting down")
		}
		return true, "", nil
	}
	serve(t, l, s.register)
	require.NoError(t, client(t, l.Addr().String(), 0).Install(t.Context(), "17"))
	require.Equal(t, []string{"install 17", "install 17", "install 17"}, s.calls())
}

// TestAnRsyncThatComesBackIsReached: its proxy cuts connections off until then.
func TestAnRsyncThatComesBackIsReached(t *testing.T) {
	t.Parallel()
	s, l := &server{}, listen(t)
	c, failed := client(t, l.Addr().String(), 0), make(chan error, 1)
	go func() { failed <- c.Install(t.Context(), "17") }()
	for range 2 {
		connection, err := l.Accept()
		require.NoError(t, err)
		require.NoError(t, connection.Close())
	}
	serve(t, l, s.register)
	require.NoError(t, <-failed)
	require.Equal(t, []string{"install 17"}, s.calls())
}

// TestAnRsyncThatIsDownIsNamed soon, and long before the timeout.
func TestAnRsyncThatIsDownIsNamed(t *testing.T) {
	t.Parallel()
	l := listen(t)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	began := time.Now()
	err := client(t, address, time.Minute).Install(t.Context(), "17")
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	require.ErrorContains(t, err, "rsync at "+address+" cannot be reached to install app context 17")
	require.ErrorContains(t, err, "refused")
	require.Less(t, time.Since(began), patience)
}

func TestAnRsyncThatIsSlowIsGivenUp(t *testing.T) {
	t.Parallel()
	s, l := &server{}, listen(t)
	s.answer = func(ctx context.Context, _ int) (bool, string, error) {
		<-ctx.Done()
		return false, "", ctx.Err()
	}
	serve(t, l, s.register)
	err := client(t, l.Addr().String(), 2*time.Second).Uninstall(t.Context(), "17")
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	require.ErrorContains(t, err, "did not answer within 2s, asked to uninstall app context 17")
	require.Len(t, s.calls(), 1)
}

// TestWhoeverListensThereMayBeNoRsync: a server without the service, one that
// says nothing, and one that speaks something else.
func TestWhoeverListensThereMayBeNoRsync(t *testing.T) {
	t.Parallel()
	other := listen(t)
	serve(t, other, func(*grpc.Server) {})
	err := client(t, other.Addr().String(), 0).Install(t.Context(), "17")
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	require.ErrorContains(t, err, "is not an rsync that could install app context 17: unknown service installapp")

	silent := listen(t)
	defer silent.Close()
	err = client(t, silent.Addr().String(), 300*time.Millisecond).Install(t.Context(), "17")
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))

	web := listen(t)
	defer web.Close()
	go func() {
		for {
			connection, err := web.Accept()
			if err != nil {
				return
			}
			_, _ = connection.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_ = connection.Close()
		}
	}()
	err = client(t, web.Addr().String(), 0).Install(t.Context(), "17")
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	require.ErrorContains(t, err, "cannot be reached")
}

// TestTheCallersOwnEndIsTold as it is: it is no fault of rsync.
func TestTheCallersOwnEndIsTold(t *testing.T) {
	t.Parallel()
	s, l := &server{}, listen(t)
	begun := make(chan struct{})
	s.answer = func(ctx context.Context, _ int) (bool, string, error) {
		close(begun)
		<-ctx.Done()
		return false, "", ctx.Err()
	}
	serve(t, l, s.register)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	err := client(t, l.Addr().String(), 0).Install(ctx, "17")
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, intent.CodeOf(err))
}

func TestManyAskAtOnce(t *testing.T) {
	t.Parallel()
	s, l := &server{}, listen(t)
	serve(t, l, s.register)
	c := client(t, l.Addr().String(), 0)
	failures := make(chan error, 50)
	for range cap(failures) {
		go func() { failures <- c.Install(t.Context(), "17") }()
	}
	for range cap(failures) {
		require.NoError(t, <-failures)
	}
	require.Len(t, s.calls(), cap(failures))
}

func TestAnEndpointIsAHostAndAPort(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"", "rsync", "rsync:", ":9031", "http://rsync:9031", "rsync:9031:1"} {
		_, err := New(Options{Endpoint: wrong})
		require.ErrorContains(t, err, "host:port", wrong)
	}
	_, err := New(Options{Endpoint: "[::1]:9031"})
	require.NoError(t, err)
}
