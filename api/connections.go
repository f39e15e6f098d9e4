package api

import (
	"net"
	"net/http"

	"github.com/signpost-dns/signpost/api/limits"
	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// ask counts a request until its answer is taken, if nobody is known by its
// connection.
func ask(of *throttle.Connections, w http.ResponseWriter, r *http.Request) (done func()) {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return func() {}
	}
	end := of.Ask(r.RemoteAddr, local.String())
	return func() {
		if r.ProtoMajor > 1 { // whose small answers are written when all else has ended
			_ = http.NewResponseController(w).Flush()
		}
		end()
	}
}

// acquaint tells whose request a connection has carried: that of somebody who may
// ask for what is not for everybody.
func (e *edge) acquaint(r *http.Request, op *operation.Operation, actor intent.Actor) {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && !op.Public {
		e.connections.Known(r.RemoteAddr, local.String(), limits.ClientKey(r, actor))
	}
}
