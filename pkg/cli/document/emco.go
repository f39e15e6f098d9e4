package document

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"mime/multipart"
	"os"
	"path/filepath"

	"github.com/signpost-dns/signpost/pkg/cli/emco"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// sendTo is the document with the service that keeps it. A document in Signpost's form
// goes to Signpost. EMCO's known services get their documents in emcoctl's form. It fails
// if only EMCO has the document and its service is not known.
func sendTo(e *emco.Services, d Document) (Document, error) {
	if !d.Emcoctl {
		return d, nil
	}
	service, collection := e.Keeper(d.Path), Kind(d.Owner())
	kind, ours := kindOf(intent.Path(collection))
	if !kind.Signposts && service.URL != "" {
		d.Service = service
		return d, nil
	}
	what := cmp.Or(d.Action, collection)
	switch {
	case !ours, d.Action == "migrate", d.Action == "stop":
		return d, fmt.Errorf("%s (%s): only EMCO has %s; give EMCO's URL with --%s%s", d, d.Path, what, service.Flag, emco.Instead(what))
	case len(d.Uploads) > 0:
		return d.withKubeconfig()
	}
	return d, nil
}

// Form is the document as EMCO takes it: JSON, or with files a form whose field
// metadata is the JSON.
func (d Document) Form() (kind string, body []byte, err error) {
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
