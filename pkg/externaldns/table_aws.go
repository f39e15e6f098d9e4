package externaldns

// awsFlags belong to aws (Route 53) and aws-sd (Cloud Map).
func awsFlags() []Flag {
	route53, cloudMap := []string{"aws"}, []string{"aws-sd"}
	return []Flag{
		{Name: "aws-zone-type", Family: familyAWS, Kind: Enum, Values: []string{"public", "private"}, Sample: "public",
			Doc: "Type of the zones that are managed."},
		{Name: "aws-zone-tags", Family: familyAWS, Providers: route53, Kind: Text, List: true, Sample: "team=dns",
			Doc: "Tags of the zones that are managed."},
		{Name: "aws-profile", Family: familyAWS, Providers: route53, Kind: Text, List: true, Sample: "production",
			Doc: "Profiles of the credentials file."},
		{Name: "aws-assume-role", Family: familyAWS, Kind: Text, Sample: "arn:aws:iam::123455567:role/external-dns",
			Doc: "Role to assume, as ARN."},
		{Name: "aws-assume-role-external-id", Family: familyAWS, Kind: Text, Secret: true, Sample: "external-id",
			Doc: "External id that the role asks for."},
		{Name: "aws-batch-change-size", Family: familyAWS, Providers: route53, Kind: Integer, Min: 1, Sample: "1000",
			Doc: "Most changes in one batch."},
		{Name: "aws-batch-change-size-bytes", Family: familyAWS, Providers: route53, Kind: Integer, Min: 1, Sample: "32000",
			Doc: "Most bytes in one batch."},
		{Name: "aws-batch-change-size-values", Family: familyAWS, Providers: route53, Kind: Integer, Min: 1, Sample: "1000",
			Doc: "Most values in one batch."},
		{Name: "aws-batch-change-interval", Family: familyAWS, Providers: route53, Kind: Duration, Sample: "1s",
			Doc: "Time between two batches."},
		{Name: "aws-evaluate-target-health", Family: familyAWS, Providers: route53, Kind: Bool, Sample: "false",
			Doc: "Let aliases follow the health of their target; on where it is not given."},
		{Name: "aws-api-retries", Family: familyAWS, Kind: Integer, Sample: "3",
			Doc: "Tries of a request before it is given up."},
		{Name: "aws-prefer-cname", Family: familyAWS, Providers: route53, Kind: Bool, Sample: "true",
			Doc: "Make CNAMEs instead of aliases."},
		{Name: "aws-zones-cache-duration", Family: familyAWS, Providers: route53, Kind: Duration, Sample: "1h",
			Doc: "How long the list of zones is remembered."},
		{Name: "aws-zone-match-parent", Family: familyAWS, Providers: route53, Kind: Bool, Sample: "true",
			Doc: "Accept zones above the domain filter, too."},
		{Name: "aws-sd-service-cleanup", Family: familyAWS, Providers: cloudMap, Kind: Bool, Sample: "true",
			Doc: "Delete Cloud Map services that became empty."},
		{Name: "aws-sd-create-tag", Family: familyAWS, Providers: cloudMap, Kind: Pair, List: true, Sample: "team=dns",
			Doc: "Tags of Cloud Map services that are made."},
	}
}
