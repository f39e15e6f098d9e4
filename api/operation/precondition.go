package operation

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Precondition is what a request's If-Match and If-None-Match ask for.
type Precondition struct {
	match, noneMatch []string // entity tags; nil: not asked
}

// ReadPrecondition parses the header. Errors: Invalid.
func ReadPrecondition(header http.Header) (Precondition, error) {
	var p Precondition
	var err error
	if p.match, err = readTags(header, "If-Match"); err != nil {
		return p, err
	}
	p.noneMatch, err = readTags(header, "If-None-Match")
	return p, err
}

// Asked reports whether there is a precondition at all.
func (p Precondition) Asked() bool { return p.match != nil || p.noneMatch != nil }

// Check judges the precondition for a document, nil when there is none.
// If-Match compares strongly, If-None-Match weakly (RFC 9110, 13.1).
func (p Precondition) Check(path intent.Path, doc *intent.Document) error {
	if p.match != nil && !matches(p.match, doc, false) {
		detail := string(path) + " does not exist, so If-Match does not hold"
		if doc != nil {
			detail = string(path) + " is at " + ETag(doc.Revision) + ", so If-Match does not hold; read it again"
		}
		return &intent.Error{Code: intent.PreconditionFailed, Detail: detail}
	}
	if p.noneMatch != nil && matches(p.noneMatch, doc, true) {
		return &intent.Error{
			Code:   intent.PreconditionFailed,
			Detail: string(path) + " exists, at " + ETag(doc.Revision) + ", so If-None-Match does not hold",
		}
	}
	return nil
}

func matches(tags []string, doc *intent.Document, weakly bool) bool {
	return doc != nil && tagged(tags, ETag(doc.Revision), weakly)
}

// tagged tells whether one of the tags of a request is this one.
func tagged(tags []string, tag string, weakly bool) bool {
	return slices.ContainsFunc(tags, func(asked string) bool {
		if weakly {
			asked = strings.TrimPrefix(asked, "W/")
		}
		return asked == "*" || asked == tag
	})
}

// ETag returns a revision as an entity tag.
func ETag(revision int64) string { return strconv.Quote(strconv.FormatInt(revision, 10)) }

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
			tag = ETag(revision) // without its quotes, as people write it
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
