package externaldns

import (
	"maps"
	"slices"
)

// Secret is a secret parameter with its value: keep it as a credential that
// sets Environment, write-only.
type Secret struct {
	Parameter   string // rfc2136-tsig-secret
	Environment string // EXTERNAL_DNS_RFC2136_TSIG_SECRET
	Value       string
}

// String hides the value, so that no log shows it.
func (s Secret) String() string { return s.Environment + "=***" }

// GoString hides the value, so that no %#v shows it.
func (s Secret) GoString() string { return s.String() }

// TakeSecrets parts the secret parameters from the others: public is a copy
// without any of them, secrets are those that have a value, by name. Call it
// once [Check] found no error; values that Check refuses are dropped.
func TakeSecrets(parameters Parameters) (public Parameters, secrets []Secret) {
	public = maps.Clone(parameters)
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		flag, ok := loadTable().find(name)
		if !ok || !flag.Secret {
			continue
		}
		delete(public, name)
		if all, _ := items(parameters[name]); len(all) == 1 {
			if result := flag.read(all[0]); result.text != "" {
				secrets = append(secrets, Secret{Parameter: name, Environment: flag.Environment(), Value: result.text})
			}
		}
	}
	return public, secrets
}
