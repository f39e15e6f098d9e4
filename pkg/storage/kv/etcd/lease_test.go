package etcd

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestAHolderThatHearsNothingLosesItsLeaseFirst: before the server lets another have it. Each
// keep-alive that is answered extends the lease.
func TestAHolderThatHearsNothingLosesItsLeaseFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ttl, answered = 20 * time.Second, 10 * time.Second
		answers := make(chan *clientv3.LeaseKeepAliveResponse)
		l := &lease{stop: func() {}, lost: make(chan struct{})}
		began := time.Now()
		go l.keep(answers, trust(ttl), trust(ttl))
		time.Sleep(answered)
		answers <- nil
		<-l.Lost()
		held := time.Since(began) - answered
		require.Less(t, held, ttl, "the server waits for all of the TTL")
		require.Equal(t, 15*time.Second, held)
	})
}
