package operation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signpost-dns/signpost/api/jsonbody"
	"github.com/signpost-dns/signpost/api/schema"
	"github.com/signpost-dns/signpost/pkg/access/bounded"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// MaxBody is the size of the largest request body, in bytes.
const MaxBody = 1 << 20

// maxDiscarded is how many bytes beyond MaxBody are read and forgotten. Many
// clients look for the answer only after they have sent everything; one whose
// connection is closed before that never sees why.
const maxDiscarded = 128 << 20

func errTooLarge() error {
	return &intent.Error{Code: intent.TooLarge, Detail: "the body is over 1 MiB (1048576 bytes)"}
}

// The media types of bodies.
const (
	mediaJSON = "application/json"
	mediaYAML = "application/yaml"
)

// Received is a body as it was sent.
type Received struct {
	media string
	raw   []byte
}

// JSON is a body that came as a part of another one.
func JSON(raw []byte) Received { return Received{mediaJSON, raw} }

// decoded is about how much memory the body takes as values.
func (s Received) decoded() int64 {
	if s.media != mediaYAML {
		return bounded.Weigh(s.raw)
	}
	const each = 512 // of what one of these characters may begin
	var begin int64
	for _, c := range s.raw {
		if strings.IndexByte("\n,:-?[{", c) >= 0 {
			begin++
		}
	}
	return each * begin
}

// Receive reads the body of a request, to its end. It is empty where the
// operation takes none.
func (op *Operation) Receive(w http.ResponseWriter, r *http.Request) (Received, error) {
	if op.body == nil {
		return Received{}, op.refuseBody(r)
	}
	media, err := op.mediaOf(r.Header)
	if err != nil {
		return Received{}, err
	}
	if r.ContentLength > MaxBody && r.Header.Get("Expect") != "" {
		return Received{}, errTooLarge() // the client waits for leave to send it
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		_, _ = io.CopyN(io.Discard, r.Body, maxDiscarded)
		return Received{}, errTooLarge()
	case err != nil:
		return Received{}, &intent.Error{Code: intent.Invalid, Detail: "the body could not be read to its end", Err: err}
	}
	return Received{media, raw}, nil
}

// ReadBody decodes and validates what was received. It answers the body
// decoded and as JSON, both without what the server itself adds to documents.
func (op *Operation) ReadBody(sent Received) (map[string]any, []byte, error) {
	if op.body == nil {
		return nil, nil, nil
	}
	raw, err := sent.json()
	if err != nil {
		return nil, nil, err
	}
	return parseBody(raw, op.body)
}

// json is what was received as JSON.
func (s Received) json() ([]byte, error) {
	if s.media != mediaYAML {
		return s.raw, nil
	}
	return jsonbody.FromYAML(s.raw)
}

// parseBody is ReadBody for JSON.
func parseBody(raw []byte, of *openapi3.Schema) (map[string]any, []byte, error) {
	value, same, err := jsonbody.Decode(raw)
	if err != nil {
		return nil, nil, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, nil, jsonbody.Invalid([]intent.Field{{Detail: `must be a JSON object as in {"metadata":{…},"spec":{…}}`}})
	}
	if dropServerFields(object) || !same {
		if raw, err = json.Marshal(object); err != nil {
			return nil, nil, err
		}
	}
	if fields := schema.Validate(of, object); len(fields) > 0 {
		return nil, nil, jsonbody.Invalid(fields)
	}
	return object, raw, nil
}

// refuseBody refuses what is posted to an action, which takes no body: a
// {"confirm":…} must not be lost. Libraries send {} or null for nothing.
func (op *Operation) refuseBody(r *http.Request) error {
	if r.Method != http.MethodPost {
		return nil
	}
	if given := strings.Join(r.Header.Values("Content-Type"), ", "); given != "" {
		media, _, err := mime.ParseMediaType(given)
		if err != nil || media != mediaJSON && media != mediaYAML { // a page of another site may send a form, and one that cannot be parsed
			return &intent.Error{Code: intent.Invalid, Detail: "this takes no body, and a content type may only be " + mediaJSON + ": leave the body and the content type out"}
		}
	}
	const enough = 16
	raw, err := io.ReadAll(io.LimitReader(r.Body, enough))
	if err != nil {
		return &intent.Error{Code: intent.Invalid, Detail: "the body could not be read to its end", Err: err}
	}
	if nothing := []string{"", "{}", "null"}; len(raw) < enough && slices.Contains(nothing, strings.TrimSpace(string(raw))) {
		return nil
	}
	detail := "this takes no body"
	for _, p := range op.parameters {
		if p.In == openapi3.ParameterInQuery {
			detail += "; give " + p.Name + " as a query parameter"
		}
	}
	return &intent.Error{Code: intent.Invalid, Detail: detail}
}

// dropServerFields removes what responses add to documents, so that a GET can
// be sent back as a PUT. It tells whether there was anything.
func dropServerFields(object map[string]any) bool {
	before := len(object)
	delete(object, "status")
	dropped := len(object) != before
	if metadata, ok := object["metadata"].(map[string]any); ok {
		before := len(metadata)
		for _, name := range []string{"revision", "createdAt", "updatedAt"} {
			delete(metadata, name)
		}
		dropped = dropped || len(metadata) != before
	}
	return dropped
}

// mediaOf is the media type of a body, one of those that the operation takes,
// in UTF-8.
func (op *Operation) mediaOf(header http.Header) (string, error) {
	refused := &intent.Error{Code: intent.UnsupportedMedia, Detail: "the content type must be " + strings.Join(op.media, " or ") + "; send the header Content-Type: " + op.media[0]}
	if sent := header.Get("Content-Type"); sent != "" {
		refused.Detail += fmt.Sprintf(", in place of %q", jsonbody.Clip(sent))
	}
	if encoding := header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		refused.Detail = "the body must be sent without a content encoding"
		return "", refused
	}
	media, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || !slices.Contains(op.media, media) {
		return "", refused
	}
	if charset, ok := parameters["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		refused.Detail = "the content type's charset must be utf-8"
		return "", refused
	}
	return media, nil
}
