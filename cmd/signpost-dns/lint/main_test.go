package lint_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	_ "github.com/coredns/coredns/core/plugin" // what there is to set up

	"github.com/signpost-dns/signpost/cmd/signpost-dns/searchexpand"
	"github.com/signpost-dns/signpost/cmd/signpost-dns/searchpath"
)

func TestMain(m *testing.M) {
	if err := errors.Join(searchexpand.Register(), searchpath.Register()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
