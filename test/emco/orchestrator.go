package emco

import (
	"context"
	"errors"
	"fmt"
)

// DIG names a deployment intent group.
type DIG struct {
	Project, CompositeApp, Version, Name string
}

// path is where the group is read, below /v2/.
func (d DIG) path() string {
	return d.app() + "/deployment-intent-groups/" + d.Name
}

func (d DIG) app() string {
	return "projects/" + d.Project + "/composite-apps/" + d.CompositeApp + "/" + d.Version
}

func cloudOf(project, cloud string) string {
	return "projects/" + project + "/logical-clouds/" + cloud
}

// life is what the orchestrator notes of a group.
type life struct {
	contexts      []string // all that there ever were
	revisions     []string // since the last instantiation; the first is revision 1
	statusContext string   // the first context since the last termination
	current       string   // empty before the first one
	instantiated  bool
}

// state is the last of the group's states that the orchestrator notes.
func (l life) state() string {
	switch {
	case l.instantiated:
		return "Instantiated"
	case l.current != "":
		return "Terminated"
	}
	return "Approved"
}

// approve does nothing here but refuse what is deployed.
func (w *World) approve(dig DIG) error {
	if w.life(dig).instantiated {
		return fmt.Errorf("DeploymentIntentGroup has already been instantiated%s", dig.Name)
	}
	return nil
}

// Instantiate writes a context for a group, has the controllers adapt it, has
// rsync install it and posts the event: at once, not when all is installed.
// It answers the context's id.
func (w *World) Instantiate(ctx context.Context, dig DIG) (string, error) {
	now := w.life(dig)
	if now.instantiated {
		return "", fmt.Errorf("DeploymentIntentGroup has already been instantiated%s", dig.Name)
	}
	id, err := w.makeContext(ctx, dig)
	if err != nil {
		return "", err
	}
	if err := w.callUpdate(ctx, dig, id, NoContext); err != nil {
		return id, fmt.Errorf("error in callScheduler: %w", err)
	}
	if err := w.Rsync.Install(ctx, id); err != nil {
		return id, errors.Join(fmt.Errorf("error calling rsync: %w", err), w.DeleteContext(ctx, id))
	}
	w.setLife(dig, life{
		contexts: append(now.contexts, id), revisions: []string{id}, statusContext: id, current: id, instantiated: true,
	})
	w.postEvent(ctx, dig, id, Instantiated)
	return id, nil
}

// Update writes a second context for a group and has rsync apply what differs
// from the first. Nobody is told that the first one ends. It answers the id.
func (w *World) Update(ctx context.Context, dig DIG) (string, error) {
	now := w.life(dig)
	if !now.instantiated {
		return "", fmt.Errorf("DeploymentIntentGroup is not instantiated :%s", dig.Name)
	}
	id, err := w.makeContext(ctx, dig)
	if err != nil {
		return "", err
	}
	if err := w.callUpdate(ctx, dig, id, now.current); err != nil {
		return id, fmt.Errorf("error in callScheduler: %w", err)
	}
	if err := w.db.put(ctx, contextKey(id)+statusContextLevel, now.statusContext); err != nil {
		return id, err
	}
	if err := w.Rsync.Update(ctx, now.current, id); err != nil {
		return id, err // the new context stays where it is
	}
	now.contexts, now.revisions, now.current = append(now.contexts, id), append(now.revisions, id), id
	w.setLife(dig, now)
	w.postEvent(ctx, dig, id, Updated)
	return id, nil
}

// Rollback has rsync go back to the context of an earlier revision. No
// controller adapts anything: they learn of it by the event.
func (w *World) Rollback(ctx context.Context, dig DIG, revision int) error {
	now := w.life(dig)
	if revision < 1 || revision > len(now.revisions) {
		return errors.New("no matching ContextId found")
	}
	id := now.revisions[revision-1]
	if err := w.Rsync.Update(ctx, now.current, id); err != nil {
		return err
	}
	now.revisions, now.current = append(now.revisions, id), id
	w.setLife(dig, now)
	w.postEvent(ctx, dig, id, Updated)
	return nil
}

// Terminate tells the controllers, has rsync take away the children that the
// context's meta names and then the context itself, and posts the event. The
// contexts stay until the group is deleted.
func (w *World) Terminate(ctx context.Context, dig DIG) error {
	now := w.life(dig)
	if !now.instantiated {
		return fmt.Errorf("DeploymentIntentGroup is not instantiated :%s", dig.Name)
	}
	if err := w.callTerminate(ctx, dig, now.current); err != nil {
		return err
	}
	var meta struct{ ChildContextIDs []string }
	if exists, err := w.db.get(ctx, metaKey(now.current), &meta); err != nil || !exists {
		return errors.Join(errors.New("error getting CompositeAppMeta"), err)
	}
	for _, child := range meta.ChildContextIDs {
		w.noteChild(child, w.Rsync.Uninstall(ctx, child)) // and goes on
	}
	if err := w.Rsync.Uninstall(ctx, now.current); err != nil {
		return err
	}
	now.instantiated = false
	w.setLife(dig, now)
	w.postEvent(ctx, dig, now.current, Terminated)
	return nil
}

// DeleteContexts removes the contexts of a terminated group, as the deletion of
// the group does. Children stay.
func (w *World) DeleteContexts(ctx context.Context, dig DIG) error {
	for _, id := range w.life(dig).contexts {
		if err := w.DeleteContext(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// Current is the id of a group's current context, or of the last one.
func (w *World) Current(dig DIG) string { return w.life(dig).current }

func (w *World) revision(dig DIG) int { return len(w.life(dig).revisions) }

func (w *World) life(dig DIG) life {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lives[dig]
}

func (w *World) setLife(dig DIG, l life) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lives[dig] = l
}

// noteChild keeps what became of a child's removal, which EMCO only logs.
func (w *World) noteChild(id string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.children[id] = err
}

// ChildRemoval is what rsync said when it was to take a child context away;
// false if it was not asked to.
func (w *World) ChildRemoval(id string) (asked bool, said error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	said, asked = w.children[id]
	return asked, said
}

// removeExtraClusters leaves one cluster of each placement group.
func (w *World) removeExtraClusters(ctx context.Context, id string) error {
	keys, err := w.db.prefix(ctx, appsKey(id))
	if err != nil {
		return err
	}
	for _, app := range children(keys, appsKey(id)) {
		for _, key := range thin(keys, id, app) {
			if err := w.db.removePrefix(ctx, key); err != nil {
				return err
			}
		}
	}
	return nil
}
