package apply

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strings"

	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/emco"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// applyAt creates the document, or replaces the one that is there if it is not
// the same. EMCO answers a missing parent as it does what exists already, so
// what is there is read first.
func applyAt(ctx context.Context, s *emco.Service, d document.Document) (string, error) {
	kind, body, err := d.Form()
	if err != nil {
		return "", err
	}
	if d.Action != "" {
		return requestFrom(ctx, s, d, kind, body)
	}
	stored, err := s.Read(ctx, d.Path)
	if emco.HasStatus(err, http.StatusNotFound) {
		return "created", createAt(ctx, s, d, kind, body)
	}
	if err != nil {
		return "", err
	}
	if same, err := holds(ctx, s, d, stored); same || err != nil {
		return "unchanged", err
	}
	return "configured", replaceAt(ctx, s, d, kind, body, stored)
}

// createAt posts a document. When its parent is missing, the error says so.
func createAt(ctx context.Context, s *emco.Service, d document.Document, kind string, body []byte) error {
	_, err := s.Do(ctx, http.MethodPost, intent.Path(d.Path.Collection()), kind, body)
	if isMissing(ctx, s, d.Path.Parent(), err) {
		return fmt.Errorf("%s does not exist: %w", d.Path.Parent(), err)
	}
	return err
}

// isMissing tells whether what was posted was refused because its parent does
// not exist.
func isMissing(ctx context.Context, s *emco.Service, parent intent.Path, err error) bool {
	var refused *emco.Error
	switch {
	case parent == "" || !errors.As(err, &refused) || refused.Pathless():
		return false
	case refused.Status == http.StatusConflict:
		return strings.Contains(refused.Text, "Parent resource not found")
	case refused.Status != http.StatusNotFound:
		return false
	}
	_, err = s.Do(ctx, http.MethodGet, parent, "", nil) // it may be something else that the document refers to
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound && !refused.Pathless()
}

// replaceAt replaces a stored document. If EMCO has no PUT for its kind, the document is
// deleted and created; when it cannot be created, the stored one is restored. A document
// with a file stays.
func replaceAt(ctx context.Context, s *emco.Service, d document.Document, kind string, body, stored []byte) error {
	_, err := s.Do(ctx, http.MethodPut, d.Path, kind, body)
	if refused, ok := errors.AsType[*emco.Error](err); !ok || refused.Status != http.StatusMethodNotAllowed && !refused.Pathless() {
		return err
	}
	if len(d.Uploads) > 0 {
		return fmt.Errorf("the document differs from the one in EMCO, and EMCO's %s cannot replace it: delete it there first", s.Flag)
	}
	if _, err := s.Do(ctx, http.MethodDelete, d.Path, "", nil); err != nil {
		return fmt.Errorf("EMCO's %s cannot update this document, so it was to be deleted and created again: %w", s.Flag, err)
	}
	ctx = context.WithoutCancel(ctx) // from here to the end
	collection := intent.Path(d.Path.Collection())
	if _, err = s.Do(ctx, http.MethodPost, collection, kind, body); err == nil {
		return nil
	}
	if _, lost := s.Do(ctx, http.MethodPost, collection, "application/json", stored); lost != nil {
		return fmt.Errorf("%w\n  The document had to be deleted first, and could not be restored: %s", err, terminal.Visible(string(stored)))
	}
	return err
}

// holds tells whether what is stored is what the document says.
func holds(ctx context.Context, s *emco.Service, d document.Document, stored []byte) (bool, error) {
	var is, wanted map[string]any
	if err := errors.Join(json.Unmarshal(stored, &is), json.Unmarshal(d.Body, &wanted)); err != nil {
		return false, err
	}
	disown(is, wanted)
	if !reflect.DeepEqual(dense(is), dense(wanted)) {
		return false, nil
	}
	switch {
	case len(d.Uploads) == 0:
		return true, nil
	case d.Field != "file": // EMCO answers several files in forms of its own
		return false, nil
	}
	content, err := os.ReadFile(d.Uploads[0])
	if err != nil {
		return false, fmt.Errorf("/file: %w", err)
	}
	kept, err := s.Exchange(ctx, http.MethodGet, d.Path, "application/octet-stream", "", nil)
	return bytes.Equal(kept, content), err
}

// disown takes from what is stored what DCM fills in by itself, where the
// document does not say it.
func disown(is, wanted map[string]any) {
	stored, _ := is["spec"].(map[string]any)
	said, _ := wanted["spec"].(map[string]any)
	for _, name := range []string{"certificate", "level", "loadBalancerIP"} {
		if said[name] == nil {
			delete(stored, name)
		}
	}
}

// dense is the fields without the empty ones: EMCO answers all fields that
// there are. Lists are kept as they are.
func dense(fields map[string]any) map[string]any {
	kept := map[string]any{}
	for name, value := range fields {
		switch v := value.(type) {
		case map[string]any:
			if inner := dense(v); len(inner) > 0 {
				kept[name] = inner
			}
		case []any:
			if len(v) > 0 {
				kept[name] = v
			}
		case nil:
		default:
			if !reflect.ValueOf(v).IsZero() {
				kept[name] = v
			}
		}
	}
	return kept
}
