// Package tools builds and caches the third-party programs that the tests run
// as processes (kube-apiserver, etcd, external-dns, CoreDNS, FerretDB) and the
// ones that make runs (golangci-lint, vacuum, oapi-codegen, buf, gotestsum,
// goreleaser).
//
// The Go modules below this directory pin the programs' versions and all that
// the programs depend on. Most of these modules hold no Go file: a tool directive
// names the package to build. Programs share a module if none of them gets a
// dependency from the others that matters to it:
//
//   - shared has external-dns, etcd and etcdctl. Their libraries have the
//     versions of the module of the tests, so most packages are compiled once for
//     the tests and the programs.
//   - coredns is apart, because CoreDNS needs a later release of client-go than
//     external-dns. Its libraries have the versions of cmd/signpost-dns.
//   - nameserver is apart, because users build it ("make run"), and quickly.
//   - kube-apiserver is apart, because its libraries are part of its behaviour
//     (structured-merge-diff, kube-openapi, the client of etcd), and those of all
//     others are later. It needs a replace for each staging module as well.
//   - ferretdb is apart, because FerretDB 1 is of 2024, and so are its libraries.
//   - golangci-lint is apart, because it needs an old viper.
//   - oapi-codegen has vacuum and gotestsum, too. It cannot have actionlint, which
//     needs an older YAML library.
//   - goreleaser has cyclonedx-gomod, too. It is apart for the libraries of many clouds,
//     and govulncheck because it needs the latest libraries that read Go code.
//   - buf has actionlint and oasdiff, too. pkg/emco/emcopb names its directory.
//
// Some programs are small forms of others, see [Tool.Of]: with fewer plugins or
// providers they are built in a fraction of the time. They have no code but
// upstream's. [WholeVariable] has the tests run the complete programs.
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
	"slices"
	"strings"
)

// Names of the programs that [Path] knows.
const (
	KubeAPIServer      = "kube-apiserver"
	Etcd               = "etcd"
	Etcdctl            = "etcdctl"
	ExternalDNS        = "external-dns"
	ExternalDNSStories = "external-dns-stories" // with the providers of the end-to-end stories
	CoreDNS            = "coredns"              // with the plugins that need no cluster
	CoreDNSFull        = "coredns-full"         // with all plugins
	Nameserver         = "nameserver"           // of the quickstart: CoreDNS and an etcd in one process
	FerretDB           = "ferretdb"
	GolangCILint       = "golangci-lint"
	OAPICodegen        = "oapi-codegen"
	Buf                = "buf"
	Vacuum             = "vacuum"
	Gotestsum          = "gotestsum"
	Actionlint         = "actionlint"
	Oasdiff            = "oasdiff"
	Goreleaser         = "goreleaser"
	CycloneDXGomod     = "cyclonedx-gomod"
	Govulncheck        = "govulncheck"
)

// Tool is one program: where its module lies and how it is built.
type Tool struct {
	// Name of the program.
	Name string
	// Dir is the directory with the program's module. Empty if it has the name
	// of the program.
	Dir string
	// Module is the upstream module whose version is the program's version.
	Module string
	// Package is the main package to build. Empty for the one in the tool's
	// own directory.
	Package string
	// VersionVars are the string variables, as <package>.<name>, that the
	// linker sets to the version, for programs that cannot tell it otherwise.
	VersionVars []string
	// Trims leave out parts of the upstream module.
	Trims []Trim
	// Release has the program built as make builds Signpost's own, without cgo
	// and without paths. Other programs are built as go test builds tests. A
	// package is compiled once for all that is built in the same way.
	Release bool
	// Of is the complete program, if this is a small form of it.
	Of string
	// Hint says how long a first build takes. Empty where that is not worth
	// saying.
	Hint string
}

// slow is the hint of the programs whose first build takes some minutes.
const slow = "the first build takes some minutes"

// All returns the programs in the order in which they are wanted: those of the
// shortest tests first, and those that make runs last.
func All() []Tool {
	all := []Tool{etcdTool(Etcd, "server"), smallCoreDNS()}
	all = append(all, stories()...)
	all = append(all, complete()...)
	return slices.Concat(all, makes(), releases())
}

// stories are the further programs of the end-to-end stories.
func stories() []Tool {
	return []Tool{
		{
			Name:        KubeAPIServer,
			Module:      "k8s.io/kubernetes",
			Package:     "k8s.io/kubernetes/cmd/kube-apiserver",
			VersionVars: []string{"k8s.io/component-base/version.gitVersion"},
			Hint:        slow,
		},
		externalDNS(ExternalDNSStories, "ProviderCoreDNS", "ProviderRFC2136", "ProviderAWS", "ProviderInMemory"),
		{Name: Nameserver, Module: "github.com/coredns/coredns", Release: true},
		{
			Name:   FerretDB,
			Module: "github.com/FerretDB/FerretDB",
		},
		etcdTool(Etcdctl, "etcdctl"),
	}
}

// complete are the programs that have small forms.
func complete() []Tool {
	return []Tool{
		{
			Name:    CoreDNSFull,
			Dir:     CoreDNS,
			Module:  "github.com/coredns/coredns",
			Package: "github.com/coredns/coredns",
			Release: true, // as signpost-dns, which has the same packages
			Hint:    slow,
		},
		externalDNS(ExternalDNS),
	}
}

// makes are the programs that make runs.
func makes() []Tool {
	return []Tool{
		{
			Name:    GolangCILint,
			Module:  "github.com/golangci/golangci-lint/v2",
			Package: "github.com/golangci/golangci-lint/v2/cmd/golangci-lint",
			Hint:    slow,
		},
		{
			Name:    Vacuum,
			Dir:     OAPICodegen,
			Module:  "github.com/daveshanley/vacuum",
			Package: "github.com/daveshanley/vacuum",
			Hint:    slow,
		},
		{
			Name:    Gotestsum,
			Dir:     OAPICodegen,
			Module:  "gotest.tools/gotestsum",
			Package: "gotest.tools/gotestsum",
		},
		{
			Name:    OAPICodegen,
			Module:  "github.com/oapi-codegen/oapi-codegen/v2",
			Package: "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen",
		},
		{
			Name:    Actionlint,
			Dir:     Buf,
			Module:  "github.com/rhysd/actionlint",
			Package: "github.com/rhysd/actionlint/cmd/actionlint",
		},
		{
			Name:    Oasdiff,
			Dir:     Buf,
			Module:  "github.com/oasdiff/oasdiff",
			Package: "github.com/oasdiff/oasdiff",
		},
		{
			Name:    Buf,
			Module:  "github.com/bufbuild/buf",
			Package: "github.com/bufbuild/buf/cmd/buf",
			Hint:    slow,
		},
	}
}

// releases are the programs that build and check releases.
func releases() []Tool {
	return []Tool{
		{
			Name:    Goreleaser,
			Module:  "github.com/goreleaser/goreleaser/v2",
			Package: "github.com/goreleaser/goreleaser/v2",
			Hint:    slow,
		},
		{
			Name:    CycloneDXGomod,
			Dir:     Goreleaser,
			Module:  "github.com/CycloneDX/cyclonedx-gomod",
			Package: "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod",
		},
		{
			Name:    Govulncheck,
			Module:  "golang.org/x/vuln",
			Package: "golang.org/x/vuln/cmd/govulncheck",
		},
	}
}

// shared is the directory of the module that several programs share.
const shared = "shared"

// etcdTool is a program of etcd.
func etcdTool(name, program string) Tool {
	path := "go.etcd.io/etcd/" + program + "/v3"
	return Tool{Name: name, Dir: shared, Module: path, Package: path}
}

// smallCoreDNS is CoreDNS with the plugins that its directory imports.
func smallCoreDNS() Tool {
	return Tool{Name: CoreDNS, Module: "github.com/coredns/coredns", Of: CoreDNSFull}
}

// externalDNS is external-dns with some providers, or with all if none is named.
// Without all providers it has no registries that need the libraries of AWS.
func externalDNS(name string, providers ...string) Tool {
	tool := Tool{
		Name:        name,
		Dir:         shared,
		Module:      "sigs.k8s.io/external-dns",
		Package:     "sigs.k8s.io/external-dns",
		VersionVars: []string{"sigs.k8s.io/external-dns/pkg/apis/externaldns.Version"},
		Hint:        slow,
	}
	if len(providers) == 0 {
		return tool
	}
	tool.Of = ExternalDNS
	tool.Trims = []Trim{
		{File: "provider/factory/provider.go", Keep: providers},
		{File: "registry/factory/registry.go", Keep: []string{"RegistryNoop", "RegistryTXT", "RegistryCRD"}},
	}
	return tool
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

// dir is the directory with the program's module, in the one of all tools.
func (t Tool) dir() string {
	if t.Dir != "" {
		return t.Dir
	}
	return t.Name
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
	args := []string{"build", "-buildvcs=false"}
	if t.Release {
		args = append(args, "-trimpath")
	}
	return append(args, "-ldflags", strings.Join(flags, " "), "-o", output, target)
}

// identity is what decides how the program is built: the arguments, and what is
// left out.
func (t Tool) identity(version string) []string {
	words := t.buildArgs(version, "")
	for _, trim := range t.Trims {
		words = append(append(words, "trim", trim.File), trim.Keep...)
	}
	return words
}

// buildEnv is the environment of the compiler: the workspace of a developer must
// not change what the tools are. The compiler collects garbage less often than
// by default, because that saves a fifth of its processor time. A GOGC in the
// environment has precedence.
func (t Tool) buildEnv() []string {
	env := append([]string{"GOGC=400"}, os.Environ()...)
	env = append(env, "GOWORK=off")
	if t.Release {
		env = append(env, "CGO_ENABLED=0")
	}
	return env
}
