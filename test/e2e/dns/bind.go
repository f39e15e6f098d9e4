package dns

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/signpost-dns/signpost/test/e2e/process"
)

// BIND is a BIND server that takes updates and transfers signed by one key.
type BIND struct {
	*Server

	Host string
	Port int
	// KeyName, Algorithm and Secret (base64) are the TSIG key.
	KeyName, Algorithm, Secret string
}

// strangersName is a name of BINDZone that was there before any test.
const strangersName = "printer"

// NewBIND prepares a BIND server for BINDZone, all of whose files are in dir.
func NewBIND(ctx context.Context, dir string, ports *process.Ports) (*BIND, error) {
	path, err := lookUp("named", "bind9")
	if err != nil {
		return nil, err
	}
	port, err := ports.Next(ctx)
	if err != nil {
		return nil, err
	}
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	b := &BIND{
		Server: &Server{Address: fmt.Sprintf("127.0.0.1:%d", port)}, Host: "127.0.0.1", Port: port,
		KeyName: "key1", Algorithm: "hmac-sha256", Secret: base64.StdEncoding.EncodeToString(secret),
	}
	if err := b.writeFiles(dir); err != nil {
		return nil, err
	}
	b.Process = &process.Process{
		Name: "named", Path: path, Dir: dir,
		Args: []string{"-4", "-g", "-n", "1", "-c", filepath.Join(dir, "named.conf")},
		Log:  filepath.Join(dir, "named.log"), Ready: b.serves(BINDZone),
	}
	return b, nil
}

func (b *BIND) writeFiles(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "named.conf"), []byte(b.config(dir)), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "zone"), []byte(zoneFile), 0o600)
}

// zoneFile is the zone before any test. Answers must not be cached for long
// by anyone.
const zoneFile = `$TTL 1
@ IN SOA ns.` + BINDZone + `. hostmaster.` + BINDZone + `. 1 3600 600 86400 1
@ IN NS ns.` + BINDZone + `.
ns IN A 127.0.0.1
` + strangersName + ` IN A 192.0.2.77
` + strangersName + ` IN TXT "somebody else's"
`

// config keeps named inside dir: it writes nowhere else and needs no rights.
func (b *BIND) config(dir string) string {
	return fmt.Sprintf(`
key %[3]q { algorithm %[4]s; secret %[5]q; };
options {
    directory %[1]q;
    pid-file none;
    lock-file none;
    session-keyfile none;
    listen-on port %[2]d { 127.0.0.1; };
    recursion no;
    dnssec-validation no;
    notify no;
    minimal-responses yes;
};
controls { };
zone %[6]q {
    type master;
    file "zone";
    journal "zone.journal";
    allow-update { key %[3]q; };
    allow-transfer { key %[3]q; };
};
`, dir, b.Port, b.KeyName, b.Algorithm, b.Secret, BINDZone)
}

// Update changes the zone, as the administrator does with nsupdate: each line
// is one of its commands, as "update add www.corp.example. 1 A 192.0.2.1".
func (b *BIND) Update(ctx context.Context, lines ...string) error {
	program, err := lookUp("nsupdate", "bind9-dnsutils")
	if err != nil {
		return err
	}
	script := append([]string{
		fmt.Sprintf("key %s:%s %s", b.Algorithm, b.KeyName, b.Secret), fmt.Sprintf("server %s %d", b.Host, b.Port),
	}, append(lines, "send", "")...)
	update := exec.CommandContext(ctx, program)
	update.Stdin = strings.NewReader(strings.Join(script, "\n"))
	if output, err := update.CombinedOutput(); err != nil {
		return fmt.Errorf("nsupdate: %w: %s", err, output)
	}
	return nil
}

// lookUp finds a program of the system, and says which package has it.
func lookUp(program, debianPackage string) (string, error) {
	path, err := exec.LookPath(program)
	if err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/usr/bin"} { // sbin is not on everybody's PATH
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed: the tests need the package %s (apt-get install %s): %w",
		program, debianPackage, debianPackage, err)
}
