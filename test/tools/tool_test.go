package tools

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEveryToolHasAModuleWithItsVersion(t *testing.T) {
	for _, tool := range All() {
		version, err := tool.version(tool.dir())
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.HasPrefix(version, "v") {
			t.Errorf("go.mod of %s requires no version of %s", tool.Name, tool.Module)
		}
	}
}

func TestEveryModuleIsThatOfATool(t *testing.T) {
	modules, err := filepath.Glob("*/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, tool := range All() {
		dirs = append(dirs, tool.dir())
	}
	slices.Sort(dirs)
	if used := len(slices.Compact(dirs)); len(modules) != used {
		t.Errorf("%d modules, of which tools use %d", len(modules), used)
	}
	for _, module := range modules {
		if !slices.Contains(dirs, filepath.Dir(module)) {
			t.Errorf("no tool is built from %s", module)
		}
	}
}

func TestToolDirectiveNamesThePackage(t *testing.T) {
	for _, tool := range All() {
		if tool.Package == "" {
			continue
		}
		goMod, err := os.ReadFile(filepath.Join(tool.dir(), "go.mod"))
		if err != nil {
			t.Error(err)
			continue
		}
		one, several := "\ntool "+tool.Package+"\n", "\n\t"+tool.Package+"\n"
		if !strings.Contains(string(goMod), one) && !strings.Contains(string(goMod), several) {
			t.Errorf("go.mod of %s has no line: tool %s", tool.Name, tool.Package)
		}
	}
}

func TestASmallFormIsOfAProgramWithTheSameVersion(t *testing.T) {
	for _, tool := range All() {
		if tool.Of == "" {
			continue
		}
		whole, err := Find(tool.Of)
		if err != nil || whole.Module != tool.Module || whole.dir() != tool.dir() || whole.Of != "" || len(whole.Trims) > 0 {
			t.Errorf("%s is a small form of %s, error %v", tool.Name, tool.Of, err)
		}
	}
}

func TestToolsComeInTheOrderInWhichTheyAreWanted(t *testing.T) {
	var names []string
	for _, tool := range All() {
		names = append(names, tool.Name)
	}
	if first := names[:2]; !slices.Equal(first, []string{Etcd, CoreDNS}) {
		t.Errorf("the first are %v, not those of make test", first)
	}
	if once := slices.Compact(slices.Sorted(slices.Values(names))); len(once) != len(names) {
		t.Errorf("a name is there twice: %v", names)
	}
}

func TestFindNamesTheToolsThereAre(t *testing.T) {
	_, err := Find("nothing")
	if err == nil || !strings.Contains(err.Error(), KubeAPIServer) {
		t.Errorf("error %v does not name the tools there are", err)
	}
}

func TestVersionFromEitherFormOfRequire(t *testing.T) {
	tool := Tool{Name: "x", Module: "example.com/x"}
	for want, goMod := range map[string]string{
		"v1.2.3": "module m\n\nrequire example.com/x v1.2.3\n",
		"v1.2.4": "module m\n\nrequire (\n\texample.com/x/y v9.9.9\n\texample.com/x v1.2.4 // indirect\n)\n",
		"":       "module m\n\nreplace example.com/x => example.com/z v1.0.0\n",
	} {
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{"go.mod": goMod})
		got, err := tool.version(dir)
		if err != nil || got != want {
			t.Errorf("version %q, error %v, want %q", got, err, want)
		}
	}
}

func TestBuildArgsSetTheVersion(t *testing.T) {
	tool := Tool{Package: "example.com/x", VersionVars: []string{"example.com/x.Version"}}
	args := strings.Join(tool.buildArgs("v1.2.3", "out"), " ")
	if !strings.Contains(args, "-X example.com/x.Version=v1.2.3 ") || !strings.HasSuffix(args, " -o out example.com/x") {
		t.Errorf("arguments are %s", args)
	}
	if args := (Tool{}).buildArgs("", "out"); args[len(args)-1] != "." {
		t.Errorf("without a package the arguments are %q", args)
	}
}

func TestIdentityFollowsWhatIsLeftOut(t *testing.T) {
	seen := map[string]string{}
	for name, tool := range map[string]Tool{
		"all":         {},
		"one kept":    {Trims: []Trim{{File: "a.go", Keep: []string{"A"}}}},
		"two kept":    {Trims: []Trim{{File: "a.go", Keep: []string{"A", "B"}}}},
		"other file":  {Trims: []Trim{{File: "b.go", Keep: []string{"A"}}}},
		"two files":   {Trims: []Trim{{File: "a.go", Keep: []string{"A"}}, {File: "b.go"}}},
		"for release": {Release: true},
	} {
		identity := strings.Join(tool.identity("v1.2.3"), " ")
		if other, ok := seen[identity]; ok {
			t.Errorf("%s is as %s: %s", name, other, identity)
		}
		seen[identity] = name
	}
}
