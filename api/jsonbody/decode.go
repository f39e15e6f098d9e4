// Package jsonbody reads the JSON of a body strictly, and says where in it something
// is wrong.
package jsonbody

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// maxDepth is how deep arrays and objects may be nested in a body.
const maxDepth = 100

// Invalid is the error of a body in which these fields are wrong.
func Invalid(fields []intent.Field) error {
	detail := "the body has an error"
	if len(fields) > 1 {
		detail = "the body has errors"
	}
	return &intent.Error{Code: intent.Invalid, Detail: detail, Fields: fields}
}

// decoder decodes one JSON value strictly: no key twice, bounded nesting.
type decoder struct {
	*json.Decoder
	raw  []byte
	path []string // to the value being decoded
	same bool     // whether the value, encoded, would read as the raw body does
}

// Decode decodes a body. Numbers stay as they are written, but whole ones lose
// a fraction of zero and an exponent: 30.0 and 3e1 become 30. It also tells
// whether it left everything as it was.
func Decode(raw []byte) (value any, same bool, err error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, false, Invalid([]intent.Field{{Detail: "is empty; send a JSON object"}})
	}
	if !utf8.Valid(raw) {
		return nil, false, Invalid([]intent.Field{{Detail: "is not UTF-8"}})
	}
	d := &decoder{Decoder: json.NewDecoder(bytes.NewReader(raw)), raw: raw, same: true}
	d.UseNumber()
	if value, err = d.value(); err != nil {
		return nil, false, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, false, Invalid([]intent.Field{{Detail: "goes on after its JSON value" + d.place()}})
	}
	return value, d.same, nil
}

// value decodes the next value.
func (d *decoder) value() (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, d.syntax(err)
	}
	if number, ok := token.(json.Number); ok {
		return d.number(number), nil
	}
	delim, ok := token.(json.Delim)
	switch {
	case !ok:
		return token, nil
	case len(d.path) == maxDepth:
		return nil, d.refuse("is nested too deep; at most " + strconv.Itoa(maxDepth) + " levels are read")
	case delim == '{':
		return d.object()
	}
	return d.array()
}

// number writes a whole number without fraction and exponent, as far as a
// float64 holds it exactly.
func (d *decoder) number(number json.Number) json.Number {
	const exact = 1 << 53
	if !strings.ContainsAny(string(number), ".eE") {
		return number
	}
	value, err := number.Float64()
	if err != nil || value != math.Trunc(value) || math.Abs(value) > exact {
		return number
	}
	d.same = false
	return json.Number(strconv.FormatInt(int64(value), 10))
}

// member decodes the value at a key or index of the current value.
func (d *decoder) member(segment string) (any, error) {
	d.path = append(d.path, segment)
	value, err := d.value()
	d.path = d.path[:len(d.path)-1]
	return value, err
}

func (d *decoder) object() (any, error) {
	object := map[string]any{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, d.syntax(err)
		}
		key, _ := token.(string)
		if _, twice := object[key]; twice {
			d.path = append(d.path, key)
			return nil, d.refuse("is given more than once")
		}
		if object[key], err = d.member(key); err != nil {
			return nil, err
		}
	}
	return object, d.end()
}

func (d *decoder) array() (any, error) {
	array := []any{}
	for d.More() {
		item, err := d.member(strconv.Itoa(len(array)))
		if err != nil {
			return nil, err
		}
		array = append(array, item)
	}
	return array, d.end()
}

// end reads the closing bracket.
func (d *decoder) end() error {
	if _, err := d.Token(); err != nil {
		return d.syntax(err)
	}
	return nil
}

// refuse tells what is wrong with the value being decoded.
func (d *decoder) refuse(detail string) error {
	return Invalid([]intent.Field{{Pointer: Pointer(d.path), Detail: detail}})
}

// syntax says where the JSON is broken, without quoting it: it may be secret.
func (d *decoder) syntax(err error) error {
	detail := "is not valid JSON"
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		detail = "is JSON that ends too early"
	}
	return Invalid([]intent.Field{{Detail: detail + d.place()}})
}

// place is where the decoder stands, for people.
func (d *decoder) place() string {
	read := d.raw[:min(int(d.InputOffset()), len(d.raw))]
	line := bytes.Count(read, []byte("\n")) + 1
	column := utf8.RuneCount(read[bytes.LastIndexByte(read, '\n')+1:]) + 1
	return ", at line " + strconv.Itoa(line) + ", column " + strconv.Itoa(column)
}

// Pointer writes a path as a JSON pointer (RFC 6901); what nobody would
// read is left out.
func Pointer(path []string) string {
	var b strings.Builder
	for _, segment := range path {
		b.WriteByte('/')
		_, _ = strings.NewReplacer("~", "~0", "/", "~1").WriteString(&b, Clip(segment))
	}
	return b.String()
}

// Clip shortens a user's text to what a message can hold.
func Clip(text string) string {
	const longest = 253 // a host name
	if len(text) <= longest {
		return text
	}
	end := longest
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
