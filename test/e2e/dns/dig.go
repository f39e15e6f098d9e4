package dns

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// Dig asks the server ("host:port") with dig for the records of this type, and
// returns their data, sorted; without records, or without the name, nothing.
// Any other answer than NOERROR and NXDOMAIN, and none at all, is an error.
func Dig(ctx context.Context, server, name, recordType string) ([]string, error) {
	program, err := lookUp("dig", "bind9-dnsutils")
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		return nil, err
	}
	dig := exec.CommandContext(ctx, program, "-r", "@"+host, "-p", port, "-q", name, "-t", recordType,
		"+norecurse", "+time=5", "+tries=4", "+noall", "+comments", "+answer")
	output, err := dig.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("dig %s %s: %w: %s", name, recordType, err, output)
	}
	answers, err := parse(string(output), recordType)
	if err != nil {
		return nil, fmt.Errorf("dig %s %s: %w", name, recordType, err)
	}
	return answers, nil
}

// statusLine is where dig shows the answer's code.
var statusLine = regexp.MustCompile(`;; ->>HEADER<<-.* status: (\w+)`)

// parse reads the data of an answer as dig prints it.
func parse(output, recordType string) ([]string, error) {
	status := statusLine.FindStringSubmatch(output)
	if status == nil {
		return nil, fmt.Errorf("no answer: %s", output)
	}
	if status[1] != "NOERROR" && status[1] != "NXDOMAIN" {
		return nil, fmt.Errorf("status %s", status[1])
	}
	var answers []string
	for line := range strings.Lines(output) {
		fields := strings.Fields(line)
		if strings.HasPrefix(line, ";") || len(fields) < 5 || fields[3] != recordType {
			continue
		}
		answers = append(answers, strings.Join(fields[4:], " "))
	}
	slices.Sort(answers)
	return answers, nil
}
