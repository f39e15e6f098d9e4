package seed

import (
	"embed"
	"path"
	"strings"
)

// objects are OpenShift's DNS objects as the designs of configurable DNS
// plugins and of DNS pod placement wrote them.
//
//go:embed dns
var objects embed.FS

// DNS are the DNS objects of the designs, in YAML, by name.
func DNS() (map[string]string, error) {
	const directory, extension = "dns", ".yaml"
	files, err := objects.ReadDir(directory)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, file := range files {
		text, err := objects.ReadFile(path.Join(directory, file.Name()))
		if err != nil {
			return nil, err
		}
		all[strings.TrimSuffix(file.Name(), extension)] = string(text)
	}
	return all, nil
}
