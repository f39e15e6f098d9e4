package app

import (
	"net/http"
	"time"

	"github.com/signpost-dns/signpost/console"
	"github.com/signpost-dns/signpost/pkg/access"
)

// openConsole makes the handler of the console, whose users sign in as the configuration
// says.
func openConsole(c Config) (http.Handler, error) {
	signIn := console.SignIn{Anonymous: !c.authenticates()}
	if c.OIDC.Issuer != "" {
		endpoints, err := access.NewSignInEndpoints(c.OIDC, time.Now)
		if err != nil {
			return nil, err
		}
		signIn.Issuer, signIn.ClientID, signIn.Audiences, signIn.Endpoints = c.OIDC.Issuer, c.Console, c.OIDC.Audiences, endpoints.Find
	}
	return console.New(signIn)
}
