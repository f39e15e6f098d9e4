package requests

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWhatIsNoHTTPIsRefused: what no client library sends is answered by the
// HTTP server itself, in plain text, and never reaches an operation.
func TestWhatIsNoHTTPIsRefused(t *testing.T) {
	c := begin(t, 1)
	const host, create = "Host: 127.0.0.1\r\n", "Content-Type: application/json\r\n"
	body := `{"metadata":{"name":"smuggled"}}`
	for reason, sent := range map[string]struct {
		text string
		want int
	}{
		"no request at all":       {"\x16\x03\x01\x02\x00\r\n\r\n", 400},
		"a bad escape":            {"GET /%zz HTTP/1.1\r\n" + host + "\r\n", 400},
		"a space in the path":     {"GET /v2/projects/a b HTTP/1.1\r\n" + host + "\r\n", 400},
		"a bad method":            {"G(T /v2/projects HTTP/1.1\r\n" + host + "\r\n", 400},
		"a NUL in a field":        {"GET /v2/projects HTTP/1.1\r\n" + host + "X: \x00\r\n\r\n", 400},
		"no Host":                 {"GET /v2/projects HTTP/1.1\r\n\r\n", 400},
		"two Hosts":               {"GET /v2/projects HTTP/1.1\r\n" + host + host + "\r\n", 400},
		"another HTTP":            {"GET /v2/projects HTTP/9.9\r\n" + host + "\r\n", 505},
		"a header that is huge":   {"GET /v2/projects HTTP/1.1\r\n" + host + "X: " + strings.Repeat("x", 100<<10) + "\r\n\r\n", 431},
		"two lengths":             {"POST /v2/projects HTTP/1.1\r\n" + host + create + "Content-Length: 32\r\nContent-Length: 5\r\n\r\n" + body, 400},
		"a negative length":       {"POST /v2/projects HTTP/1.1\r\n" + host + create + "Content-Length: -1\r\n\r\n" + body, 400},
		"chunks that are none":    {"POST /v2/projects HTTP/1.1\r\n" + host + create + "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + body + "\r\n0\r\n\r\n", 400},
		"an encoding of transfer": {"POST /v2/projects HTTP/1.1\r\n" + host + create + "Transfer-Encoding: gzip\r\n\r\n" + body, 501},
		"less than was announced": {"POST /v2/projects HTTP/1.1\r\n" + host + create + "Content-Length: 999\r\n\r\n" + body, 400},
	} {
		t.Run(reason, func(t *testing.T) {
			require.Equal(t, sent.want, c.wire(t, sent.text, true))
		})
	}
	require.Equal(t, http.StatusOK, c.wire(t, "GET /healthz HTTP/1.0\r\n\r\n", false), "HTTP/1.0 is HTTP")
	require.Equal(t, http.StatusOK, c.wire(t, "GET http://127.0.0.1/v2/projects HTTP/1.1\r\n"+host+"\r\n", false), "as a proxy asks")
	require.Equal(t, http.StatusMisdirectedRequest, c.wire(t, "GET http://elsewhere/v2/projects HTTP/1.1\r\n"+host+"\r\n", false), "of a host that this is not")
	require.Equal(t, http.StatusCreated, c.wire(t, "POST /v2/projects HTTP/1.1\r\n"+host+create+
		"Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n20\r\n"+`{"metadata":{"name":"in-chunks"}}`[:32]+"\r\n1\r\n}\r\n0\r\n\r\n", false))
	got := c.say(Request{Kind: Valid, Method: http.MethodGet, Target: "/v2/projects", Header: http.Header{}})
	require.Contains(t, string(got.Body), "in-chunks")
	require.NotContains(t, string(got.Body), "smuggled")
}

// wire sends text over a connection of its own and answers the final status.
// With over it says that nothing more will come.
func (c *conversation) wire(t *testing.T, text string, over bool) int {
	connection, err := net.Dial("tcp", strings.TrimPrefix(c.base, "http://"))
	require.NoError(t, err)
	defer connection.Close()
	require.NoError(t, connection.SetDeadline(time.Now().Add(30*time.Second)))
	_, err = io.WriteString(connection, text)
	require.NoError(t, err)
	if over {
		require.NoError(t, connection.(*net.TCPConn).CloseWrite())
	}
	reader := bufio.NewReader(connection)
	for {
		response, err := http.ReadResponse(reader, nil)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		if response.StatusCode >= http.StatusOK {
			return response.StatusCode
		}
	}
}
