package emco

// What EMCO keeps of the bodies that it is sent, and answers: other fields get
// lost, and absent ones come back empty.

type metadata struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	UserData1   string `json:"userData1"`
	UserData2   string `json:"userData2"`
}

// named is a document without a spec: a project, an app, a generic placement
// intent, a cluster provider.
type named struct {
	Metadata metadata `json:"metadata"`
}

type compositeApp struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Version string `json:"compositeAppVersion"`
	} `json:"spec"`
}

type deploymentIntentGroup struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Profile        string           `json:"compositeProfile"`
		Version        string           `json:"version"` // the release
		OverrideValues []overrideValues `json:"overrideValues"`
		LogicalCloud   string           `json:"logicalCloud"`
	} `json:"spec"`
}

type overrideValues struct {
	App    string            `json:"app"`
	Values map[string]string `json:"values"`
}

// groupIntent names the intent of each controller that takes part.
type groupIntent struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Intent map[string]string `json:"intent"`
	} `json:"spec"`
}

// groupStatus is how far a group or a logical cloud is. Of its actions there is
// only the last.
type groupStatus struct {
	Project      string `json:"project,omitempty"`
	CompositeApp string `json:"compositeApp,omitempty"`
	Version      string `json:"compositeAppVersion,omitempty"`
	Name         string `json:"name,omitempty"`
	States       struct {
		StatusContext string   `json:"statusctxid"`
		Actions       []action `json:"actions"`
	} `json:"states"`
	Deployed string `json:"deployedStatus,omitempty"`
}

type action struct {
	State   string `json:"state"`
	Context string `json:"instance"`
}

type appIntent struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		App    string    `json:"app,omitempty"`
		Intent placement `json:"intent,omitzero"`
	} `json:"spec"`
}

// placement says where an app goes: to all of these, and to one of those.
type placement struct {
	AllOf []allOf `json:"allOf,omitempty"`
	AnyOf []anyOf `json:"anyOf,omitempty"`
}

type allOf struct {
	Provider string  `json:"clusterProvider,omitempty"`
	Cluster  string  `json:"cluster,omitempty"`
	Label    string  `json:"clusterLabel,omitempty"`
	AnyOf    []anyOf `json:"anyOf,omitempty"`
}

type anyOf struct {
	Provider string `json:"clusterProvider,omitempty"`
	Cluster  string `json:"cluster,omitempty"`
	Label    string `json:"clusterLabel,omitempty"`
}

type controller struct {
	Metadata metadata       `json:"metadata"`
	Spec     controllerSpec `json:"spec"`
}

type controllerSpec struct {
	Host     string `json:"host"`
	Port     int    `json:"port"`
	Type     string `json:"type"` // action or placement
	Priority int    `json:"priority"`
}

type logicalCloud struct {
	Metadata metadata         `json:"metadata"`
	Spec     logicalCloudSpec `json:"spec"`
}

type logicalCloudSpec struct {
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
	Level     string            `json:"level"`
	User      struct {
		UserName string `json:"userName"`
		Type     string `json:"type"`
	} `json:"user"`
}

type clusterReference struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Provider       string `json:"clusterProvider"`
		Cluster        string `json:"cluster"`
		LoadBalancerIP string `json:"loadBalancerIP"`
		Certificate    string `json:"certificate"`
	} `json:"spec"`
}

// userPermission is what the user of a logical cloud may do; without a
// namespace it holds for the whole cluster.
type userPermission struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Namespace string   `json:"namespace"`
		APIGroups []string `json:"apiGroups"`
		Resources []string `json:"resources"`
		Verbs     []string `json:"verbs"`
	} `json:"spec"`
}

// kvPairs are those of a logical cloud, or of a cluster.
type kvPairs struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		KV []map[string]any `json:"kv"`
	} `json:"spec"`
}

type cluster struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		GitOps struct {
			Type            string `json:"gitOpsType"`
			ReferenceObject string `json:"gitOpsReferenceObject"`
			ResourceObject  string `json:"gitOpsResourceObject"`
		} `json:"gitOps"`
	} `json:"spec"`
}

type clusterLabel struct {
	Label string `json:"clusterLabel"`
}

type clusterWithLabels struct {
	Metadata metadata       `json:"metadata"`
	Labels   []clusterLabel `json:"labels"`
}
