package emco

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// placementIntent is the name beside those of controllers in a group's intents.
const placementIntent = "genericPlacementIntent"

// rsyncController is the name that the orchestrator finds rsync by.
const rsyncController = "rsync"

// actionController is the type of the controllers that adapt contexts.
const actionController = "action"

// involved is a controller that a group's intents name.
type involved struct {
	controller

	intent string
}

// involved answers the controllers of a group in the order of its intents. A
// controller that two intents name is there twice, with the later intent.
func (w *World) involved(dig DIG) ([]involved, error) {
	intents, names := map[string]string{}, []string(nil)
	for _, group := range list[groupIntent](w.docs, dig.path()+"/intents") {
		for _, name := range sortedKeys(group.Spec.Intent) {
			if name != placementIntent {
				names = append(names, name)
				intents[name] = group.Spec.Intent[name]
			}
		}
	}
	var found []involved
	for _, name := range names {
		c, exists := read[controller](w.docs, "controllers/"+name)
		if !exists {
			return nil, errors.New("controller not found")
		}
		found = append(found, involved{c, intents[name]})
	}
	return found, nil
}

// byPriority keeps the action controllers, the one with the lowest number
// first.
func byPriority(all []involved) []involved {
	actions := slices.DeleteFunc(slices.Clone(all), func(i involved) bool { return i.Spec.Type != actionController })
	slices.SortStableFunc(actions, func(a, b involved) int { return a.Spec.Priority - b.Spec.Priority })
	return actions
}

// intentOf is the intent that a group has for a controller, or its placement.
func (w *World) intentOf(dig DIG, name string) (string, bool) {
	for _, group := range list[groupIntent](w.docs, dig.path()+"/intents") {
		if intent, exists := group.Spec.Intent[name]; exists {
			return intent, true
		}
	}
	return "", false
}

// callUpdate has each action controller adapt a context. If one says no, the
// context is deleted and nobody else is told.
func (w *World) callUpdate(ctx context.Context, dig DIG, id, updateFrom string) error {
	all, err := w.involved(dig)
	if err != nil {
		return err
	}
	if err := w.removeExtraClusters(ctx, id); err != nil {
		return errors.Join(err, w.DeleteContext(ctx, id))
	}
	done := w.startMeanwhile(ctx, id)
	defer done()
	for _, c := range byPriority(all) {
		err := w.ask(ctx, c, func(ctx context.Context, to Controller) (Answer, error) {
			return to.UpdateAppContext(ctx, id, c.intent, updateFrom)
		})
		if err != nil {
			return errors.Join(fmt.Errorf("error calling gRPC for action controller list: %w", err), w.DeleteContext(ctx, id))
		}
	}
	return nil
}

// callTerminate tells the action controllers that a context ends. The first
// one that says no ends it, unless it has no such call.
func (w *World) callTerminate(ctx context.Context, dig DIG, id string) error {
	all, err := w.involved(dig)
	if err != nil {
		return err
	}
	for _, c := range byPriority(all) {
		err := w.ask(ctx, c, func(ctx context.Context, to Controller) (Answer, error) {
			return to.TerminateAppContext(ctx, id)
		})
		if err != nil && !strings.Contains(err.Error(), "TerminateAppContext not implemented") {
			return fmt.Errorf("error in callTerminateScheduler: %w", err)
		}
	}
	return nil
}

// postEvent tells all controllers of an event, in the order of the intents and
// whatever their type is, until one says no. Whether they all know is nobody's
// concern; the test may ask by EventError.
func (w *World) postEvent(ctx context.Context, dig DIG, id string, event Event) {
	all, err := w.involved(dig)
	for _, c := range all {
		if err = w.ask(ctx, c, func(ctx context.Context, to Controller) (Answer, error) {
			return to.PostEvent(ctx, id, event)
		}); err != nil && !strings.Contains(err.Error(), "PostEvent not implemented") {
			break
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.eventError = err
}

// EventError is what the last event came to. EMCO does not look at it.
func (w *World) EventError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.eventError
}

// ask makes one call within EMCO's deadline, which holds for the connection,
// too. An answer that says no is an error.
func (w *World) ask(ctx context.Context, c involved, call func(context.Context, Controller) (Answer, error)) error {
	ctx, cancel := context.WithTimeout(ctx, w.callTimeout)
	defer cancel()
	client, err := Dial(c.Spec.Host, c.Spec.Port)
	if err != nil {
		return err
	}
	defer client.Close()
	said, err := call(ctx, client)
	if err == nil && !said.OK {
		err = fmt.Errorf("%s: %s", c.Metadata.Name, said.Message)
	}
	return err
}
