// Package targetcluster holds what Signpost may do in a cluster that it
// manages, as the manifest that people apply there.
package targetcluster

import _ "embed" // for the manifest

// manifest is signpost.yaml.
//
//go:embed signpost.yaml
var manifest string

// User is who the manifest's rights are for, as API servers call a
// ServiceAccount.
const User = "system:serviceaccount:signpost:signpost"

// Manifest answers the manifest: YAML of several documents.
func Manifest() string { return manifest }
