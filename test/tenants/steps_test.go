package tenants

import (
	"bufio"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// step is one request of a table, and what is to be answered.
type step struct {
	heading string // the paragraph that it stands under
	who     string // whose token it is sent with
	method  string
	path    string
	header  [][2]string
	body    string // JSON, empty for none
	status  int
	says    string // is in the answer
}

// The lines of a table: requests, their headers, bodies and results. All others are
// prose.
var (
	requestLine = regexp.MustCompile(`^([a-z]+) (GET|PUT|POST|DELETE) (/\S+)$`)
	headerLine  = regexp.MustCompile(`^([A-Z][A-Za-z-]+): (.+)$`)
	resultLine  = regexp.MustCompile(`^-> (\d{3})(?: (.+))?$`)
)

// read reads a table.
func read(t *testing.T, file string) []step {
	t.Helper()
	opened, err := os.Open(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, opened.Close()) }()
	var steps []step
	var next step
	prose := false // the line before was prose
	lines := bufio.NewScanner(opened)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		was := prose
		prose = false
		request, result, header := requestLine.FindStringSubmatch(line), resultLine.FindStringSubmatch(line), headerLine.FindStringSubmatch(line)
		switch {
		case request != nil:
			next = step{heading: next.heading, who: request[1], method: request[2], path: request[3]}
		case result != nil:
			next.status, err = strconv.Atoi(result[1])
			require.NoError(t, err)
			next.says = result[2]
			require.NotEmpty(t, next.method, "a result without a request: %s", line)
			steps = append(steps, next)
			next = step{heading: next.heading}
		case header != nil && next.method != "":
			next.header = append(next.header, [2]string{header[1], header[2]})
		case strings.HasPrefix(line, "{"):
			next.body = line
		case line != "":
			require.Empty(t, next.method, "%s %s has no result", next.method, next.path)
			prose = true
			if was {
				line = next.heading + " " + line
			}
			next.heading = line
		}
	}
	require.NoError(t, lines.Err())
	require.Empty(t, next.method, "the last request has no result")
	return steps
}
