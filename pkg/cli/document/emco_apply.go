package document

import (
	"bytes"
	"errors"
	"fmt"
	"mime/multipart"
	"os"
	"path/filepath"
)

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
