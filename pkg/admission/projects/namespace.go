package projects

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// A project's namespace is its own. Which project has which namespace is told
// by two kinds of documents in intent.NamespaceCollection:
//
//   - "{namespace}/{token}" is a reservation, made by one request, to which
//     the project refers as long as the namespace is its own;
//   - "{namespace}" names the reservation that counts. It is never deleted.
//
// A request that wants a namespace first makes a reservation of its own. Then it deletes
// the one that counts, which fails while a project refers to it. Only then it lets its
// own count, comparing the revision. So the loser can no longer store its project: the
// reservation that it refers to is gone.

// Namespaces that no project has.
const (
	ReservedNamespace = "signpost-dns" // where the cluster DNS lives unless told otherwise
	ownNamespace      = "signpost"     // where Signpost and its accounts live, see deploy/
)

// Reservation is the one among a project's references, if any.
func Reservation(refs []intent.Path) intent.Path {
	for _, ref := range refs {
		if ref.Collection() == intent.NamespaceCollection {
			return ref
		}
	}
	return ""
}

// Reserve takes the first candidate that no project has, tells the claim, and
// answers the reservation to which the project must refer.
func Reserve(ctx context.Context, a *review.Checker, c *review.Claim) (intent.Path, error) {
	for _, namespace := range c.Candidates {
		mine, err := reserveOne(ctx, a, namespace)
		if err != nil {
			return "", err
		}
		if mine != "" {
			c.Chosen(namespace)
			return mine, nil
		}
	}
	return "", &intent.Error{
		Code: intent.Conflict, Detail: "the project cannot be stored",
		Fields: []intent.Field{{
			Pointer: "/spec/namespace",
			Detail:  review.Quote(c.Candidates[len(c.Candidates)-1]) + " belongs to another project; choose another namespace",
		}},
	}
}

// reserveOne answers an empty path when the namespace is another project's.
func reserveOne(ctx context.Context, a *review.Checker, namespace string) (intent.Path, error) {
	token := a.Token()
	mine := review.ReservationPath(namespace, token)
	if _, err := a.Store.Put(ctx, intent.Write{Path: mine, Body: []byte(`{}`), Condition: intent.IfAbsent()}); err != nil {
		return "", err
	}
	free, err := takeOver(ctx, a, namespace, token)
	if err == nil && free {
		return mine, nil
	}
	if released := ReleaseReservation(ctx, a, mine); err == nil {
		err = released
	}
	return "", err
}

// takeOver lets the token's reservation count. It answers false when the one
// that counts is a project's.
func takeOver(ctx context.Context, a *review.Checker, namespace, token string) (bool, error) {
	path := intent.Join(intent.NamespaceCollection, namespace)
	body, err := json.Marshal(review.Counting{Token: token})
	if err != nil {
		return false, err
	}
	const tries = 20 // each lost to another request that went on
	for range tries {
		condition := intent.IfAbsent()
		doc, err := a.Store.Get(ctx, path)
		switch {
		case err == nil:
			condition = intent.IfRevision(doc.Revision)
			if free, err := dissolve(ctx, a, namespace, doc); err != nil || !free {
				return false, err
			}
		case intent.CodeOf(err) != intent.NotFound:
			return false, err
		}
		_, err = a.Store.Put(ctx, intent.Write{Path: path, Body: body, Condition: condition})
		if code := intent.CodeOf(err); code != intent.Conflict && code != intent.PreconditionFailed {
			return err == nil, err
		}
	}
	return false, &intent.Error{Code: intent.Unavailable, Detail: "many projects ask for namespace " + namespace + " at once; try again"}
}

// dissolve deletes the reservation that counts, and answers false when a
// project refers to it.
func dissolve(ctx context.Context, a *review.Checker, namespace string, doc intent.Document) (bool, error) {
	var current review.Counting
	if err := json.Unmarshal(doc.Body, &current); err != nil {
		return false, err
	}
	err := a.Store.Delete(ctx, review.ReservationPath(namespace, current.Token), intent.Always())
	switch intent.CodeOf(err) {
	case intent.Conflict:
		return false, nil
	case intent.NotFound:
		return true, nil
	}
	return err == nil, err
}

// ReleaseReservation deletes a reservation. It leaves a reservation alone that a project
// refers to, because a write with an unknown outcome did happen.
func ReleaseReservation(ctx context.Context, a *review.Checker, reserved intent.Path) error {
	if reserved == "" {
		return nil
	}
	err := a.Store.Delete(ctx, reserved, intent.Always())
	if code := intent.CodeOf(err); code == intent.NotFound || code == intent.Conflict {
		return nil
	}
	return err
}

// checkNamespaceName checks a namespace's name, and says whether it is right.
func checkNamespaceName(r *review.Review, at review.Pointer, namespace string) bool {
	switch {
	case !review.IsDNSLabel(namespace):
		r.Refusef(at, "%s is not a namespace; use at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit", review.Quote(namespace))
	case strings.HasPrefix(namespace, "kube-"):
		r.Refusef(at, "%s belongs to Kubernetes; choose a namespace that does not begin with \"kube-\"", review.Quote(namespace))
	case namespace == ownNamespace:
		r.Refusef(at, "%s is the namespace of Signpost with its ServiceAccounts; choose another namespace", review.Quote(namespace))
	default:
		return true
	}
	return false
}

// CheckTenantNamespace checks the namespace of something in a project: neither
// Kubernetes' nor Signpost's nor another project's.
func CheckTenantNamespace(ctx context.Context, a *review.Checker, r *review.Review, at review.Pointer, namespace string) error {
	if namespace == "" || !checkNamespaceName(r, at, namespace) {
		return nil
	}
	holder, err := a.NamespaceHolder(ctx, namespace)
	if err == nil && holder != "" && holder != r.Project() {
		r.Conflictf(at, "%s is the namespace of %s; choose another", review.Quote(namespace), intent.By(ctx).Project(holder))
	}
	return err
}
