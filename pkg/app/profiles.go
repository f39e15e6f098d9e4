package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// checkProfiles keeps profiles, which contain memory, on loopback, also with --insecure.
func (l Listeners) checkProfiles() error {
	if l.PprofListen == "" {
		return nil
	}
	if _, _, err := net.SplitHostPort(l.PprofListen); err != nil {
		return fmt.Errorf("--pprof-listen: %q is not of the form host:port", l.PprofListen)
	}
	if !onLoopback(l.PprofListen) {
		return fmt.Errorf("--pprof-listen %s: profiles contain memory, and so secrets; give an address of loopback, as in 127.0.0.1:6060", l.PprofListen)
	}
	return nil
}

// newProfiles is the server of the profiles, as `go tool pprof` reads them. A
// profile takes as long as it is asked to, so that there is no deadline. The command
// line is left out: it may have passwords in it, as in --mongo-uri.
func newProfiles() *http.Server {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /debug/pprof/", pprof.Index)
	routes.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	routes.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	routes.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	const slowest = 10 * time.Second
	return &http.Server{Handler: local(routes), ReadHeaderTimeout: slowest}
}

// local refuses requests by a name that is not this machine's own. A web page can send
// such requests by a name that was made to lead here.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if !loopback(host) {
			http.Error(w, "profiles are only for this machine; ask for them by localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// serveProfiles serves until ctx ends; nothing where there is no listener.
func (l *listeners) serveProfiles(ctx context.Context) error {
	if l.pprof == nil {
		return nil
	}
	server := newProfiles()
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(l.pprof); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
