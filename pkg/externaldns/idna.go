package externaldns

import (
	"strings"
	"unicode/utf8"
)

// External-dns compares names in their Unicode form, so "xn--mnchen-3ya.example"
// is matched by the domain "münchen.example" and the other way round.

// unicodeNames gives the Unicode form of each name.
func unicodeNames(names []string) []string {
	for i, name := range names {
		if name != "." {
			names[i] = toUnicode(name)
		}
	}
	return names
}

// toUnicode lowers a name, cuts its final dot and decodes its "xn--" labels;
// one that cannot be decoded stays as it is.
func toUnicode(name string) string {
	const prefix = "xn--"
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if !strings.Contains(name, prefix) {
		return name
	}
	labels := strings.Split(name, ".")
	for i, label := range labels {
		if encoded, ok := strings.CutPrefix(label, prefix); ok {
			if decoded, ok := decodePunycode(encoded); ok {
				labels[i] = decoded
			}
		}
	}
	return strings.Join(labels, ".")
}

// The parameters of punycode (RFC 3492, section 5).
const (
	punyBase, punyMin, punyMax  = 36, 1, 26
	punySkew, punyDamp          = 38, 700
	punyFirstBias, punyFirstRun = 72, 128
	punyLongest                 = 63 // bytes of a label
)

// decodePunycode decodes a label without its prefix (RFC 3492, section 6.2).
func decodePunycode(encoded string) (string, bool) {
	if len(encoded) > punyLongest {
		return "", false
	}
	var output []rune
	rest := encoded
	if dash := strings.LastIndexByte(encoded, '-'); dash >= 0 {
		output, rest = []rune(encoded[:dash]), encoded[dash+1:]
	}
	code, index, bias := punyFirstRun, 0, punyFirstBias
	for rest != "" {
		before := index
		delta, left, ok := decodeDelta(rest, bias)
		if !ok {
			return "", false
		}
		index, rest = index+delta, left
		size := len(output) + 1
		bias = adaptBias(index-before, size, before == 0)
		code += index / size
		index %= size
		if code > utf8.MaxRune || !utf8.ValidRune(rune(code)) {
			return "", false
		}
		output = append(output[:index], append([]rune{rune(code)}, output[index:]...)...)
		index++
	}
	return string(output), true
}

// decodeDelta reads one number of variable length.
func decodeDelta(text string, bias int) (delta int, rest string, ok bool) {
	const most = 1 << 30
	weight := 1
	for i, step := 0, punyBase; i < len(text); i, step = i+1, step+punyBase {
		digit, isDigit := punyDigit(text[i])
		if !isDigit || weight > most/punyBase {
			return 0, "", false
		}
		delta += digit * weight
		threshold := min(max(step-bias, punyMin), punyMax)
		if digit < threshold {
			return delta, text[i+1:], delta < most
		}
		weight *= punyBase - threshold
	}
	return 0, "", false
}

func punyDigit(c byte) (int, bool) {
	switch {
	case c >= 'a' && c <= 'z':
		return int(c - 'a'), true
	case c >= '0' && c <= '9':
		return int(c-'0') + int('z'-'a') + 1, true
	default:
		return 0, false
	}
}

// adaptBias follows the size of the numbers read so far.
func adaptBias(delta, size int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / size
	steps := 0
	for delta > (punyBase-punyMin)*punyMax/2 {
		delta /= punyBase - punyMin
		steps += punyBase
	}
	return steps + (punyBase-punyMin+1)*delta/(delta+punySkew)
}
