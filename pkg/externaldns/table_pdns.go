package externaldns

// pdnsFlags belong to pdns (the HTTP API of PowerDNS' authoritative server).
func pdnsFlags() []Flag {
	return []Flag{
		{Name: "pdns-server", Family: familyPDNS, Kind: URL, Sample: "https://pdns.corp.example:8081",
			Doc: "URL of the API."},
		{Name: "pdns-server-id", Family: familyPDNS, Kind: Text, Sample: "localhost",
			Doc: "Id of the server behind the API; localhost unless a proxy is in front."},
		{Name: "pdns-api-key", Family: familyPDNS, Kind: Text, Secret: true, Sample: "changeme",
			Doc: "Key of the API."},
		{Name: "pdns-skip-tls-verify", Family: familyPDNS, Kind: Bool, Sample: "true",
			Doc: "Accept any certificate."},
	}
}
