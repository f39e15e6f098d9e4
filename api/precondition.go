package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// precondition is what a request's If-Match and If-None-Match ask for.
type precondition struct {
	match, noneMatch []string // entity tags; nil: not asked
}

// readPrecondition parses the header. Errors: Invalid.
func readPrecondition(header http.Header) (precondition, error) {
	var p precondition
	var err error
	if p.match, err = readTags(header, "If-Match"); err != nil {
		return p, err
	}
	p.noneMatch, err = readTags(header, "If-None-Match")
	return p, err
}

// asked tells whether there is a precondition at all.
func (p precondition) asked() bool { return p.match != nil || p.noneMatch != nil }

// check judges the precondition for a document, nil when there is none.
// If-Match compares strongly, If-None-Match weakly (RFC 9110, 13.1).
func (p precondition) check(path intent.Path, doc *intent.Document) error {
	if p.match != nil && !matches(p.match, doc, false) {
		detail := string(path) + " does not exist, so If-Match does not hold"
		if doc != nil {
			detail = string(path) + " is at " + etag(doc.Revision) + ", so If-Match does not hold; read it again"
		}
		return &intent.Error{Code: intent.PreconditionFailed, Detail: detail}
	}
	if p.noneMatch != nil && matches(p.noneMatch, doc, true) {
		return &intent.Error{
			Code:   intent.PreconditionFailed,
			Detail: string(path) + " exists, at " + etag(doc.Revision) + ", so If-None-Match does not hold",
		}
	}
	return nil
}

func matches(tags []string, doc *intent.Document, weakly bool) bool {
	if doc == nil {
		return false
	}
	for _, tag := range tags {
		if weakly {
			tag = strings.TrimPrefix(tag, "W/")
		}
		if tag == "*" || tag == etag(doc.Revision) {
			return true
		}
	}
	return false
}

// conditional holds an action's preconditions against its owner, as it is when
// the request arrives.
func (e *edge) conditional(act handler) handler {
	return func(ctx context.Context, c *call) (answer, error) {
		asked, err := readPrecondition(c.header)
		if err != nil {
			return answer{}, err
		}
		if asked.asked() {
			owner, err := e.find(ctx, c.owner())
			if err != nil {
				return answer{}, err
			}
			if err := asked.check(c.owner(), owner); err != nil {
				return answer{}, err
			}
		}
		return act(ctx, c)
	}
}

// etag is a revision as an entity tag.
func etag(revision int64) string { return strconv.Quote(strconv.FormatInt(revision, 10)) }

// readTags splits a list of entity tags; nil when the field is not there.
func readTags(header http.Header, field string) ([]string, error) {
	values := header.Values(field)
	if len(values) == 0 {
		return nil, nil
	}
	var tags []string
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		tag := strings.TrimSpace(part)
		if revision, err := strconv.ParseInt(tag, 10, 64); err == nil {
			tag = etag(revision) // without its quotes, as people write it
		}
		if opaque := strings.TrimPrefix(tag, "W/"); tag != "*" && !quoted(opaque) {
			return nil, &intent.Error{
				Code:   intent.Invalid,
				Detail: "header " + field + ` must be * or entity tags in quotes, as in "3"`,
			}
		}
		tags = append(tags, tag)
	}
	return tags, nil
}

func quoted(text string) bool {
	const quotes = 2
	return len(text) >= quotes && text[0] == '"' && text[len(text)-1] == '"' && strings.Count(text, `"`) == quotes
}
