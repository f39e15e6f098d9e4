package searchexpand_test

import (
	"testing"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/searchtest"
)

func TestMain(m *testing.M) { searchtest.Main(m) }
