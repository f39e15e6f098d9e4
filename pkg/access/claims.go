package access

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/go-jose/go-jose/v4"
)

// loggedOut is an event of which a logout token tells, and no other.
const loggedOut = "http://schemas.openid.net/event/backchannel-logout"

// forCallers refuses tokens that an issuer signs for another purpose than calling a
// service. It also refuses tokens that need a proof of possession, because Signpost asks
// for none.
func forCallers(header jose.Header, claims map[string]json.RawMessage) error {
	stated, _ := header.ExtraHeaders[jose.HeaderType].(string)
	var claimed string
	_ = json.Unmarshal(claims["typ"], &claimed) // one that is no text says nothing
	for _, kind := range []string{stated, claimed} {
		kind = strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(kind), "application/"), "+jwt")
		if kind == "logout" || kind == "dpop" {
			return refuse(malformed, "the token is one for "+kind+" (typ), not for callers; send an access token or an ID token", nil)
		}
	}
	var events map[string]json.RawMessage
	if json.Unmarshal(claims["events"], &events) == nil && events[loggedOut] != nil {
		return refuse(malformed, "the token is a logout notice (events); send an access token or an ID token", nil)
	}
	if bound := claims["cnf"]; bound != nil && string(bound) != "null" {
		return refuse(malformed, "the token is bound to a key (cnf), and Signpost checks no proof of that key; have the issuer make a bearer token", nil)
	}
	return nil
}

// identify reads whom a token stands for.
func (o *issuerTokens) identify(claims map[string]json.RawMessage) (identity, error) {
	const longest = 256
	claim := cmp.Or(o.SubjectClaim, "sub")
	var name string
	if err := json.Unmarshal(claims[claim], &name); err != nil || name == "" || len(name) > longest || strings.ContainsFunc(name, unicode.IsControl) {
		return identity{}, refuse(malformed, fmt.Sprintf("the token's claim %s is not a name of at most %d bytes", claim, longest), nil)
	}
	if given, ok := claims["email_verified"]; ok && claim == "email" && string(given) != "true" {
		return identity{}, refuse(malformed, "the issuer has not verified the token's email", nil)
	}
	who := identity{name: ofIssuer + name}
	for _, group := range words(claims[cmp.Or(o.GroupsClaim, "groups")]) {
		who.groups = append(who.groups, ofIssuer+group)
	}
	for _, text := range words(claims[cmp.Or(o.RolesClaim, "roles")]) {
		if grant, ok := parseGrant(text); ok {
			who.claims = append(who.claims, grant)
		}
	}
	return who, nil
}

// words are the values of a claim: a list, or text with spaces between them. Any other
// claim has none.
func words(claim json.RawMessage) []string {
	var list []string
	var text string
	if json.Unmarshal(claim, &list) == nil {
		return list
	}
	if json.Unmarshal(claim, &text) == nil {
		return strings.Fields(text)
	}
	return nil
}

// parseGrant reads ROLE or PROJECT:ROLE. Any other text belongs to another service.
func parseGrant(text string) (Grant, bool) {
	at := strings.LastIndexByte(text, ':')
	role, ok := ParseRole(text[at+1:])
	if at < 0 {
		return Grant{Role: role}, ok
	}
	return Grant{Role: role, Project: text[:at]}, ok && at > 0
}
