package nameindex

import (
	"cmp"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// reason is why a name is not as it should be, the gravest fault first; empty if the Index
// knows of none.
func (h hit) reason() string {
	switch {
	case h.of.state == intent.Failed && h.of.message != "":
		return h.of.message
	case h.of.state == intent.Terminating: // as it was asked for
		return ""
	case h.published == no:
		return h.whyUnpublished()
	case h.verified != yes && (h.verified == no || h.published == yes):
		return h.whyUnverified()
	case h.published != yes:
		return h.whyUnpublished()
	case h.held():
		return h.whyHeld()
	}
	return ""
}

// whyHeld is why a name has no address any more, and stays.
func (h hit) whyHeld() string {
	why := "no address of it exists any more"
	for _, e := range h.from {
		why = cmp.Or(h.whyNoAddress(e), why)
	}
	return why + "; its removal is held, because too many names would go at once"
}

// held tells whether a name of its own is published only because too many names would go at once.
func (h hit) held() bool {
	told, some := h.in.rests[h.of.path]
	return some && intent.IsName(h.of.path) && slices.ContainsFunc(told.all, func(t intent.Trouble) bool { return t.Kind == intent.TroubleHeld })
}

// whyUnpublished is why the first DNSEndpoint with the worst state is not published.
func (h hit) whyUnpublished() string {
	for _, e := range h.by {
		if e.publishedAs(h.host) == h.published {
			return h.whyNotBy(e)
		}
	}
	return ""
}

// whyNotBy is why a DNSEndpoint does not publish the name. The lack of an address is told before what its publisher does.
func (h hit) whyNotBy(e *endpoint) string {
	if !slices.Contains(h.from, e) { // another owner's, of which nothing else is told
		return e.whyUnpublished(false)
	}
	moving := h.of.state != intent.Instantiated
	if e.refused == "" && !moving && (e.applied == 0 || e.answerTo(h.host) == nil && h.published == unknown) {
		if why := h.whyNoAddress(e); why != "" {
			return why
		}
	}
	return e.whyUnpublished(moving)
}

// noAddress is why a DNSEndpoint that was put through does not have the name.
const noAddress = "it has no address that may be published, or its servers were not asked yet"

// whyUnpublished tells the cause that is known best. moving tells that the release is not everywhere yet.
func (e *endpoint) whyUnpublished(moving bool) string {
	if intent.IsPublisher(e.at.name) {
		return e.whyNotByPublisher(moving)
	}
	where := intent.ClusterWord(e.at.name)
	switch {
	case e.applied == 0 && e.refused == "" && moving:
		return "its release is on the way to " + where
	case e.applied == 0:
		return cmp.Or(e.refused, "it has no address that may be published, or its DNSEndpoint is not in "+where+" yet")
	case e.at.known && !e.at.reachable:
		return withCause(where+", the home of external-dns, cannot be reached", e.at.why)
	case !e.at.known || e.by == nil || !e.by.known:
		return "external-dns cannot be observed on " + where
	case !e.by.available:
		return cmp.Or(e.by.why, "external-dns is not available")
	case e.published != e.applied:
		return cmp.Or(e.by.why, "external-dns has not synchronized yet since the DNSEndpoint changed")
	}
	return noAddress
}

// whyNotByPublisher is whyUnpublished of a name that the built-in publisher publishes.
func (e *endpoint) whyNotByPublisher(moving bool) string {
	switch {
	case e.applied == 0 && e.refused == "" && moving:
		return "its release is on the way to the built-in publisher"
	case e.applied == 0:
		return cmp.Or(e.refused, "it has no address that may be published, or the built-in publisher does not have the name yet")
	case e.at.known && !e.at.reachable:
		return withCause("the built-in publisher does not answer", e.at.why)
	case !e.at.known || e.by == nil || !e.by.known:
		return "the built-in publisher has not begun yet"
	case !e.by.available:
		return cmp.Or(e.by.why, "the built-in publisher is not available")
	case e.published != e.applied:
		return cmp.Or(e.by.why, "the built-in publisher has not synchronized yet since the name changed")
	}
	return noAddress
}

// whyUnverified is what the first DNSEndpoint with the worst state was answered.
func (h hit) whyUnverified() string {
	for _, e := range h.by {
		if e.verifiedAs(h.host) != h.verified {
			continue
		}
		switch a := e.answerTo(h.host); {
		case a != nil && (e.outlived(a) || a.verified == yes):
			return verify.AskedAgain
		case a != nil:
			return a.why
		}
		return "its authoritative servers were not asked yet"
	}
	return ""
}

func withCause(text, cause string) string { return strings.TrimSuffix(text+": "+cause, ": ") }
