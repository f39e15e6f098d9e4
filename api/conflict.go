package api

import (
	"errors"
	"fmt"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// detailOf is what the user is told of an error, with both ends of a broken
// reference.
func detailOf(e *intent.Error) string {
	var missing *intent.MissingReference
	var referenced *intent.Referenced
	switch {
	case errors.As(e, &missing):
		return missing.Error()
	case errors.As(e, &referenced):
		return whyKept(referenced)
	}
	return e.Detail
}

// whyKept says why a document cannot be deleted and what to do first.
func whyKept(r *intent.Referenced) string {
	const most = 10
	reasons := make([]string, 0, most)
	for _, by := range r.By {
		if len(reasons) == most {
			reasons = append(reasons, fmt.Sprintf("and %d more", len(r.By)-most))
			break
		}
		reasons = append(reasons, reasonOf(r.Path, by))
	}
	return string(r.Path) + " cannot be deleted: " + strings.Join(reasons, "; ")
}

// reasonOf says what a referrer is to the document.
func reasonOf(path, by intent.Path) string {
	owner, ours := strings.CutPrefix(string(by), intent.LifecycleCollection+"/")
	switch {
	case ours && owner == string(path) && path.Segment("deployment-intent-groups") != "":
		return "it is instantiated; terminate it first"
	case ours && owner == string(path):
		return "its external-dns is in clusters, which its status names; it goes when its last user has been terminated, or updated without it, and the names are removed"
	case ours:
		return "it is in use by the current release of " + owner + "; terminate that, or update it without this, first"
	case by.Parent() == path:
		return "it has " + string(by) + "; delete that first"
	}
	return string(by) + " refers to it"
}
