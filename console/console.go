// Package console is the web console: its built files, and the handler that serves them.
// The sources are beside it, in TypeScript; "make console" builds them.
package console

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

// built are the built files.
//
//go:embed all:dist
var built embed.FS

// SignIn says how users of the console sign in.
type SignIn struct {
	Anonymous bool     // nobody is asked who they are
	Issuer    string   // the OpenID Connect issuer of the server; empty: none
	ClientID  string   // of the console at the issuer, a public client; empty: users paste a token
	Audiences []string // one of which a token has to be for

	// Endpoints asks the issuer where users sign in, and where a code becomes a token.
	// nil: there is no issuer.
	Endpoints func(context.Context) (authorization, token string, err error)
}

// settings is what the console asks its server for when it begins.
type settings struct {
	Anonymous bool     `json:"anonymous"`
	Issuer    string   `json:"issuer,omitempty"`
	ClientID  string   `json:"clientID,omitempty"`
	Audiences []string `json:"audiences,omitempty"`
	Authorize string   `json:"authorizationEndpoint,omitempty"`
	Token     string   `json:"tokenEndpoint,omitempty"`
	Fault     string   `json:"fault,omitempty"`
}

// file is a built file as it is sent.
type file struct {
	kind        string
	raw, zipped []byte // zipped is nil if that is no shorter
	tag         string
}

// handler serves the files below /ui/.
type handler struct {
	signIn SignIn
	files  map[string]file
}

// Prefix is the path below which the handler answers.
const Prefix = "/ui/"

// New returns the handler of all paths below Prefix.
func New(signIn SignIn) (http.Handler, error) {
	dist, err := fs.Sub(built, "dist")
	if err != nil {
		return nil, err
	}
	return newHandler(dist, signIn)
}

func newHandler(dist fs.FS, signIn SignIn) (http.Handler, error) {
	h := &handler{signIn: signIn, files: map[string]file{}}
	err := fs.WalkDir(dist, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(dist, name)
		if err != nil {
			return err
		}
		h.files[name], err = prepare(name, raw)
		return err
	})
	if err == nil && h.files["index.html"].raw == nil {
		err = fmt.Errorf("console: there is no index.html; run make console")
	}
	return h, err
}

// prepare makes a file ready to be sent.
func prepare(name string, raw []byte) (file, error) {
	sum := sha256.Sum256(raw)
	f := file{kind: mime.TypeByExtension(path.Ext(name)), raw: raw, tag: `"` + hex.EncodeToString(sum[:16]) + `"`}
	if path.Ext(name) == ".js" {
		f.kind = "text/javascript; charset=utf-8" // the table of this machine may say otherwise
	}
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return file{}, err
	}
	if _, err := w.Write(raw); err != nil {
		return file{}, err
	}
	if err := w.Close(); err != nil {
		return file{}, err
	}
	if zipped.Len() < len(raw) {
		f.zipped = zipped.Bytes()
	}
	return f, nil
}

// ServeHTTP answers a path below Prefix.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the console is read by GET; the API is below /v2", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, Prefix)
	name = cmp.Or(name, "index.html")
	if name == "settings.json" {
		h.settings(w, r)
		return
	}
	f, ok := h.files[name]
	if !ok {
		http.Error(w, "the console has no such file; it begins at "+Prefix, http.StatusNotFound)
		return
	}
	h.guard(w, r)
	f.send(w, r, strings.HasPrefix(name, "assets/"))
}

// send writes a file. The names of assets change with their content, so that browsers
// keep assets for ever, and ask each time about the others.
func (f file) send(w http.ResponseWriter, r *http.Request, asset bool) {
	header := w.Header()
	header.Set("Content-Type", f.kind)
	header.Set("ETag", f.tag)
	header.Set("Vary", "Accept-Encoding")
	header.Set("Cache-Control", "no-cache")
	if asset {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.raw
	if f.zipped != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		body = f.zipped
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // a browser that hangs up wants no more
	}
}

// settings answers how users sign in.
func (h *handler) settings(w http.ResponseWriter, r *http.Request) {
	s := settings{Anonymous: h.signIn.Anonymous, Issuer: h.signIn.Issuer, ClientID: h.signIn.ClientID, Audiences: h.signIn.Audiences}
	if s.ClientID != "" {
		var err error
		if s.Authorize, s.Token, err = h.endpoints(r); err != nil {
			s.Fault = "the issuer " + s.Issuer + " does not say where to sign in: paste a token instead"
		}
	}
	h.guard(w, r)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(s) //nolint:errchkjson // texts and booleans always encode; a browser that hangs up wants no more
}

// guard sets the headers that confine the page: only files of this server run, and only
// this server and the issuer are asked.
func (h *handler) guard(w http.ResponseWriter, r *http.Request) {
	connect := "'self'"
	if h.signIn.ClientID != "" {
		connect += sources(h.signIn.Issuer)
		if _, token, err := h.endpoints(r); err == nil {
			connect += sources(token)
		}
	}
	header := w.Header()
	header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "+
		connect+"; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

func (h *handler) endpoints(r *http.Request) (authorization, token string, err error) {
	const patience = 3 * time.Second
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	return h.signIn.Endpoints(ctx)
}

// sources is a URL as a source of a policy, after a space; nothing for what could end
// the directive.
func sources(text string) string {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" || strings.ContainsAny(text, " ;,'\"\t\r\n") {
		return ""
	}
	return " " + parsed.Scheme + "://" + parsed.Host + parsed.EscapedPath()
}
