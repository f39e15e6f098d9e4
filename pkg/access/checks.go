package access

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/access/throttle"
)

const (
	checksPerSecond = 50
	checksAtOnce    = 500
	remembered      = 4096 // tokens, in each of two generations
)

// checks limit how many JWTs are verified for an address, so that nobody keeps
// Signpost busy with wrong ones. Tokens that were right before are verified all
// the same, as others may share the address, say behind a proxy. It is safe for
// concurrent use.
type checks struct {
	addresses *throttle.Buckets

	mu            sync.Mutex
	right, before map[[sha256.Size]byte]struct{} // tokens
}

func newChecks() *checks {
	return &checks{addresses: throttle.NewBuckets(checksPerSecond, checksAtOnce), right: map[[sha256.Size]byte]struct{}{}}
}

// begin tells whether a token is to be verified now, or how long that has to
// wait.
func (c *checks) begin(address, token string) (wait time.Duration, ok bool) {
	hash := sha256.Sum256([]byte(token))
	c.mu.Lock()
	_, now := c.right[hash]
	_, before := c.before[hash]
	c.mu.Unlock()
	if now || before {
		return 0, true
	}
	return c.addresses.Take(throttle.Origin(address))
}

// passed notes that a token was right.
func (c *checks) passed(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.right) >= remembered {
		c.right, c.before = make(map[[sha256.Size]byte]struct{}, remembered), c.right
	}
	c.right[sha256.Sum256([]byte(token))] = struct{}{}
}
