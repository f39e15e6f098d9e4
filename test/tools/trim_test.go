package tools

import (
	"strings"
	"testing"
)

// factory is how external-dns finds its providers, in small.
const factory = `package factory

import (
	"context"

	"example.com/config"
	cloud "example.com/provider/aws"
	"example.com/provider/dns"
	"example.com/provider/file"
)

// Constructor is a comment that stays.
type Constructor func(context.Context) error

func find(name string) (Constructor, bool) {
	m := map[string]Constructor{
		config.AWS:  cloud.New,
		config.DNS:  dns.New,
		config.DNS2: dns.New, // the same
		config.File: file.New,
	}
	c, ok := m[name]
	return c, ok
}
`

func TestTrimKeepsWhatIsNamedAndWhatItNeeds(t *testing.T) {
	for _, c := range []struct {
		keep            string
		with, without   string
		reasonOfTheCase string
	}{
		{"DNS", `config.DNS: dns.New|"example.com/provider/dns"|a comment that stays|"context"`, "cloud|config.DNS2|file", "a package that is used by both stays"},
		{"AWS DNS2", `config.AWS: |cloud "example.com/provider/aws"|dns.New`, "config.DNS:|file", "an import with a name of its own"},
		{"AWS DNS DNS2 File", `config.File:|"example.com/provider/file"`, "nothing", "all stay"},
	} {
		got, err := Trim{Keep: strings.Fields(c.keep)}.apply([]byte(factory))
		if err != nil {
			t.Errorf("%s: %v", c.reasonOfTheCase, err)
		}
		for part := range strings.SplitSeq(c.with, "|") {
			if !strings.Contains(strings.Join(strings.Fields(string(got)), " "), part) {
				t.Errorf("%s: there is no %s in\n%s", c.reasonOfTheCase, part, got)
			}
		}
		for part := range strings.SplitSeq(c.without, "|") {
			if strings.Contains(string(got), part) {
				t.Errorf("%s: there is %s in\n%s", c.reasonOfTheCase, part, got)
			}
		}
	}
}

func TestTrimSaysWhatIsNotAsExpected(t *testing.T) {
	for want, source := range map[string]string{
		`the map has no key ["DNS"]`:           strings.ReplaceAll(factory, "config.DNS:", "config.Names:"),
		"there are 0 maps with entries, not 1": "package factory\n",
		"there are 2 maps with entries, not 1": factory + "\nvar other = map[string]int{}\n",
		"a key that is not of the form":        strings.ReplaceAll(factory, "config.AWS:", `"aws":`),
		"an entry without a key":               "package factory\n\nvar m = map[string]int{config.New}\n",
		"expected 'package'":                   "nonsense",
	} {
		_, err := Trim{File: "provider.go", Keep: []string{"DNS"}}.apply([]byte(source))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

func TestTrimNeedsTheFile(t *testing.T) {
	if err := (Trim{File: "absent.go"}).file(t.TempDir()); err == nil || !strings.Contains(err.Error(), "absent.go") {
		t.Errorf("error is %v", err)
	}
}
