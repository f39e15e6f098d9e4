package documents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/signpost-dns/signpost/pkg/access/bounded"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// The media types of the answers of EMCO's services, as requests ask for them. Services
// that hold a file turn away a request that does not say which part it wants.
const (
	asJSON = "application/json"
	asFile = "application/octet-stream"
)

// How a service is asked.
const (
	attempts   = 2                      // of one request
	attemptFor = 2 * time.Second        // how long each may take
	pause      = 100 * time.Millisecond // between them
	restFor    = 2 * time.Second        // how long a service that did not answer is left alone
	absentFor  = time.Second            // for how long something counts as missing: it may be made at any time
	maxAnswer  = 8 << 20                // bytes
	maxHeld    = 20_000                 // answers
	maxMemory  = 64 << 20               // bytes of what is held, and twice those of an answer
	maxQuote   = 200                    // bytes of a refusal that are shown
)

// The outcomes of a request: an answer (that there is nothing is one), a refusal or an
// answer of no use, or silence.
const (
	answered = "answered"
	refused  = "refused"
	silent   = "silent"
)

// service is one of EMCO's REST services, with what it answered lately.
type service struct {
	name string   // in messages
	base *url.URL // without "/v2"
	Options
	budget *bounded.Budget // of what is held, and of answers

	flights singleflight.Group
	mu      sync.Mutex
	held    map[string]held // by what was asked for
	resting time.Time       // until then it is not asked
	cause   error           // why it rests
}

// held is an answer that is kept.
type held struct {
	raw     []byte
	missing bool // there is no such document
	at      time.Time
}

func newService(name string, base *url.URL, options Options) *service {
	s := &service{name: name, base: base, Options: options, budget: bounded.NewBudget(maxMemory), held: map[string]held{}}
	client := *options.Client
	client.Transport = bounded.Transport{RoundTripper: cmp.Or(client.Transport, http.DefaultTransport), Most: s.budget.Answer(), Budget: s.budget}
	s.Client = &client
	return s
}

// get answers what is at a path below /v2/, as it was at most Fresh ago. While the
// service does not answer, it may be Stale old. Errors: NotFound; Unavailable, which
// names the service.
func (s *service) get(ctx context.Context, path, accept string) ([]byte, error) {
	key := accept + " " + path
	kept, resting := s.look(key)
	if s.fresh(kept) {
		return kept.answer(path)
	}
	if resting != nil {
		return s.stale(kept, resting)
	}
	select {
	case <-ctx.Done():
		return s.stale(kept, s.unavailable("was not waited for", ctx.Err()))
	case result := <-s.flights.DoChan(key, func() (any, error) {
		if now, _ := s.look(key); s.fresh(now) {
			return now, nil // another one has asked since
		}
		return s.ask(context.WithoutCancel(ctx), key, path, accept)
	}):
		if result.Err != nil {
			return s.stale(kept, result.Err)
		}
		kept, _ = result.Val.(held)
		return kept.answer(path)
	}
}

// answer is what a path is answered with.
func (h held) answer(path string) ([]byte, error) {
	if h.missing {
		return nil, intent.ErrNotFound(intent.Path(path))
	}
	return h.raw, nil
}

// fresh tells whether an answer counts as the present.
func (s *service) fresh(kept held) bool {
	longest := s.Fresh
	if kept.missing {
		longest = min(longest, absentFor)
	}
	return !kept.at.IsZero() && s.Now().Sub(kept.at) < longest
}

// look answers what is held of a key, and why the service may not be asked.
func (s *service) look(key string) (held, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Now().Before(s.resting) {
		return s.held[key], s.cause
	}
	return s.held[key], nil
}

// stale answers what was known before the service ceased to answer. That a
// document is missing is for those to believe who know what it is for.
func (s *service) stale(kept held, cause error) ([]byte, error) {
	if kept.at.IsZero() || kept.missing || s.Now().Sub(kept.at) >= s.Stale {
		return nil, cause
	}
	return kept.raw, nil
}

// optional tells whether a document is one that most owners do without.
func optional(path string) bool {
	return strings.HasSuffix(intent.Path(path).Collection(), "/kv-pairs")
}

// lacked tells whether a document was missing when the service was last asked,
// at most Stale ago.
func (s *service) lacked(path intent.Path) bool {
	kept, _ := s.look(asJSON + " " + string(path))
	return kept.missing && s.Now().Sub(kept.at) < s.Stale
}

// absent is the error of a document that the service does not have.
func (s *service) absent(path intent.Path) error {
	return &intent.Error{Code: intent.NotFound, Detail: string(path) + " does not exist in " + s.String() + "; create it there"}
}

// ask asks the service and keeps what it answers.
func (s *service) ask(ctx context.Context, key, path, accept string) (held, error) {
	var answer held
	var err error
	for attempt := range attempts {
		if attempt > 0 {
			time.Sleep(pause)
		}
		var again bool
		answer, again, err = s.try(ctx, path, accept)
		s.Asked(s.name, outcome(err))
		if err == nil || !again {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if outcome(err) == silent {
		s.rest(ctx, err)
	}
	if err != nil {
		return held{}, err
	}
	if s.cause != nil {
		s.Log.InfoContext(ctx, "a service of EMCO answers again", "service", s.name, "url", s.base.Redacted())
		s.cause = nil
	}
	answer.at = s.Now()
	s.hold(key, answer)
	return answer, nil
}

// hold keeps an answer if there is room for it. The service is locked.
func (s *service) hold(key string, answer held) {
	s.drop(key)
	if len(s.held) < maxHeld && s.budget.Keep(answer.size()) == nil {
		s.held[key] = answer
	}
}

// drop forgets an answer. The service is locked.
func (s *service) drop(key string) {
	if kept, known := s.held[key]; known {
		_ = s.budget.Keep(-kept.size())
		delete(s.held, key)
	}
}

// size is about how much memory an answer takes.
func (h held) size() int64 {
	const entry = 256 // with its key
	return int64(len(h.raw)) + entry
}

func outcome(err error) string {
	var nobody *silence
	switch {
	case err == nil:
		return answered
	case errors.As(err, &nobody):
		return silent
	}
	return refused
}

// rest leaves a service alone that does not answer.
func (s *service) rest(ctx context.Context, cause error) {
	if s.cause == nil {
		s.Log.WarnContext(ctx, "a service of EMCO does not answer", "service", s.name, "error", cause)
	}
	s.resting, s.cause = s.Now().Add(restFor), cause
}

// silence is the cause of an error when the service as a whole does not
// answer.
type silence struct{ error }

func (s silence) Unwrap() error { return s.error }

// try asks once, and says whether it is worth asking again.
func (s *service) try(ctx context.Context, path, accept string) (answer held, again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, attemptFor)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base.JoinPath("v2", path).String(), http.NoBody)
	if err != nil {
		return held{}, false, err
	}
	request.Header.Set("Accept", accept)
	response, err := s.Client.Do(request)
	if err != nil {
		return held{}, true, s.unavailable("does not answer; start it and repeat", &silence{withoutURL(err)})
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if excess := (*bounded.Excess)(nil); errors.As(err, &excess) {
		return held{}, false, s.unavailable("answers GET /v2/"+path+" with too much: "+excess.Error(), nil)
	}
	if err != nil {
		return held{}, true, s.unavailable("breaks off its answer", &silence{err})
	}
	if response.StatusCode == http.StatusOK && len(raw) > maxAnswer {
		return held{}, false, s.unavailable(fmt.Sprintf("answers GET /v2/%s with more than %d bytes", path, maxAnswer), nil)
	}
	return s.judge(response, raw, path)
}

// judge tells an answer from a refusal.
func (s *service) judge(response *http.Response, raw []byte, path string) (answer held, again bool, err error) {
	says := fmt.Sprintf("answers GET /v2/%s with %s: %s", path, response.Status, quote(raw))
	switch code := response.StatusCode; code {
	case http.StatusOK:
		return held{raw: raw}, false, nil
	case http.StatusNotFound:
		return held{missing: true}, false, nil
	case http.StatusBadRequest:
		if strings.HasSuffix(path, "/cluster-references") && strings.Contains(string(raw), "No Cluster References") {
			return held{raw: []byte("[]")}, false, nil
		}
		return held{}, false, s.unavailable(says, nil)
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return held{}, true, s.unavailable(says, &silence{errors.New("it is down behind its gateway; start it and repeat")})
	default:
		return held{}, code >= http.StatusInternalServerError || code == http.StatusTooManyRequests, s.unavailable(says, nil)
	}
}

func (s *service) unavailable(what string, cause error) error {
	return &intent.Error{Code: intent.Unavailable, Detail: s.String() + " " + what, Err: cause}
}

// String names the service in messages.
func (s *service) String() string { return "EMCO's " + s.name + " (" + s.base.Redacted() + ")" }

// decode reads an answer. An answer that is not of its form counts as none.
func (s *service) decode(raw []byte, path string, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return s.unavailable("answers GET /v2/"+path+" with what is not its form", err)
	}
	return nil
}

// sweep forgets what may not be answered any more.
func (s *service) sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, kept := range s.held {
		_, path, _ := strings.Cut(key, " ")
		if s.Now().Sub(kept.at) >= s.Stale || kept.missing && !s.fresh(kept) && !optional(path) {
			s.drop(key)
		}
	}
}

// withoutURL is a client's error without the URL, which the message names
// already.
func withoutURL(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}

// quote is the first line of a refusal, cut to a length that can be shown.
func quote(raw []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(raw)), "\n")
	if len(line) > maxQuote {
		line = line[:maxQuote] + "…"
	}
	return strings.ToValidUTF8(line, "?")
}
