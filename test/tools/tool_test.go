package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryToolHasAModuleWithItsVersion(t *testing.T) {
	for _, tool := range All() {
		version, err := tool.version(tool.Name)
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.HasPrefix(version, "v") {
			t.Errorf("go.mod of %s requires no version of %s", tool.Name, tool.Module)
		}
	}
}

func TestEveryModuleIsATool(t *testing.T) {
	modules, err := filepath.Glob("*/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) != len(All()) {
		t.Errorf("%d modules for %d tools", len(modules), len(All()))
	}
	for _, module := range modules {
		if _, err := Find(filepath.Dir(module)); err != nil {
			t.Error(err)
		}
	}
}

func TestToolDirectiveNamesThePackage(t *testing.T) {
	for _, tool := range All() {
		if tool.Package == "" {
			continue
		}
		goMod, err := os.ReadFile(filepath.Join(tool.Name, "go.mod"))
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(goMod), "\ntool "+tool.Package+"\n") {
			t.Errorf("go.mod of %s has no line: tool %s", tool.Name, tool.Package)
		}
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
