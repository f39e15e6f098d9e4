package contextupdate

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco/emcopb"
)

// service reads requests and writes answers. An answer always says yes: what
// failed is a status.
type service struct{ contexts Contexts }

func (s service) UpdateAppContext(ctx context.Context, r *emcopb.ContextUpdateRequest) (*emcopb.ContextUpdateResponse, error) {
	if err := checkID("app_context", r.GetAppContext()); err != nil {
		return nil, err
	}
	if !isName(r.GetIntentName()) {
		return nil, invalid("intent_name", r.GetIntentName(), "the name of a traffic group: the deployment intent group maps controllers to intents")
	}
	from := r.GetUpdateFromAppContext()
	if from == "<nil>" { // what EMCO writes for none
		from = ""
	}
	if from != "" {
		if err := checkID("update_from_appContext", from); err != nil {
			return nil, err
		}
	}
	warnings, err := s.contexts.UpdateContext(ctx, r.GetAppContext(), r.GetIntentName(), from)
	if err != nil {
		return nil, err
	}
	done := fmt.Sprintf("app context %s holds what traffic group %s asks for", r.GetAppContext(), r.GetIntentName())
	if len(warnings) > 0 {
		done += "; warnings: " + strings.Join(warnings, "; ")
	}
	return &emcopb.ContextUpdateResponse{AppContextUpdated: true, AppContextUpdateMessage: plain(done)}, nil
}

func (s service) TerminateAppContext(ctx context.Context, r *emcopb.TerminateRequest) (*emcopb.TerminateResponse, error) {
	if err := checkID("app_context", r.GetAppContext()); err != nil {
		return nil, err
	}
	if err := s.contexts.TerminateContext(ctx, r.GetAppContext()); err != nil {
		return nil, err
	}
	done := fmt.Sprintf("app context %s may be uninstalled", r.GetAppContext())
	return &emcopb.TerminateResponse{AppContextTerminated: true, AppContextTerminatedMessage: done}, nil
}

func (s service) PostEvent(ctx context.Context, r *emcopb.PostEventRequest) (*emcopb.PostEventResponse, error) {
	if err := checkID("app_context", r.GetAppContext()); err != nil {
		return nil, err
	}
	event, ok := events()[r.GetEventType()]
	if !ok {
		return nil, invalid("event_type", strconv.Itoa(int(r.GetEventType())), "INSTANTIATE (0), TERMINATE (1) or UPDATE (2)")
	}
	if err := s.contexts.PostEvent(ctx, r.GetAppContext(), event); err != nil {
		return nil, err
	}
	done := fmt.Sprintf("%s of app context %s is taken note of", r.GetEventType(), r.GetAppContext())
	return &emcopb.PostEventResponse{Success: true, PostEventMessage: done}, nil
}

func events() map[emcopb.EventType]intent.Action {
	return map[emcopb.EventType]intent.Action{
		emcopb.EventType_INSTANTIATE: intent.Instantiate,
		emcopb.EventType_TERMINATE:   intent.Terminate,
		emcopb.EventType_UPDATE:      intent.Update,
	}
}

// checkID refuses what no app context is called.
func checkID(field, id string) error {
	if !intent.IsContextID(id) {
		return invalid(field, id, "the id of an app context, a decimal number of at most 63 bits")
	}
	return nil
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)

// isName tells whether a document may be called so.
func isName(text string) bool {
	const longest = 63
	return len(text) <= longest && namePattern.MatchString(text)
}

// invalid says what is wrong with a field and what would be right.
func invalid(field, value, right string) error {
	return &intent.Error{Code: intent.Invalid, Detail: fmt.Sprintf("%s is %q; give %s", field, clip(value), right)}
}

// clip shortens what a caller sent before it is said or logged.
func clip(text string) string {
	const longest = 64
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return text
}
