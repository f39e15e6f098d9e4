package externaldns

// azureFlags belong to azure, azure-dns and azure-private-dns.
func azureFlags() []Flag {
	return []Flag{
		{Name: "azure-config-file", Family: familyAzure, Kind: File, Default: "/etc/kubernetes/azure.json", Sample: "/etc/dns/azure.json",
			Doc: "File with tenant, subscription and credentials."},
		{Name: "azure-resource-group", Family: familyAzure, Kind: Text, Sample: "dns",
			Doc: "Resource group; replaces the file's."},
		{Name: "azure-subscription-id", Family: familyAzure, Kind: Text, Sample: "00000000-0000-0000-0000-000000000001",
			Doc: "Subscription; replaces the file's."},
		{Name: "azure-user-assigned-identity-client-id", Family: familyAzure, Kind: Text, Sample: "00000000-0000-0000-0000-000000000002",
			Doc: "Client id of the user-assigned identity; replaces the file's."},
		{Name: "azure-zones-cache-duration", Family: familyAzure, Kind: Duration, Sample: "1h",
			Doc: "How long the list of zones is remembered."},
		{Name: "azure-maxretries-count", Family: familyAzure, Kind: Integer, Min: -1, Sample: "3",
			Doc: "Tries of a request before it is given up."},
	}
}
