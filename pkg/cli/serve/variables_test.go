package serve

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/app"
)

// TestAMistypedVariableIsNamed with the nearest known one. Variables that Kubernetes
// makes for Services, and those of commands, are not settings.
func TestAMistypedVariableIsNamed(t *testing.T) {
	var config app.Config
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	ServeFlags(flags, &config)
	require.Equal(t, []string{
		"SIGNPOST_NOTHING_OF_THE_KIND",
		"SIGNPOST_PUBLISHER_SERVER; did you mean SIGNPOST_PUBLISHER_SERVERS?",
		"SIGNPOST_SECRET_KEYS; did you mean SIGNPOST_SECRET_KEY?",
	}, unknownVariables([]string{
		"HOME=/", "SIGNPOST_PUBLISHER_SERVER=10.0.0.0/8", "SIGNPOST_NOTHING_OF_THE_KIND=a=b", "SIGNPOST_SECRET_KEYS=x",
		"SIGNPOST_PUBLISHER_SERVERS=10.0.0.0/8", "SIGNPOST_SECRET_KEY=x", "SIGNPOST_CONFIG=/etc/signpost.yaml", "SIGNPOST_LOG_LEVEL=debug",
		"SIGNPOST_SERVICE_HOST=10.0.0.1", "SIGNPOST_SERVICE_PORT_HTTP=9018", "SIGNPOST_PORT=tcp://10.0.0.1:9018", "SIGNPOST_PORT_9018_TCP_ADDR=10.0.0.1",
		"SIGNPOST_METRICS_SERVICE_HOST=10.0.0.2", "SIGNPOST_METRICS_PORT_9018_TCP=tcp://10.0.0.2:9018",
		"SIGNPOST_SERVER=http://127.0.0.1:9018", "SIGNPOST_TOKEN=t",
	}, flags))
}
