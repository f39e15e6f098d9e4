package review

// IsAccessControl tells the groups whose objects grant rights.
func IsAccessControl(group string) bool {
	return group == "rbac.authorization.k8s.io" || group == "authorization.openshift.io"
}

// IsClusterScoped tells the kinds without a namespace of Kubernetes and of
// what is commonly installed beside it. Others show when they are applied.
func IsClusterScoped(group, kind string) bool {
	switch group {
	case "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io",
		"authentication.k8s.io", "authorization.k8s.io", "flowcontrol.apiserver.k8s.io",
		"internal.apiserver.k8s.io", "storagemigration.k8s.io",
		"config.openshift.io", "security.openshift.io", "project.openshift.io":
		return true
	}
	switch group + "/" + kind {
	case "/Namespace", "/Node", "/PersistentVolume", "/ComponentStatus",
		"scheduling.k8s.io/PriorityClass",
		"storage.k8s.io/StorageClass", "storage.k8s.io/VolumeAttachment", "storage.k8s.io/CSIDriver",
		"storage.k8s.io/CSINode", "storage.k8s.io/VolumeAttributesClass",
		"networking.k8s.io/IngressClass", "networking.k8s.io/IPAddress", "networking.k8s.io/ServiceCIDR",
		"node.k8s.io/RuntimeClass", "policy/PodSecurityPolicy", "extensions/PodSecurityPolicy",
		"certificates.k8s.io/CertificateSigningRequest", "certificates.k8s.io/ClusterTrustBundle",
		"resource.k8s.io/DeviceClass", "resource.k8s.io/ResourceSlice", "resource.k8s.io/DeviceTaintRule",
		"gateway.networking.k8s.io/GatewayClass",
		"snapshot.storage.k8s.io/VolumeSnapshotClass", "snapshot.storage.k8s.io/VolumeSnapshotContent":
		return true
	}
	return false
}

const (
	// PreviewName is where previews are asked for, beside the documents.
	PreviewName = "preview"

	// DNSConfig is the pointer to a pod's DNS configuration.
	DNSConfig = Spec + "/dnsConfig"
)
