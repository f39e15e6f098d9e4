package externaldns

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// verdict is what reading one item of a parameter gives.
type verdict struct {
	text  string // canonical form; empty: the item is left out
	note  string // what is odd about it: a warning
	stuck string // why external-dns cannot work with it: a warning, and an error of plan
	wrong string // why it is refused, and what would be right
}

func right(text string) verdict { return verdict{text: text} }

func wrong(format string, values ...any) verdict {
	return verdict{wrong: fmt.Sprintf(format, values...)}
}

// read turns one item of a decoded JSON value into the flag's canonical text.
// Nothing and empty text are absent: a verdict without text, note and wrong.
func (f Flag) read(item any) verdict {
	text, wrongType := scalar(item)
	if wrongType != "" {
		return wrong("must be %s, not %s", f.wanted(), wrongType)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return verdict{}
	}
	if strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) {
		return wrong("must be %s, without control characters", f.wanted())
	}
	return f.check(item, text)
}

// check reads text that is there, by the flag's kind.
func (f Flag) check(item any, text string) verdict {
	if read := readers()[f.Kind]; read != nil {
		return read(f, text)
	}
	if _, isText := item.(string); !isText {
		return wrong("must be text; put it in quotes")
	}
	return right(text)
}

// readers read the values of flags, by their kinds. Text has none.
//
//nolint:gochecknoglobals // computed once, read-only
var readers = sync.OnceValue(func() map[Kind]func(f Flag, text string) verdict {
	of := func(read func(text string) verdict) func(Flag, string) verdict {
		return func(_ Flag, text string) verdict { return read(text) }
	}
	return map[Kind]func(Flag, string) verdict{
		Bool:      of(readBool),
		Integer:   Flag.readInteger,
		Duration:  Flag.readDuration,
		Enum:      Flag.readEnum,
		Host:      of(readHost),
		Zone:      of(readZone),
		Domain:    of(readDomain),
		Regexp:    of(readRegexp),
		Template:  of(readTemplate),
		Network:   of(readNetwork),
		Address:   of(readAddress),
		KeyPrefix: of(readKeyPrefix),
		Affix:     of(readAffix),
		Owner:     of(readOwner),
		Algorithm: of(readAlgorithm),
		Pair:      of(readPair),
		URL:       of(readURL),
	}
})

// wanted says in words what the flag's values are.
func (f Flag) wanted() string {
	switch f.Kind {
	case Bool:
		return "true or false"
	case Integer:
		return "a whole number"
	case Duration:
		return `a duration such as "30s"`
	case Enum:
		return "one of " + strings.Join(f.Values, ", ")
	default:
		return "text"
	}
}

// scalar gives the text of a JSON scalar, or the name of what is none.
func scalar(item any) (text, wrongType string) {
	switch value := item.(type) {
	case nil:
		return "", ""
	case string:
		return value, ""
	case bool:
		return strconv.FormatBool(value), ""
	case json.Number:
		return value.String(), ""
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64), ""
	case int:
		return strconv.Itoa(value), ""
	case int64:
		return strconv.FormatInt(value, 10), ""
	case []any, []string:
		return "", "a list"
	default:
		return "", "an object"
	}
}

// items gives the items of a value: those of a list, else the scalar itself.
func items(value any) (all []any, isList bool) {
	switch list := value.(type) {
	case []any:
		return list, true
	case []string:
		all = make([]any, len(list))
		for i, text := range list {
			all[i] = text
		}
		return all, true
	default:
		return []any{value}, false
	}
}

// readBool reads true and false. Another single word means true, as the text
// "axfr" for rfc2136-tsig-axfr; but not one that sounds like no.
func readBool(text string) verdict {
	if value, err := strconv.ParseBool(text); err == nil {
		return right(strconv.FormatBool(value))
	}
	switch strings.ToLower(text) {
	case "no", "off", "n", "none", "never", "disabled", "disable":
		return wrong("%s is neither true nor false; write false", clip(text))
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !isASCIILetter(r) && !isDigit(r) && r != '-' }) ||
		!strings.ContainsFunc(text, isASCIILetter) {
		return wrong("%s is neither true nor false", clip(text))
	}
	return verdict{text: "true", note: "is a boolean; the word " + clip(text) + " is treated as true"}
}

// readInteger reads whole numbers, also those written as 1e3 or 1000.0.
func (f Flag) readInteger(text string) verdict {
	const exact = 1 << 53
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		float, floatErr := strconv.ParseFloat(text, 64)
		if floatErr != nil || float != math.Trunc(float) || math.Abs(float) >= exact {
			return wrong("%s is not a whole number", clip(text))
		}
		number = int64(float)
	}
	highest := cmp.Or(f.Max, math.MaxInt32)
	if number < f.Min || number > highest {
		return wrong("must be from %d to %d, not %d", f.Min, highest, number)
	}
	return right(strconv.FormatInt(number, 10))
}

// readEnum accepts the row's values as they are written, and in another case.
func (f Flag) readEnum(text string) verdict {
	for _, value := range f.Values {
		if strings.EqualFold(value, text) {
			return right(value)
		}
	}
	return wrong("%s is not one of %s", clip(text), strings.Join(f.Values, ", "))
}
