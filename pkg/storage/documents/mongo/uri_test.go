package mongo

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestAConnectionStringIsRefusedWithoutItsPassword: and the refusal tells what is
// wrong.
func TestAConnectionStringIsRefusedWithoutItsPassword(t *testing.T) {
	const quoting = "write / : @ ?"
	for _, c := range []struct{ reason, uri, says string }{
		{"a bare %", "mongodb://me:s3cr3t%zz@db/docs", quoting},
		{"a half of an escape", "mongodb://me:s3cr3t%2@db/docs", quoting},
		{"a bare @", "mongodb://me:s3cr3t@more@db/docs", quoting},
		{"a bare /", "mongodb://me:s3cr3t/more@db/docs", quoting},
		{"a bare : and no more", "mongodb://me:s3cr3t:more@db/docs", quoting},
		{"a key's password", "mongodb://db/docs?tlsCertificateKeyFilePassword=s3cr3t%zz", quoting},
		{"a session", "mongodb://db/docs?authMechanism=MONGODB-AWS&authMechanismProperties=AWS_SESSION_TOKEN:s3cr3t", quoting},
		{"another scheme", "http://me:s3cr3t@db/docs", "scheme must be"},
		{"a wrong option", "mongodb://me:s3cr3t@db/docs?tls=maybe", `"maybe"`},
		{"a wrong option beside a bare %", "mongodb://me:s3cr3t%zz@db/docs?tls=maybe", `"maybe"`},
		{"a wrong port", "mongodb://me:s3cr3t@db:http/docs", "port"},
		{"no scheme", "me:s3cr3t@db", "scheme must be"},
	} {
		_, err := New(t.Context(), c.uri)
		require.Equal(t, intent.Invalid, intent.CodeOf(err), c.reason)
		require.ErrorContains(t, err, "the MongoDB connection string is not usable", c.reason)
		require.ErrorContains(t, err, c.says, c.reason)
		require.NotContains(t, err.Error(), "s3cr3t", c.reason)
	}
}

func TestWhatIsNoSecretStaysInAMaskedConnectionString(t *testing.T) {
	for uri, want := range map[string]string{
		"mongodb://db": "mongodb://db", "mongodb://db/docs?tls=true": "mongodb://db/docs?tls=true",
		"mongodb://me@db": "mongodb://user@db", "mongodb://me:p@a,b:1/docs?w=1&tlsCertificateKeyFilePassword=p&tls=true": "mongodb://user:password@a,b:1/docs?w=1&tls=true",
		"mongodb+srv://me:p@db/": "mongodb+srv://user:password@db/",
	} {
		require.Equal(t, want, masked(uri))
	}
}
