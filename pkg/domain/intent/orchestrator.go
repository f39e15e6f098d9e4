package intent

// How users know the program that may deploy apps beside Signpost. Texts for users name it
// by these; only the packages that talk to it know more.
const (
	OrchestratorActor = "emco" // of events and history
	OrchestratorName  = "EMCO"
	Orchestrator      = OrchestratorName + "'s orchestrator"
	Monitor           = OrchestratorName + "'s monitor"
	Deployer          = OrchestratorName + "'s rsync (--rsync-endpoint)"

	ClusterKeeper          = OrchestratorName + "'s CLM where that keeps clusters (--emco-clm)"
	OrchestratedNamespaces = "--emco-namespaces" // the flag that allows namespaces of app contexts
)
