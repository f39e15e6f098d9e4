package externaldns

// corednsFlags belong to coredns, whose etcd is named by the environment
// (ETCD_URLS, ETCD_USERNAME, ETCD_PASSWORD, ETCD_CA_FILE, ETCD_CERT_FILE, ETCD_KEY_FILE).
func corednsFlags() []Flag {
	return []Flag{
		{Name: "coredns-prefix", Family: familyCoreDNS, Kind: KeyPrefix, Sample: "/skydns/",
			Doc: "Prefix of the keys in etcd; /skydns/ where it is not given."},
		{Name: "coredns-strictly-owned", Family: familyCoreDNS, Kind: Bool, Since: V021, Sample: "true",
			Doc: "Keep the owner in each key, and touch no other owner's."},
	}
}
