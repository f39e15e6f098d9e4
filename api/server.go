package api

import (
	"net/http"
	"time"
)

// NewServer returns an HTTP server for the handler with limits on time and size. So no
// client holds a connection for ever, or much memory. The caller sets its address.
func NewServer(handler http.Handler) *http.Server {
	const (
		header = 10 * time.Second
		read   = 30 * time.Second
		write  = 90 * time.Second
		idle   = 2 * time.Minute
		bytes  = 16 << 10

		streams      = 16        // of a connection, with HTTP/2; clients wait, or open another one
		ofStream     = 64 << 10  // of its body, before that is read
		ofConnection = 128 << 10 // of all bodies
	)
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: header,
		ReadTimeout:       read,
		WriteTimeout:      write,
		IdleTimeout:       idle,
		MaxHeaderBytes:    bytes,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: streams, MaxReceiveBufferPerStream: ofStream, MaxReceiveBufferPerConnection: ofConnection,
			WriteByteTimeout: read, SendPingTimeout: read,
		},
	}
}
