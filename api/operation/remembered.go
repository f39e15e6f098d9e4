package operation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/api/service"
)

// Remembered answers conditional requests. It remembers what recent answers followed from,
// so that an answer that would be the same is not made again.
type Remembered struct {
	// Record returns a context whose reads are noted. The reads are nil if they cannot be.
	Record func(ctx context.Context) (context.Context, service.Reads)
	Now    func() time.Time

	mu      sync.Mutex
	answers map[string]remembered // by path and query
}

// remembered is an answer, without its body.
type remembered struct {
	tag   string
	reads service.Reads
	made  time.Time
}

const (
	// longestRemembered bounds how late a change by time alone is seen. For example, an address
	// leaves a name when its cluster has been unreachable for long.
	longestRemembered = 15 * time.Second
	mostRemembered    = 50_000 // keys that all answers together followed from: about 10 MiB
)

// Answer answers what a handler makes, with a tag of its bytes, or 304 if the request has
// that tag already.
func (m *Remembered) Answer(ctx context.Context, c *Call, of func(context.Context) (any, error)) (response.Answer, error) {
	asked, err := readTags(c.Header, "If-None-Match")
	if err != nil {
		return response.Answer{}, err
	}
	key := string(c.Path) + "?" + c.Query.Encode()
	if tag := m.still(ctx, key, asked); tag != "" {
		return unmodified(tag), nil
	}
	began := m.Now()
	ctx, reads := m.Record(ctx)
	body, err := of(ctx)
	if err != nil {
		return response.Answer{}, err
	}
	text, err := response.Encode(body)
	if err != nil {
		return response.Answer{}, err
	}
	sum := sha256.Sum256(text)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	m.remember(key, remembered{tag, reads, began})
	if tagged(asked, tag, true) {
		return unmodified(tag), nil
	}
	return response.Answer{Status: http.StatusOK, Text: text, Header: http.Header{"Etag": {tag}, "Content-Type": {mediaJSON}}}, nil
}

func unmodified(tag string) response.Answer {
	return response.Answer{Status: http.StatusNotModified, Header: http.Header{"Etag": {tag}}}
}

// still returns the tag of a remembered answer if the request has it and the answer would
// be the same; else nothing.
func (m *Remembered) still(ctx context.Context, key string, asked []string) string {
	m.mu.Lock()
	last, known := m.answers[key]
	m.mu.Unlock()
	if !known || m.Now().Sub(last.made) > longestRemembered || !tagged(asked, last.tag, true) {
		return ""
	}
	if same, err := last.reads.Unchanged(ctx); err != nil || !same {
		return "" // the reads that follow tell the error
	}
	return last.tag
}

// remember keeps an answer, and forgets those that are too old.
func (m *Remembered) remember(key string, answer remembered) {
	if answer.reads == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.answers, key)
	kept := answer.reads.Size()
	for other, of := range m.answers {
		if answer.made.Sub(of.made) > longestRemembered {
			delete(m.answers, other)
		} else {
			kept += of.reads.Size()
		}
	}
	if kept > mostRemembered {
		return
	}
	if m.answers == nil {
		m.answers = map[string]remembered{}
	}
	m.answers[key] = answer
}
