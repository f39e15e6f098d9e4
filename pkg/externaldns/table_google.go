package externaldns

// googleFlags belong to google, whose account is the pod's own (workload
// identity) or a key file that GOOGLE_APPLICATION_CREDENTIALS names.
func googleFlags() []Flag {
	return []Flag{
		{Name: "google-project", Family: familyGoogle, Kind: Text, Sample: "dns-project",
			Doc: "Project of the zones; the cluster's own where it is not given."},
		{Name: "google-batch-change-size", Family: familyGoogle, Kind: Integer, Min: 1, Sample: "500",
			Doc: "Most changes in one batch."},
		{Name: "google-batch-change-interval", Family: familyGoogle, Kind: Duration, Sample: "2s",
			Doc: "Time between two batches."},
		{Name: "google-zone-visibility", Family: familyGoogle, Kind: Enum, Values: []string{"public", "private"}, Sample: "public",
			Doc: "Visibility of the zones that are managed."},
	}
}
