package apply

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/emco"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const registerHelp = `Tells EMCO's orchestrator where Signpost's gRPC listener is. The orchestrator then calls Signpost
for each deployment intent group with intents for this controller. Registering again changes nothing;
with another host, port or priority, it replaces the registration of that name. The host and port
are those at which the orchestrator reaches Signpost. The command does not check them.`

// EMCO's limits for a new controller. EMCO does not check a replacement.
const (
	longestController = 128 // characters of its name, and of its host
	highestPort       = 50000
	highestPriority   = 100
)

// registration is what EMCO keeps of a controller.
type registration struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Host     string `json:"host"`
		Port     int    `json:"port"`
		Type     string `json:"type"`
		Priority int    `json:"priority"`
	} `json:"spec"`
}

// RegisterCommand makes `signpost register`.
func RegisterCommand(p terminal.Program) *cobra.Command {
	orchestrator := emco.Service{Flag: "orchestrator"}
	var controller registration
	var output terminal.Format
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "register --orchestrator URL --host HOST",
		Short: "Register Signpost as an action controller of EMCO",
		Long:  registerHelp,
		Example: "  signpost register --orchestrator http://orchestrator.emco:9015 --host signpost.signpost\n" +
			"  signpost register --orchestrator http://orchestrator.emco:9015 --host signpost.signpost --name dns --dry-run -o yaml",
		Args: terminal.Exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := orchestrator.Parse(); err != nil {
				return err
			}
			if err := controller.check(); err != nil {
				return err
			}
			if controller.Spec.Port > highestPort {
				terminal.Printf(p.Err, "warning: EMCO accepts ports up to %d for a new controller; port %d is registered only because EMCO does not check replacements\n", highestPort, controller.Spec.Port)
			}
			if dryRun {
				return printRegistration(p, &output, controller, "would be registered")
			}
			done, err := registerAt(cmd.Context(), &orchestrator, controller)
			if err != nil {
				return err
			}
			return printRegistration(p, &output, controller, done)
		},
	}
	const port, priority = 9048, 90 // the gRPC listener's own; after the controllers that add resources
	controller.Spec.Type = "action"
	flags := cmd.Flags()
	flags.StringVar(&orchestrator.URL, "orchestrator", "", "the `URL` of EMCO's orchestrator")
	flags.StringVar(&controller.Metadata.Name, "name", "signpost", "the controller's `NAME`, by which intents of groups name it")
	flags.StringVar(&controller.Spec.Host, "host", "", "the `HOST` by which the orchestrator reaches Signpost, without a port")
	flags.IntVar(&controller.Spec.Port, "port", port, "the port of Signpost's gRPC listener there")
	flags.IntVar(&controller.Spec.Priority, "priority", priority, "0 to 100: the orchestrator calls action controllers with lower numbers first")
	flags.BoolVar(&dryRun, "dry-run", false, "send no request; show what would be registered")
	flags.DurationVar(&orchestrator.HTTP.Timeout, "timeout", connect.RequestTimeout, "how long to wait for each response")
	output.Flag(flags)
	return cmd
}

// check finds what EMCO would refuse, or what it would take and never reach.
func (r registration) check() error {
	name, host := r.Metadata.Name, r.Spec.Host
	if !regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`).MatchString(name) || len(name) > longestController {
		return terminal.Usagef("--name: %q is not a valid name of a controller; use up to %d letters, digits, -, _ and ., with a letter or digit at both ends", name, longestController)
	}
	_, _, withPort := net.SplitHostPort(host)
	switch {
	case host == "":
		return terminal.Usagef("--host is missing: give the host at which the orchestrator reaches Signpost, as in signpost.signpost")
	case net.ParseIP(host) == nil && (withPort == nil || !regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?\.?$`).MatchString(host)):
		return terminal.Usagef("--host: %q is not a valid host; give only a name or an address, and the port by --port", host)
	case len(host) > longestController:
		return terminal.Usagef("--host: it has %d characters; EMCO accepts up to %d", len(host), longestController)
	}
	const most = 65535
	if r.Spec.Port < 1 || r.Spec.Port > most {
		return terminal.Usagef("--port: %d is not a valid port; give one from 1 to %d", r.Spec.Port, most)
	}
	if r.Spec.Priority < 0 || r.Spec.Priority > highestPriority {
		return terminal.Usagef("--priority: %d is out of range; give a number from 0 to %d", r.Spec.Priority, highestPriority)
	}
	return nil
}

// registerAt creates the controller or replaces the one of this name, and answers
// what that did.
func registerAt(ctx context.Context, s *emco.Service, controller registration) (string, error) {
	body, err := json.Marshal(controller)
	if err != nil {
		return "", err
	}
	const collection, media = "controllers", "application/json"
	_, err = s.Do(ctx, http.MethodPost, collection, media, body)
	unchecked := controller.Spec.Port > highestPort && emco.HasStatus(err, http.StatusBadRequest)
	if !emco.HasStatus(err, http.StatusConflict) && !unchecked {
		return "registered", err
	}
	path := intent.Join(collection, controller.Metadata.Name)
	if text, err := s.Do(ctx, http.MethodGet, path, "", nil); err == nil {
		var before registration
		if json.Unmarshal(text, &before) == nil && before == controller {
			return "is registered already", nil
		}
	}
	_, err = s.Do(ctx, http.MethodPut, path, media, body)
	return "registered", err
}

// printRegistration shows the body that EMCO gets, or a line for people.
func printRegistration(p terminal.Program, output *terminal.Format, controller registration, done string) error {
	return output.PrintValue(p.Out, controller, func(w io.Writer, _ bool) error {
		address := net.JoinHostPort(controller.Spec.Host, strconv.Itoa(controller.Spec.Port))
		terminal.Printf(w, "%s %s: %s, action, priority %d\n", controller.Metadata.Name, done, address, controller.Spec.Priority)
		terminal.Printf(w, "The command did not check whether the orchestrator reaches Signpost there.\n")
		return nil
	})
}
