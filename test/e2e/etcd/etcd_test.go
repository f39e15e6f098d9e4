package etcd_test

import (
	"testing"
	"time"

	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

func TestDataSurvivesAKill(t *testing.T) {
	server, err := etcd.NewServer(t.Context(), t.TempDir(), &process.Ports{})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop(10 * time.Second) })
	if err := server.Put(t.Context(), "/skydns/example/lab/www", `{"host":"203.0.113.10"}`); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	values, err := server.Prefix(t.Context(), "/skydns/")
	if err != nil {
		t.Fatal(err)
	}
	if got := values["/skydns/example/lab/www"]; len(values) != 1 || got != `{"host":"203.0.113.10"}` {
		t.Errorf("after a kill there is %v", values)
	}
}
