package canary

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// chunk is how many bytes of a secret are searched for at a time: a text that
// holds twice as many in a row is found to hold some of it.
const chunk = 16

// secret is one that was given to Signpost.
type secret struct{ name, value string }

// form is a part of a secret, encoded in one way.
type form struct {
	secret, encoding string
	text             []byte
}

// searcher finds secrets in any encoding of theirs.
type searcher struct {
	forms map[uint64][]form // by how they begin
	begin [1 << 16]bool     // whether any form begins with these two bytes
}

// head is how many bytes of a form it is looked up by.
const head = 8

func newSearcher(secrets []secret) *searcher {
	s := &searcher{forms: map[uint64][]form{}}
	for _, one := range secrets {
		for _, part := range parts(one.value) {
			for _, in := range encodings() {
				for _, text := range in.encode([]byte(part)) {
					s.add(form{one.name, in.name, text})
				}
			}
		}
	}
	return s
}

func (s *searcher) add(f form) {
	key := binary.LittleEndian.Uint64(f.text)
	if slices.ContainsFunc(s.forms[key], func(known form) bool { return bytes.Equal(known.text, f.text) }) {
		return
	}
	s.forms[key] = append(s.forms[key], f)
	s.begin[binary.LittleEndian.Uint16(f.text)] = true
}

// parts cuts a secret into chunks, the last of which may be longer.
func parts(value string) []string {
	if len(value) < chunk {
		panic(fmt.Sprintf("a secret of %d bytes could be found by chance; have %d of them", len(value), chunk))
	}
	var found []string
	for len(value) >= 2*chunk {
		found, value = append(found, value[:chunk]), value[chunk:]
	}
	return append(found, value)
}

// encoding is a way to write a text: the texts that it may look like.
type encoding struct {
	name   string
	encode func(text []byte) [][]byte
}

// encodings are those that are searched for. One that leaves a text as it is
// counts as the one before it.
func encodings() []encoding {
	return []encoding{
		{"plain", func(text []byte) [][]byte { return [][]byte{text} }},
		{"hex", inHex},
		{"a URL", func(text []byte) [][]byte {
			return [][]byte{[]byte(url.QueryEscape(string(text))), []byte(url.PathEscape(string(text))), []byte(url.User(string(text)).String())}
		}},
		{"JSON", func(text []byte) [][]byte {
			return [][]byte{inJSON(text, true), inJSON(text, false), []byte(strings.Trim(strconv.Quote(string(text)), `"`))}
		}},
		{"base64", inBase64},
		{"base64, twice", func(text []byte) (twice [][]byte) {
			for _, once := range inBase64(text) {
				twice = append(twice, inBase64(once)...)
			}
			return twice
		}},
	}
}

func inHex(text []byte) [][]byte {
	small := []byte(hex.EncodeToString(text))
	return [][]byte{small, bytes.ToUpper(small)}
}

// inBase64 is a text in both alphabets at each place among others: without the
// characters that depend on what is before and behind it.
func inBase64(text []byte) [][]byte {
	const bits, whole = 6, 8
	var found [][]byte
	for before := range 3 {
		padded := append(make([]byte, before), text...)
		first := (before*whole + bits - 1) / bits
		last := len(padded) * whole / bits
		for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			found = append(found, []byte(alphabet.EncodeToString(padded))[first:last])
		}
	}
	return found
}

// inJSON is a text within the quotes of JSON.
func inJSON(text []byte, escapeHTML bool) []byte {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(escapeHTML)
	if err := to.Encode(string(text)); err != nil {
		panic(err)
	}
	return bytes.Trim(bytes.TrimSpace(out.Bytes()), `"`)
}

// find tells which secrets a text holds, and how they are written there.
func (s *searcher) find(text []byte) []string {
	var found []string
	for at := 0; at+head <= len(text); at++ {
		if !s.begin[binary.LittleEndian.Uint16(text[at:])] {
			continue
		}
		for _, f := range s.forms[binary.LittleEndian.Uint64(text[at:])] {
			if bytes.HasPrefix(text[at:], f.text) {
				found = append(found, f.secret+" in "+f.encoding)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
