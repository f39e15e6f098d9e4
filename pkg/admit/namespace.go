package admit

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// A project's namespace is its own. Which project has which namespace is told
// by two kinds of documents in intent.NamespaceCollection:
//
//   - "{namespace}/{token}" is a reservation, made by one request, to which
//     the project refers as long as the namespace is its own;
//   - "{namespace}" names the reservation that counts. It is never deleted.
//
// A request that wants a namespace first makes a reservation of its own, then
// deletes the one that counts, which fails while a project refers to it, and
// only then lets its own count, comparing the revision. So whoever lost can no
// longer store its project: the reservation that it refers to is gone.

const (
	reservedNamespace = "signpost-dns" // where the cluster DNS lives unless told otherwise
	ownNamespace      = "signpost"     // where Signpost and its accounts live, see deploy/
)

// claim is what a project wants.
type claim struct {
	candidates []string // namespaces, the best first
	chosen     func(namespace string)
	previous   intent.Path // the reservation that is not needed any more, if any
}

// counting is the body of the document that names the reservation that counts.
type counting struct {
	Token string `json:"token"`
}

func reservationPath(namespace, token string) intent.Path {
	return intent.Join(intent.NamespaceCollection, namespace, token)
}

// reservation is the one among a project's references, if any.
func reservation(refs []intent.Path) intent.Path {
	for _, ref := range refs {
		if ref.Collection() == intent.NamespaceCollection {
			return ref
		}
	}
	return ""
}

// NamespaceHolder is the name of the project whose namespace it is, empty when
// it is none's.
func (a *Admitter) NamespaceHolder(ctx context.Context, namespace string) (project string, err error) {
	if a.rules.NamespaceHolder != nil {
		return a.rules.NamespaceHolder(ctx, namespace)
	}
	doc, err := a.store.Get(ctx, intent.Join(intent.NamespaceCollection, namespace))
	if intent.CodeOf(err) == intent.NotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var current counting
	if err := json.Unmarshal(doc.Body, &current); err != nil {
		return "", err
	}
	by, err := a.store.Referrers(ctx, reservationPath(namespace, current.Token))
	if err != nil && intent.CodeOf(err) != intent.NotFound {
		return "", err
	}
	for _, path := range by {
		return path.Name(), nil
	}
	return "", nil
}

// reserve takes the first candidate that no project has, tells the claim, and
// answers the reservation to which the project must refer.
func (a *Admitter) reserve(ctx context.Context, c *claim) (intent.Path, error) {
	for _, namespace := range c.candidates {
		mine, err := a.reserveOne(ctx, namespace)
		if err != nil {
			return "", err
		}
		if mine != "" {
			c.chosen(namespace)
			return mine, nil
		}
	}
	return "", &intent.Error{
		Code: intent.Conflict, Detail: "the project cannot be stored",
		Fields: []intent.Field{{
			Pointer: "/spec/namespace",
			Detail:  quote(c.candidates[len(c.candidates)-1]) + " is another project's; choose another",
		}},
	}
}

// reserveOne answers an empty path when the namespace is another project's.
func (a *Admitter) reserveOne(ctx context.Context, namespace string) (intent.Path, error) {
	token := a.token()
	mine := reservationPath(namespace, token)
	if _, err := a.store.Put(ctx, intent.Write{Path: mine, Body: []byte(`{}`), Condition: intent.IfAbsent()}); err != nil {
		return "", err
	}
	free, err := a.takeOver(ctx, namespace, token)
	if err == nil && free {
		return mine, nil
	}
	if released := a.release(ctx, mine); err == nil {
		err = released
	}
	return "", err
}

// takeOver lets the token's reservation count. It answers false when the one
// that counts is a project's.
func (a *Admitter) takeOver(ctx context.Context, namespace, token string) (bool, error) {
	path := intent.Join(intent.NamespaceCollection, namespace)
	body, err := json.Marshal(counting{Token: token})
	if err != nil {
		return false, err
	}
	const tries = 20 // each lost to another request that went on
	for range tries {
		condition := intent.IfAbsent()
		doc, err := a.store.Get(ctx, path)
		switch {
		case err == nil:
			condition = intent.IfRevision(doc.Revision)
			if free, err := a.dissolve(ctx, namespace, doc); err != nil || !free {
				return false, err
			}
		case intent.CodeOf(err) != intent.NotFound:
			return false, err
		}
		_, err = a.store.Put(ctx, intent.Write{Path: path, Body: body, Condition: condition})
		if code := intent.CodeOf(err); code != intent.Conflict && code != intent.PreconditionFailed {
			return err == nil, err
		}
	}
	return false, &intent.Error{Code: intent.Unavailable, Detail: "many projects ask for namespace " + namespace + " at once; try again"}
}

// dissolve deletes the reservation that counts, and answers false when a
// project refers to it.
func (a *Admitter) dissolve(ctx context.Context, namespace string, doc intent.Document) (bool, error) {
	var current counting
	if err := json.Unmarshal(doc.Body, &current); err != nil {
		return false, err
	}
	err := a.store.Delete(ctx, reservationPath(namespace, current.Token), intent.Always())
	switch intent.CodeOf(err) {
	case intent.Conflict:
		return false, nil
	case intent.NotFound:
		return true, nil
	}
	return err == nil, err
}

// release deletes a reservation. One that is gone, or that a project refers to
// (because a write whose outcome was unknown did happen), is left alone.
func (a *Admitter) release(ctx context.Context, reserved intent.Path) error {
	if reserved == "" {
		return nil
	}
	err := a.store.Delete(ctx, reserved, intent.Always())
	if code := intent.CodeOf(err); code == intent.NotFound || code == intent.Conflict {
		return nil
	}
	return err
}

// namespaceName checks a namespace's name, and says whether it is right.
func (r *review) namespaceName(at pointer, namespace string) bool {
	switch {
	case !isDNSLabel(namespace):
		r.refusef(at, "%s is no namespace; use at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit", quote(namespace))
	case strings.HasPrefix(namespace, "kube-"):
		r.refusef(at, "%s belongs to Kubernetes; choose a namespace that does not begin with \"kube-\"", quote(namespace))
	case namespace == ownNamespace:
		r.refusef(at, "%s is where Signpost runs, with its accounts; choose another namespace", quote(namespace))
	default:
		return true
	}
	return false
}

// tenantNamespace checks the namespace of something in a project: neither
// Kubernetes' nor Signpost's nor another project's.
func (a *Admitter) tenantNamespace(ctx context.Context, r *review, at pointer, namespace string) error {
	if namespace == "" || !r.namespaceName(at, namespace) {
		return nil
	}
	holder, err := a.NamespaceHolder(ctx, namespace)
	if err == nil && holder != "" && holder != r.project() {
		r.conflictf(at, "%s is the namespace of %s; choose another", quote(namespace), intent.By(ctx).Project(holder))
	}
	return err
}
