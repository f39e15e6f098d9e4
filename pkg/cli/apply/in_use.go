package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// refuseInUse fails if the server would refuse to delete some of the documents because
// they are deployed. The server would refuse only after the documents below them are
// gone.
func refuseInUse(ctx context.Context, api *client.Client, documents []document.Document) error {
	var reasons strings.Builder
	for _, d := range documents {
		if d.Service != nil || d.Action != "" || ends(documents, d.Path) {
			continue
		}
		reason, err := "", error(nil)
		switch document.Kind(d.Path) {
		case "deployment-intent-groups", "logical-clouds":
			reason, err = deployed(ctx, api, d.Path)
		case "dns-update-records":
			reason, err = usedRecord(ctx, api, d.Path, documents)
		}
		if err != nil {
			return fmt.Errorf("%s (%s): %w", d, d.Path, err)
		}
		if reason != "" {
			fmt.Fprintf(&reasons, "\n  %s (%s) %s", d, d.Path, reason)
		}
	}
	if reasons.Len() == 0 {
		return nil
	}
	return errors.New("nothing was deleted, because some documents are in use:" + reasons.String())
}

// ends tells whether a request among the documents, when it is deleted, takes
// back what is deployed at the path.
func ends(documents []document.Document, path intent.Path) bool {
	return slices.ContainsFunc(documents, func(d document.Document) bool { return d.Action == "instantiate" && d.Owner() == path })
}

// deployed says why what has a lifecycle cannot be deleted yet, empty when it
// can.
func deployed(ctx context.Context, api *client.Client, owner intent.Path) (string, error) {
	var status client.Status
	if err := getIfAny(ctx, api, owner+"/status?view=summary", &status); err != nil {
		return "", err
	}
	switch intent.State(status.State) {
	case "", intent.Created, intent.Terminated:
		return "", nil
	case intent.Terminating:
		return "is Terminating; wait until it is Terminated: signpost terminate " + document.ShortOwner(owner) + " --wait", nil
	}
	return fmt.Sprintf("is %s; terminate it first: signpost terminate %s --wait", status.State, document.ShortOwner(owner)), nil
}

// usedRecord says which groups beside the documents use a record, empty for
// none.
func usedRecord(ctx context.Context, api *client.Client, record intent.Path, documents []document.Document) (string, error) {
	var others []string
	for query := (connect.Query{}); ; {
		var users client.UseList
		if err := getIfAny(ctx, api, intent.Path(query.Of(string(record)+"/users")), &users); err != nil {
			return "", err
		}
		for _, use := range users.Items {
			group := intent.Path(use.DeploymentIntentGroup)
			if !slices.ContainsFunc(documents, func(d document.Document) bool { return d.Owner() == group }) {
				others = append(others, document.ShortOwner(group))
			}
		}
		if users.Continue == "" {
			break
		}
		query["continue"] = users.Continue
	}
	if len(others) == 0 {
		return "", nil
	}
	return "is used by " + strings.Join(others, ", ") + "; first terminate these (signpost unpublish ends a name), or update them without it", nil
}

// getIfAny reads what is at a path, and leaves value alone when there is
// nothing.
func getIfAny(ctx context.Context, api *client.Client, path intent.Path, value any) error {
	_, err := connect.Ask(ctx, api, http.MethodGet, string(path), nil, value)
	if hasStatus(err, http.StatusNotFound) {
		return nil
	}
	return err
}

// hasStatus reports whether the server refused with a status.
func hasStatus(err error, status int) bool {
	var problem *client.Error
	return errors.As(err, &problem) && problem.Status == status
}

// says tells whether a stored document has all that another one says of itself,
// and the same specification: storing that one would change nothing.
func says(stored, document []byte) bool {
	type content struct {
		Metadata map[string]any `json:"metadata"`
		Spec     map[string]any `json:"spec"`
	}
	var is, wanted content
	if json.Unmarshal(stored, &is) != nil || json.Unmarshal(document, &wanted) != nil {
		return false
	}
	for key, value := range wanted.Metadata {
		if !reflect.DeepEqual(is.Metadata[key], value) {
			return false
		}
	}
	return len(is.Spec)+len(wanted.Spec) == 0 || reflect.DeepEqual(is.Spec, wanted.Spec)
}
