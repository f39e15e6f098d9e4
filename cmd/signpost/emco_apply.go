package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// apply creates the document, or replaces the one that is there if it is not
// the same. EMCO answers a missing parent as it does what exists already, so
// what is there is read first.
func (s *emcoService) apply(ctx context.Context, d document) (string, error) {
	kind, body, err := d.form()
	if err != nil {
		return "", err
	}
	if d.Action != "" {
		return s.request(ctx, d, kind, body)
	}
	stored, err := s.read(ctx, d.Path)
	if hasStatus(err, http.StatusNotFound) {
		return "created", s.create(ctx, d, kind, body)
	}
	if err != nil {
		return "", err
	}
	if same, err := s.holds(ctx, d, stored); same || err != nil {
		return "unchanged", err
	}
	return "configured", s.replace(ctx, d, kind, body, stored)
}

// create posts a document. When its parent is missing, the error says so.
func (s *emcoService) create(ctx context.Context, d document, kind string, body []byte) error {
	_, err := s.do(ctx, http.MethodPost, intent.Path(d.Path.Collection()), kind, body)
	if s.isMissing(ctx, d.Path.Parent(), err) {
		return fmt.Errorf("%s does not exist: %w", d.Path.Parent(), err)
	}
	return err
}

// isMissing tells whether what was posted was refused because its parent does
// not exist.
func (s *emcoService) isMissing(ctx context.Context, parent intent.Path, err error) bool {
	var refused *emcoError
	switch {
	case parent == "" || !errors.As(err, &refused) || refused.pathless():
		return false
	case refused.status == http.StatusConflict:
		return strings.Contains(refused.text, "Parent resource not found")
	case refused.status != http.StatusNotFound:
		return false
	}
	_, err = s.do(ctx, http.MethodGet, parent, "", nil) // it may be something else that the document refers to
	return errors.As(err, &refused) && refused.status == http.StatusNotFound && !refused.pathless()
}

// replace puts a document in place of the one that is stored. What EMCO has no
// PUT for is deleted and created; when it cannot be created, what was there is
// put back. What has a file stays.
func (s *emcoService) replace(ctx context.Context, d document, kind string, body, stored []byte) error {
	_, err := s.do(ctx, http.MethodPut, d.Path, kind, body)
	var refused *emcoError
	if !errors.As(err, &refused) || refused.status != http.StatusMethodNotAllowed && !refused.pathless() {
		return err
	}
	if len(d.Uploads) > 0 {
		return fmt.Errorf("it is not as it is there, and EMCO's %s cannot replace it: delete it there first", s.flag)
	}
	if _, err := s.do(ctx, http.MethodDelete, d.Path, "", nil); err != nil {
		return fmt.Errorf("EMCO's %s cannot replace it, but for deleting and creating it: %w", s.flag, err)
	}
	ctx = context.WithoutCancel(ctx) // from here to the end
	collection := intent.Path(d.Path.Collection())
	if _, err = s.do(ctx, http.MethodPost, collection, kind, body); err == nil {
		return nil
	}
	if _, lost := s.do(ctx, http.MethodPost, collection, "application/json", stored); lost != nil {
		return fmt.Errorf("%w\n  What was there had to be deleted first, and could not be put back: %s", err, visible(string(stored)))
	}
	return err
}

// holds tells whether what is stored is what the document says.
func (s *emcoService) holds(ctx context.Context, d document, stored []byte) (bool, error) {
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
	kept, err := s.exchange(ctx, http.MethodGet, d.Path, "application/octet-stream", "", nil)
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

// form is the document as EMCO takes it: JSON, or with files a form whose field
// metadata is the JSON.
func (d document) form() (kind string, body []byte, err error) {
	if len(d.Uploads) == 0 {
		return "application/json", d.Body, nil
	}
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	for _, upload := range d.Uploads {
		content, err := os.ReadFile(upload)
		if err != nil {
			return "", nil, fmt.Errorf("/file: %w", err)
		}
		part, err := writer.CreateFormFile(d.Field, filepath.Base(upload))
		if err != nil {
			return "", nil, err
		}
		if _, err := part.Write(content); err != nil {
			return "", nil, err
		}
	}
	err = errors.Join(writer.WriteField("metadata", string(d.Body)), writer.Close())
	return writer.FormDataContentType(), form.Bytes(), err
}
