package canary

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/signpost-dns/signpost/pkg/emco/emcopb"
)

// refuse sends what has to be refused, with secrets in it.
func (w *world) refuse() {
	w.Helper()
	for _, spec := range w.wrongRecords() {
		w.refused(request{method: http.MethodPost, path: "/v2/projects/shop/dns-update-records", body: `{"metadata": {"name": "wrong"}, "spec": ` + spec + `}`})
		w.refused(request{method: http.MethodPut, path: "/v2/projects/shop/dns-update-records/aws", body: `{"metadata": {"name": "aws"}, "spec": ` + spec + `}`})
	}
	for _, text := range w.wrongKubeconfigs() {
		for _, kubeconfig := range []string{quoted(text), quoted(base64.StdEncoding.EncodeToString([]byte(text))), `{"token": ` + quoted(text) + `}`} {
			w.refused(request{method: http.MethodPost, path: "/v2/cluster-providers/edge/clusters", body: `{"metadata": {"name": "wrong"}, "spec": {"kubeconfig": ` + kubeconfig + `}}`})
		}
	}
	for _, wrong := range []string{"upstream: *%s", "password: !!int %s", "password: %%%s", "password: @%s", "a: b: %s", "token: \"%s", "token: &%s *x", "{%s"} {
		w.refused(request{
			method: http.MethodPost, path: "/v2/projects/shop/logical-clouds/eu/dns-cr-intents", media: "application/yaml",
			body: "metadata: {name: wrong}\nspec:\n  " + fmt.Sprintf(wrong, w.word("a secret in wrong YAML: "+wrong)) + "\n",
		})
	}
	const provider = "/v2/cluster-providers/edge"
	w.refused(request{method: http.MethodPut, path: provider, media: "text/plain", body: w.text("a secret in a text")})
	w.refused(request{method: http.MethodGet, path: "/v2/projects?token=" + w.word("a secret in a query")})
	for _, token := range []string{"Bearer %s", "Basic %s", "%s", "Bearer a.%s.b", "Bearer " + w.jwt + "%s"} {
		w.refused(request{method: http.MethodGet, path: provider, token: fmt.Sprintf(token, w.word("a wrong token"))})
	}
	w.refuseCalls()
}

// wrongRecords are specs of records with something wrong about a secret.
func (w *world) wrongRecords() []string {
	credential := func(text string) string { return `{"provider": "aws", "credentials": [` + text + `]}` }
	parameter := func(name, text string) string {
		return `{"provider": "rfc2136", "external-dns-parameters": {"` + name + `": ` + text + `}}`
	}
	var specs []string
	for n, spec := range []string{
		parameter("rfc2136-tsig-secret", `[S, S]`), parameter("rfc2136-tsig-secret", `{"value": S}`), parameter("rfc2136-tsig-secrets", `S`), parameter("pdns-api-key", `S`),
		parameter("rfc2136-tsig-secret", `S, "rfc2136-tsig-secret": S`), parameter("rfc2136-tsig-secret", `S, "interval": "soon"`),
		`{"provider": "pdns", "environment": {"EXTERNAL_DNS_PDNS_API_KEY": S}}`, `{"provider": "pdns", "environment": S}`,
		`{"provider": "pdns", "extraArgs": [ARG--pdns-api-key=]}`, `{"provider": "ovh", "extraArgs": [ARG--ovh-token=]}`, `{"provider": "ovh", "extraArgs": S}`,
		`{"provider": "nowhere", "credentials": [{"environment": "A", "value": S}]}`, `{"provider": "aws", "credential": S}`, `{"provider": "aws", "credentials": S}`,
		`{"provider": "aws", "webhook": {"image": "registry.example/hook:1", "environment": [S]}, "credentials": [{"environment": "A", "value": S}]}`,
		`{"provider": "aws", "imagePullSecrets": [S]}`, `{"provider": "aws", "imagePullSecrets": {"auths": S}}`,
		credential(`S`), credential(`{"value": S}`), credential(`{"environment": "A", "value": [S]}`), credential(`{"environment": "A", "value": 1, "file": S}`),
		credential(`{"environment": "A", "valeu": S}`), credential(`{"environment": "A", "file": "/b", "value": S}`), credential(`{"environment": "KUBECONFIG", "value": S}`),
		credential(`{"environment": S, "value": "A"}`), credential(`{"file": S, "value": "A"}`), credential(`{"environment": "A", "secretRef": {"name": S, "key": S}}`),
		credential(`{"environment": "A", "value": S, "secretRef": {"name": "a", "key": "b"}}`), credential(`{"environment": "A", "secretRef": S}`),
		credential(`{"environment": "A", "value": S}, {"environment": "A", "value": S}`), credential(`{"file": "/a", "value": S}, {"file": "/a/b", "value": S}`),
		credential(`{"environment": "A", "value": S, "value": S}`), credential(`{"environment": "A", "value": S`), credential(`{"environment": "A", "value": S} S`),
		credential(`{"environment": "A", "value": "\u0000", "value": S}`), credential(`{"environment": "A", "value": "\q` + w.word("a secret behind a wrong escape") + `"}`),
		credential(`{"environment": "A", "value": ` + w.word("a secret without quotes") + `}`), credential(`{"environment": "A", "value": '` + w.word("a secret in single quotes") + `'}`),
		credential("{\"environment\": \"A\", \"value\": \"\n" + w.word("a secret behind a line's end") + `"}`),
	} {
		value := w.text(fmt.Sprintf("the secret of wrong record %d", n))
		spec = strings.ReplaceAll(strings.ReplaceAll(spec, "ARG--pdns-api-key=", quoted("--pdns-api-key="+value)), "ARG--ovh-token=", quoted("--ovh-token="+value))
		for _, before := range []string{" ", "[", ":"} {
			for _, behind := range []string{",", "]", "}"} {
				spec = strings.ReplaceAll(strings.ReplaceAll(spec, before+"S"+behind, before+quoted(value)+behind), before+"S"+behind, before+quoted(value)+behind)
			}
		}
		specs = append(specs, spec)
	}
	return specs
}

// wrongKubeconfigs are texts that are none.
func (w *world) wrongKubeconfigs() []string {
	var all []string
	for n, user := range []string{
		"%s", "[%s]", "{token: [%s]}", "{token: *%s}", "{token: !!int %s}", "{token: &%s *x}", "{token: \"%s}", "{token: a: %s}", "{token: @%s}", "{tokken: %s, exec: {}}",
		"{exec: {command: %s}}", "{exec: {env: [{name: A, value: %s}]}}", "{auth-provider: {name: a, config: {secret: %s}}}", "{tokenFile: %s}", "{client-key: %s}",
		"{client-key-data: %s}", "{client-key-data: [%s]}", "{client-certificate-data: '%s%%'}", "{username: [%s]}",
	} {
		all = append(all, "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- {name: c, cluster: {server: \"https://127.0.0.1:1\"}}\ncontexts:\n- {name: c, context: {cluster: c, user: u}}\nusers:\n- name: u\n  user: "+
			fmt.Sprintf(user, w.word(fmt.Sprintf("the secret of wrong kubeconfig %d", n)))+"\n")
	}
	return append(all, fmt.Sprintf("server: https://me:%s@h:port", w.word("a password in a wrong URL")), w.text("a secret that is not a kubeconfig"))
}

// refuseCalls makes gRPC calls that are refused.
func (w *world) refuseCalls() {
	w.Helper()
	connection, err := grpc.NewClient(w.listener("grpc"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(w, err)
	defer func() { _ = connection.Close() }()
	client := emcopb.NewContextupdateClient(connection)
	for _, token := range []string{w.admin, w.jwt, w.word("a wrong token of gRPC")} {
		ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(w.Context(), "authorization", "Bearer "+token), patience)
		for _, id := range []string{"123", "none of them"} {
			update, err := client.UpdateAppContext(ctx, &emcopb.ContextUpdateRequest{AppContext: id, IntentName: "front"})
			require.Error(w, err)
			w.see("the answer to UpdateAppContext", []byte(update.String()+err.Error()))
			terminate, err := client.TerminateAppContext(ctx, &emcopb.TerminateRequest{AppContext: id})
			w.see("the answer to TerminateAppContext", []byte(terminate.String()+fmt.Sprint(err)))
			event, err := client.PostEvent(ctx, &emcopb.PostEventRequest{AppContext: id})
			w.see("the answer to PostEvent", []byte(event.String()+fmt.Sprint(err)))
		}
		cancel()
	}
}
