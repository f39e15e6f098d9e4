// Package tools builds and caches the third-party programs that the tests run
// as processes (kube-apiserver, etcd, external-dns, CoreDNS, FerretDB) and the
// ones that make runs (golangci-lint, vacuum, oapi-codegen, buf).
//
// Each program has a Go module of its own in the directory of this package,
// which pins its version and all it depends on. Most of these modules hold no
// Go file: a tool directive names the package to build.
//
// The binaries are cached outside the repository, by a hash of everything that
// goes into them, so each is built once per version and machine. The cache is
// the directory that SIGNPOST_TOOLS_CACHE names, or else signpost/tools in the
// user's cache directory.
package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Names of the programs that [Path] knows.
const (
	KubeAPIServer = "kube-apiserver"
	Etcd          = "etcd"
	Etcdctl       = "etcdctl"
	ExternalDNS   = "external-dns"
	CoreDNS       = "coredns"
	FerretDB      = "ferretdb"
	GolangCILint  = "golangci-lint"
	OAPICodegen   = "oapi-codegen"
	Buf           = "buf"
	Vacuum        = "vacuum"
)

// Tool is one program: where its module lies and how it is built.
type Tool struct {
	// Name of the program and of the directory with its module.
	Name string
	// Module is the upstream module whose version is the program's version.
	Module string
	// Package is the main package to build. Empty for the one in the tool's
	// own directory.
	Package string
	// VersionVars are the string variables, as <package>.<name>, that the
	// linker sets to the version, for programs that cannot tell it otherwise.
	VersionVars []string
	// Hint says how long a first build takes. Empty where that is not worth
	// saying.
	Hint string
}

// All returns the programs, the ones that take longest to build last.
func All() []Tool { return append(small(), big()...) }

// small are the programs that are built in seconds.
func small() []Tool {
	return []Tool{
		{
			Name:    Etcd,
			Module:  "go.etcd.io/etcd/server/v3",
			Package: "go.etcd.io/etcd/server/v3",
		},
		{
			Name:    Etcdctl,
			Module:  "go.etcd.io/etcd/etcdctl/v3",
			Package: "go.etcd.io/etcd/etcdctl/v3",
		},
		{
			Name:   FerretDB,
			Module: "github.com/FerretDB/FerretDB",
		},
		{
			Name:    OAPICodegen,
			Module:  "github.com/oapi-codegen/oapi-codegen/v2",
			Package: "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen",
		},
	}
}

// big are the programs whose first build takes some minutes.
func big() []Tool {
	tools := []Tool{
		{
			Name:    Buf,
			Module:  "github.com/bufbuild/buf",
			Package: "github.com/bufbuild/buf/cmd/buf",
		},
		{
			Name:    Vacuum,
			Module:  "github.com/daveshanley/vacuum",
			Package: "github.com/daveshanley/vacuum",
		},
		{
			Name:    CoreDNS,
			Module:  "github.com/coredns/coredns",
			Package: "github.com/coredns/coredns",
		},
		{
			Name:    GolangCILint,
			Module:  "github.com/golangci/golangci-lint/v2",
			Package: "github.com/golangci/golangci-lint/v2/cmd/golangci-lint",
		},
		{
			Name:        ExternalDNS,
			Module:      "sigs.k8s.io/external-dns",
			Package:     "sigs.k8s.io/external-dns",
			VersionVars: []string{"sigs.k8s.io/external-dns/pkg/apis/externaldns.Version"},
		},
		{
			Name:        KubeAPIServer,
			Module:      "k8s.io/kubernetes",
			Package:     "k8s.io/kubernetes/cmd/kube-apiserver",
			VersionVars: []string{"k8s.io/component-base/version.gitVersion"},
		},
	}
	for n := range tools {
		tools[n].Hint = "the first build takes some minutes"
	}
	return tools
}

// Find returns the program of that name.
func Find(name string) (Tool, error) {
	known := make([]string, 0, len(All()))
	for _, tool := range All() {
		if tool.Name == name {
			return tool, nil
		}
		known = append(known, tool.Name)
	}
	return Tool{}, fmt.Errorf("no tool %q; there are %s", name, strings.Join(known, ", "))
}

// version reads from the go.mod in dir which version of the upstream module
// is required. A module that does not name it has the version "".
func (t Tool) version(dir string) (string, error) {
	goMod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("read version of %s: %w", t.Name, err)
	}
	for line := range strings.Lines(string(goMod)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && fields[0] == t.Module && strings.HasPrefix(fields[1], "v") {
			return fields[1], nil
		}
	}
	return "", nil
}

// buildArgs are the arguments of the go command that writes the program to
// output.
func (t Tool) buildArgs(version, output string) []string {
	flags := []string{"-s", "-w"}
	for _, variable := range t.VersionVars {
		flags = append(flags, "-X", variable+"="+version)
	}
	target := t.Package
	if target == "" {
		target = "."
	}
	return []string{"build", "-buildvcs=false", "-ldflags", strings.Join(flags, " "), "-o", output, target}
}
