package resolve

import (
	"reflect"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// quickTTL is the longest TTL of a name that is to leave unhealthy clusters, unless its intent says otherwise.
const quickTTL = time.Minute

// ttlOf is the TTL of a name in seconds; 0: that of the DNS provider. Routing by failover, and health other than the
// default, are of use to clients only as soon as their resolvers ask anew.
func ttlOf(spec intent.DNSIntent, parameters externaldns.Parameters) int64 {
	moves := !reflect.DeepEqual(health(spec.Health), health(nil)) || spec.Routing != nil && spec.Routing.Policy == intent.Failover
	if spec.TTL == 0 && moves && externaldns.UsualTTL(parameters) > quickTTL {
		return int64(quickTTL.Seconds())
	}
	return spec.TTL
}
