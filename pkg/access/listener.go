package access

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync"
)

// ListenerTLS says how the connections of a listener are encrypted, and whose
// certificates its callers show. The zero value is plain text.
type ListenerTLS struct {
	Prefix       string   // of the flags' names in errors, as in grpc-
	CertFile     string   // the certificate that callers are shown, in PEM
	KeyFile      string   // its key
	ClientCAFile string   // who signs the certificates of callers, in PEM; empty: none is asked for
	Required     bool     // a client without a certificate gets no connection
	Protocols    []string // by ALPN, as in h2
}

// Check finds what cannot work together. It reads no file.
func (l ListenerTLS) Check() error {
	cert, key, ca := l.flags()
	switch {
	case (l.CertFile == "") != (l.KeyFile == ""):
		return fmt.Errorf("%s and %s belong together: give both or none", cert, key)
	case l.ClientCAFile != "" && l.CertFile == "":
		return fmt.Errorf("%s: client certificates need TLS; also give %s and %s", ca, cert, key)
	}
	return nil
}

func (l ListenerTLS) flags() (cert, key, ca string) {
	return "--" + l.Prefix + "tls-cert", "--" + l.Prefix + "tls-key", "--" + l.Prefix + "client-ca"
}

// Config is the configuration of the listener, nil for plain text. It fails on
// files that cannot be read or hold something else. The files are read again for
// each connection, since certificates are renewed; while they are broken, the
// last good ones are used.
func (l ListenerTLS) Config(log *slog.Logger) (*tls.Config, error) {
	if l.CertFile == "" {
		return nil, nil
	}
	first, err := l.read()
	if err != nil {
		return nil, err
	}
	files := &listenerFiles{listener: l, log: log, good: first}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		NextProtos:         l.Protocols,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return files.current(), nil },
	}, nil
}

// read makes a configuration of the files.
func (l ListenerTLS) read() (*tls.Config, error) {
	cert, key, ca := l.flags()
	pair, err := tls.LoadX509KeyPair(l.CertFile, l.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", cert, key, err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: l.Protocols}
	if l.ClientCAFile == "" {
		return config, nil
	}
	config.SessionTicketsDisabled = true // a certificate whose authority is trusted no more must not come back by one
	config.ClientAuth = tls.VerifyClientCertIfGiven
	if l.Required {
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	if config.ClientCAs, err = readAuthorities(l.ClientCAFile); err != nil {
		return nil, fmt.Errorf("%s: %w", ca, err)
	}
	return config, nil
}

// listenerFiles are the files of a listener, and their last good state.
type listenerFiles struct {
	listener ListenerTLS
	log      *slog.Logger

	mu     sync.Mutex
	good   *tls.Config
	broken string // what has been logged of them since they were good
}

// current is the configuration that the files make now.
func (f *listenerFiles) current() *tls.Config {
	now, err := f.listener.read()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.good, f.broken = now, ""
		return now
	}
	if f.broken != err.Error() { // clients that connect must not fill the log
		f.broken = err.Error()
		f.log.Error("TLS files of a listener are broken; their last good state stays in force", slog.Any("error", err))
	}
	return f.good
}
