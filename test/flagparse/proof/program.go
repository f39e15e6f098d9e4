package proof

import (
	"strings"
	"testing"

	"github.com/alecthomas/kingpin/v2"
	upstream "sigs.k8s.io/external-dns/pkg/apis/externaldns"
	"sigs.k8s.io/external-dns/pkg/apis/externaldns/validation"
)

// parse gives what external-dns makes of a command line.
func parse(arguments []string) (*upstream.Config, error) {
	config := upstream.NewConfig()
	if err := config.ParseFlags(arguments); err != nil {
		return nil, err
	}
	return config, validation.ValidateConfig(config)
}

// program is the flags of external-dns, after a command line was parsed.
func program(t *testing.T, arguments ...string) *kingpin.Application {
	t.Helper()
	app := upstream.App(upstream.NewConfig())
	if len(arguments) == 0 {
		arguments = []string{"--source=crd", "--provider=coredns"}
	}
	if _, err := app.Parse(arguments); err != nil { // names the variables, too
		t.Fatal(err)
	}
	return app
}

// providers are those that external-dns says to have; not every version exports
// their list.
func providers(t *testing.T) []string {
	t.Helper()
	_, list, found := strings.Cut(program(t).GetFlag("provider").Model().Help, "options: ")
	if !found {
		t.Fatal("the help of --provider names no options")
	}
	return strings.Split(strings.TrimSuffix(list, ")"), ", ")
}
