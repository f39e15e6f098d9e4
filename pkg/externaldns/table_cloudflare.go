package externaldns

// cloudflareFlags belong to cloudflare, whose account is named by the
// environment (CF_API_TOKEN, or CF_API_KEY with CF_API_EMAIL).
func cloudflareFlags() []Flag {
	return []Flag{
		{Name: "cloudflare-proxied", Family: familyCloudflare, Kind: Bool, Sample: "true",
			Doc: "Let traffic to the names go through Cloudflare's proxies."},
		{Name: "cloudflare-custom-hostnames", Family: familyCloudflare, Kind: Bool, Sample: "true",
			Doc: "Make custom host names; needs Cloudflare for SaaS."},
		{Name: "cloudflare-custom-hostnames-min-tls-version", Family: familyCloudflare, Kind: Enum, Sample: "1.2",
			Values: []string{"1.0", "1.1", "1.2", "1.3"},
			Doc:    "Oldest TLS version of custom host names."},
		{Name: "cloudflare-custom-hostnames-certificate-authority", Family: familyCloudflare, Kind: Enum, Sample: "lets_encrypt",
			Values: []string{"google", "ssl_com", "lets_encrypt", "none"},
			Doc:    "Who signs the certificates of custom host names."},
		{Name: "cloudflare-dns-records-per-page", Family: familyCloudflare, Kind: Integer, Min: 1, Max: 5000, Sample: "1000",
			Doc: "Records in one answer of the API."},
		{Name: "cloudflare-regional-services", Family: familyCloudflare, Kind: Bool, Sample: "true",
			Doc: "Use regional services."},
		{Name: "cloudflare-region-key", Family: familyCloudflare, Kind: Text, Sample: "eu",
			Doc: "Region of the names that name none; turns regional services on."},
		{Name: "cloudflare-record-comment", Family: familyCloudflare, Kind: Text, Sample: "made by signpost",
			Doc: "Comment of each record."},
	}
}
