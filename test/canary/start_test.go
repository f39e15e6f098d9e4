package canary

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"
)

// unstartable: neither flags nor files nor the environment are quoted by a server
// that cannot start.
func unstartable(t *testing.T, program string) {
	w := &world{T: t, program: program, dir: t.TempDir()}
	password := func() string { return w.word("a password of an address") }
	key := "--secret-key-file=" + w.file("key", w.sealingKey())
	for _, args := range [][]string{
		{"--etcd-endpoints=http://me:" + password() + "@127.0.0.1:1", key}, {"--etcd-endpoints=me:" + password() + "@127.0.0.1:1", key},
		{"--etcd-endpoints=http://127.0.0.1:1?password=" + password(), key}, {"--etcd-endpoints=\"" + password(), key},
		{"--etcd-endpoints=https://127.0.0.1:1", "--etcd-user=me", "--etcd-password-file=" + w.file("password", password()), key},
		{"--mongo-uri=mongodb://me:" + password() + "@127.0.0.1:1/docs", key}, {"--mongo-uri=mongodb://me:" + password() + "%zz@127.0.0.1:1/docs", key},
		{"--mongo-uri=mongodb://me:%zz" + password() + "@127.0.0.1:1/docs", key}, {"--mongo-uri=mongodb://me:p/" + password() + "@127.0.0.1:1/docs", key},
		{"--mongo-uri=mongodb://me:p:" + password() + "@127.0.0.1:1/docs", key}, {"--mongo-uri=http://me:" + password() + "@127.0.0.1:1/docs", key},
		{"--mongo-uri=mongodb://127.0.0.1:1/docs?tlsCertificateKeyFilePassword=%zz" + password(), key},
		{"--otlp-endpoint=http://me:" + password() + "@127.0.0.1:1"}, {"--otlp-endpoint=" + password() + "@"}, {"--rsync-endpoint=me:" + password() + "@rsync:9031"},
		{"--emco-dcm=http://me:" + password() + "@dcm?x"}, {"--emco-clm=clm?key=" + password()}, {"--image-registry=https://me:" + password() + "@registry.example"},
		{"--oidc-issuer=https://me:" + password() + "@issuer.example", "--oidc-audience=a"}, {"--oidc-issuer=issuer.example?" + password(), "--oidc-audience=a"},
		{"--listen=http://me:" + password() + "@127.0.0.1:1"}, {"--token-file=" + w.file("tokens", w.word("a token without a subject")+"\n")},
		{"--token-file=" + w.file("more", w.word("a token without a role")+",anna,boss\n")}, {"--token-file=" + w.file("two", w.word("a token")+",a,admin,p,"+w.word("more")+"\n")},
		{"--secret-key-file=" + w.file("text", w.word("a key that is text"))}, {"--secret-key-file=" + w.file("long", base64.StdEncoding.EncodeToString([]byte(w.word("a key that is too short"))))},
		{"--config=" + w.file("value.yaml", "mongo-uri: mongodb://me:"+password()+"%zz@127.0.0.1:1/docs\nsecret-key-file: "+w.dir+"/key\n")},
		{"--config=" + w.file("alias.yaml", "mongo-uri: *"+password()+"\n")}, {"--config=" + w.file("object.yaml", "mongo-uri: {me: "+password()+"}\n")}, {"--config=" + w.file("text.yaml", password())},
		{"--config=" + w.file("quotes.yaml", "mongo-uri: \""+password()+"\n")}, {"--config=" + w.file("list.yaml", "mongo-uri: ["+password()+"]\n")}, {"--config=" + w.file("tag.yaml", "mongo-uri: !!int "+password()+"\n")},
	} {
		text, err := w.run(nil, append([]string{"serve", "--listen=127.0.0.1:0", "--grpc-listen=127.0.0.1:0", "--data-dir=" + w.dir}, args...)...)
		require.Error(t, err, "%s: %s", args, text)
		w.out[len(w.out)-1].where += " of " + args[0]
	}
	for _, env := range []string{
		"SIGNPOST_SECRET_KEY=" + w.text("a key of the environment that is none"), "SIGNPOST_ETCD_ENDPOINTS=http://me:" + password() + "@127.0.0.1:1",
		"SIGNPOST_INSECURE=" + w.word("a secret in a wrong variable"), "SIGNPOST_MONGO_URI=mongodb://me:" + password() + "%zz@127.0.0.1:1/docs",
	} {
		text, err := w.run([]string{env}, "serve", "--listen=127.0.0.1:0", "--grpc-listen=127.0.0.1:0", "--data-dir="+w.dir)
		require.Error(t, err, "%s: %s", env, text)
	}
	w.none()
}
