package backup

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"maps"
	"regexp"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// format is the version of the file's form: gzip over lines of JSON. The first
// is the header, the last the trailer, with a hash of all lines before it.
const format = 1

// longestLine is more than any line has: a value of 1.5 MiB in base64.
const longestLine = 8 << 20

// line is one line of a backup: one of the fields, or a key or record with its
// value.
type line struct {
	Header  *Header  `json:"header,omitempty"`
	Record  string   `json:"record,omitempty"`
	Key     string   `json:"key,omitempty"`
	Value   []byte   `json:"value,omitempty"`
	Trailer *trailer `json:"trailer,omitempty"`
}

// trailer ends a whole backup.
type trailer struct {
	Summary
	SHA256 string `json:"sha256"` // of the lines before it, in hexadecimal digits
}

// writer writes the lines of a backup. Its first error is told by finish.
type writer struct {
	Summary
	zip    *gzip.Writer
	hash   hash.Hash
	sealed map[string]bool
	err    error
}

func newWriter(out io.Writer) *writer {
	return &writer{zip: gzip.NewWriter(out), hash: sha256.New(), sealed: map[string]bool{}}
}

func (w *writer) add(l line) {
	switch {
	case l.Key != "":
		w.Keys++
	case l.Record != "":
		w.Records++
	}
	for _, found := range sealedTexts().FindAllSubmatch(l.Value, -1) {
		w.sealed[string(found[1])] = true
	}
	w.write(l)
}

func (w *writer) write(l line) {
	raw, err := json.Marshal(l)
	if err == nil && w.err == nil {
		raw = append(raw, '\n')
		w.hash.Write(raw)
		_, err = w.zip.Write(raw)
	}
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) finish() (Summary, error) {
	w.Sealed = slices.Sorted(maps.Keys(w.sealed))
	w.write(line{Trailer: &trailer{Summary: w.Summary, SHA256: hex.EncodeToString(w.hash.Sum(nil))}})
	if err := w.zip.Close(); w.err == nil {
		w.err = err
	}
	return w.Summary, w.err
}

// sealedTexts are sealed values, with the id of their key.
func sealedTexts() *regexp.Regexp { return regexp.MustCompile(`"sp1:([0-9a-f]{8}):`) }

func errTorn(why string) error {
	return &intent.Error{Code: intent.Invalid, Detail: "this is not a whole backup of Signpost's: " + why}
}

// read gives each key and record of a backup, and answers its header and trailer. The
// records count only when there is no error: the file's end tells whether it is whole.
func read(in io.Reader, give func(line) error) (Header, trailer, error) {
	zip, err := gzip.NewReader(in)
	if err != nil {
		return Header{}, trailer{}, errTorn("it does not begin as one")
	}
	sum, lines := sha256.New(), bufio.NewScanner(zip)
	lines.Buffer(nil, longestLine)
	head, err := readHeader(lines, sum)
	if err != nil {
		return head, trailer{}, err
	}
	var seen Summary
	for lines.Scan() {
		var l line
		if err := decode(lines.Bytes(), &l); err != nil {
			return head, trailer{}, err
		}
		if l.Trailer != nil {
			return head, *l.Trailer, judge(*l.Trailer, seen, sum, lines)
		}
		note(sum, lines.Bytes())
		if l.Key != "" {
			seen.Keys++
		} else {
			seen.Records++
		}
		if err := give(l); err != nil {
			return head, trailer{}, err
		}
	}
	return head, trailer{}, errTorn("its end is missing")
}

func readHeader(lines *bufio.Scanner, sum hash.Hash) (Header, error) {
	var first line
	if !lines.Scan() || decode(lines.Bytes(), &first) != nil || first.Header == nil {
		return Header{}, errTorn("it does not begin as one")
	}
	note(sum, lines.Bytes())
	head := *first.Header
	if head.Format != format || head.Schema > intent.Schema {
		return head, &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf(
			"the backup is of Signpost %s (schema %d, this one knows %d): restore it with that version, or a newer one", head.Version, head.Schema, intent.Schema)}
	}
	return head, nil
}

func decode(raw []byte, l *line) error {
	strict := json.NewDecoder(bytes.NewReader(raw))
	strict.DisallowUnknownFields()
	if err := strict.Decode(l); err != nil || (l.Key == "" && l.Record == "" && l.Header == nil && l.Trailer == nil) {
		return errTorn("a line cannot be read")
	}
	return nil
}

func note(sum hash.Hash, raw []byte) {
	sum.Write(raw)
	sum.Write([]byte{'\n'})
}

// judge says whether the trailer fits what was read, and is the last line.
func judge(t trailer, seen Summary, sum hash.Hash, lines *bufio.Scanner) error {
	if t.SHA256 != hex.EncodeToString(sum.Sum(nil)) || t.Keys != seen.Keys || t.Records != seen.Records {
		return errTorn("it is damaged")
	}
	if lines.Scan() || lines.Err() != nil {
		return errTorn("something stands behind its end, or its checksum is wrong")
	}
	return nil
}
