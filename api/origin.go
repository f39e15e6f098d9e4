package api

import (
	"net"
	"net/http"
	"strings"

	"github.com/signpost-dns/signpost/api/response"
)

// ownPages refuses what a page of another site has a browser send, with the
// certificate or from the place of who reads that page. Programs say nothing of
// where they come from.
func (e *edge) ownPages(next http.Handler) http.Handler {
	check := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := check.Check(r); err != nil {
			e.response.Problem(w, r, response.Problem{Status: http.StatusForbidden, Detail: "a page of another site asks for this (Origin, Sec-Fetch-Site); nothing was done"})
			return
		}
		if e.local && !local(r.Host) {
			e.response.Problem(w, r, response.Problem{Status: http.StatusMisdirectedRequest, Detail: "without authentication, requests are for this machine (Host): ask by localhost or 127.0.0.1, or start the server with authentication"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// local tells whether a Host is this machine by its own name or address. A name of
// somebody else's may lead here, too, and pages of theirs with it. No browser
// leaves it out.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "" || strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
