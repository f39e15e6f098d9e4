package publisher

// Server is a server that a Writer connects to.
type Server struct {
	Address string // HOST:PORT
	Scope   string // the zone, or the prefix of keys; empty: all
	Field   string // of the provider's spec that names the server
}
