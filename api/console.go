package api

import (
	"net/http"
	"strings"

	"github.com/signpost-dns/signpost/api/requestinfo"
)

// withConsole answers paths below /ui/ by the console, and leads browsers that ask for /
// there. The way is relative, so that it holds behind an ingress that takes off a prefix.
func (e *edge) withConsole(next http.Handler) http.Handler {
	if e.console == nil {
		return next
	}
	const prefix = "/ui/"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, prefix):
			requestinfo.From(r.Context()).Route = prefix
			e.console.ServeHTTP(w, r)
		case r.URL.Path == "/ui", r.URL.Path == "/" && reads(r):
			requestinfo.From(r.Context()).Route = prefix
			w.Header().Set("Location", "ui/")
			w.Header().Set("Vary", "Accept")
			w.WriteHeader(http.StatusFound)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// reads tells a browser that wants a page from a program.
func reads(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}
