package emco

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// orchestratorRoutes are the orchestrator's: documents, the registration of
// controllers, and the life of deployment intent groups.
func (w *World) orchestratorRoutes() http.Handler {
	group := "POST /v2/" + digPath
	return routes(w.docs, orchestratorCollections(), map[string]http.HandlerFunc{
		"GET /v2/" + digPath + "/intents": w.listGroupIntents,
		"POST /v2/controllers":            w.registerController,
		"GET /v2/" + digPath + "/status":  w.status,
		group + "/approve":                w.act(func(_ *http.Request, dig DIG) (any, error) { return nil, w.approve(dig) }),
		group + "/instantiate": w.act(func(r *http.Request, dig DIG) (any, error) {
			_, err := w.Instantiate(r.Context(), dig)
			return nil, err
		}),
		group + "/update": w.act(func(r *http.Request, dig DIG) (any, error) {
			_, err := w.Update(r.Context(), dig)
			return map[string]int{"revision": w.revision(dig)}, err
		}),
		group + "/rollback": w.act(w.rollbackTo),
		group + "/terminate": w.act(func(r *http.Request, dig DIG) (any, error) {
			return nil, w.Terminate(r.Context(), dig)
		}),
	})
}

// act answers what an action on a deployment intent group says. EMCO answers
// once all has been done, up to the call of rsync.
func (w *World) act(action func(*http.Request, DIG) (any, error)) http.HandlerFunc {
	return func(to http.ResponseWriter, r *http.Request) {
		value, err := action(r, digOf(r))
		switch {
		case err != nil:
			http.Error(to, err.Error(), http.StatusInternalServerError)
		case value != nil:
			answer(to, http.StatusAccepted, value)
		default:
			to.WriteHeader(http.StatusAccepted)
		}
	}
}

func digOf(r *http.Request) DIG {
	return DIG{
		Project: r.PathValue("project"), CompositeApp: r.PathValue("compositeApp"),
		Version: r.PathValue("compositeAppVersion"), Name: r.PathValue("deploymentIntentGroup"),
	}
}

// status answers what was asked for of a group, and how far rsync is with it,
// in the summary that status=deployed has.
func (w *World) status(to http.ResponseWriter, r *http.Request) {
	dig := digOf(r)
	if _, exists := w.docs.get(dig.path()); !exists {
		http.Error(to, "DeploymentIntentGroup not found", http.StatusBadRequest)
		return
	}
	now := w.life(dig)
	answered := groupStatus{Project: dig.Project, CompositeApp: dig.CompositeApp, Version: dig.Version, Name: dig.Name}
	answered.States.StatusContext = now.statusContext
	answered.States.Actions = []action{{State: now.state(), Context: now.current}}
	if now.current != "" {
		var err error
		if answered.Deployed, err = w.Rsync.State(r.Context(), now.current); err != nil {
			http.Error(to, err.Error(), http.StatusBadRequest)
			return
		}
	}
	answer(to, http.StatusOK, answered)
}

func (w *World) rollbackTo(r *http.Request, dig DIG) (any, error) {
	var body struct {
		Spec struct {
			Revision int `json:"revision,string"`
		} `json:"spec"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, fmt.Errorf("rollback: %w", err)
	}
	return nil, w.Rollback(r.Context(), dig, body.Spec.Revision)
}

// listGroupIntents answers the maps alone, without the names of the intents.
func (w *World) listGroupIntents(to http.ResponseWriter, r *http.Request) {
	var intents []map[string]string
	for _, intent := range list[groupIntent](w.docs, below(r)) {
		intents = append(intents, intent.Spec.Intent)
	}
	answer(to, http.StatusOK, map[string]any{"intent": intents})
}

func (w *World) registerController(to http.ResponseWriter, r *http.Request) {
	c := collection{shape: shape[controller], called: "Controller"}
	value, name, ok := c.accept(to, r)
	if !ok {
		return
	}
	registered, _ := value.value.(*controller)
	if err := registered.Spec.judge(); err != nil {
		http.Error(to, err.Error(), http.StatusBadRequest)
		return
	}
	if _, exists := w.docs.get("controllers/" + name); exists {
		http.Error(to, "Controller already exists", http.StatusConflict)
		return
	}
	w.docs.put("controllers/"+name, value)
	answer(to, http.StatusCreated, registered)
}

// dcmRoutes are DCM's: logical clouds. One without clusters is an error.
func (w *World) dcmRoutes() http.Handler {
	collections := dcmCollections()
	references := "GET /v2/" + cloudPath + "/cluster-references"
	return routes(w.docs, collections, map[string]http.HandlerFunc{
		references: func(to http.ResponseWriter, r *http.Request) {
			if _, exists := w.docs.get(cloudOf(r.PathValue("project"), r.PathValue("logicalCloud"))); !exists {
				http.Error(to, "Logical Cloud not found", http.StatusNotFound)
				return
			}
			if len(w.docs.in(below(r), 1)) == 0 {
				http.Error(to, "No Cluster References associated", http.StatusBadRequest)
				return
			}
			collection{null: true}.list(w.docs)(to, r)
		},
		"GET /v2/" + cloudPath + "/status": func(to http.ResponseWriter, r *http.Request) {
			var answered groupStatus
			answered.States.Actions = []action{{State: "Created"}}
			if w.isInstantiated(r.PathValue("project"), r.PathValue("logicalCloud")) {
				answered.States.Actions, answered.Deployed = []action{{State: "Instantiated"}}, "Instantiated"
			}
			answer(to, http.StatusOK, answered)
		},
		"POST /v2/" + cloudPath + "/instantiate": func(to http.ResponseWriter, r *http.Request) {
			if w.isInstantiated(r.PathValue("project"), r.PathValue("logicalCloud")) {
				http.Error(to, "The Logical Cloud is already instantiated", http.StatusConflict)
				return
			}
			if err := w.InstantiateLogicalCloud(r.Context(), r.PathValue("project"), r.PathValue("logicalCloud")); err != nil {
				http.Error(to, err.Error(), http.StatusInternalServerError)
				return
			}
			to.WriteHeader(http.StatusAccepted)
		},
	})
}

// clmRoutes are CLM's: clusters, which can be listed by a label, or with their
// labels.
func (w *World) clmRoutes() http.Handler {
	return routes(w.docs, clmCollections(), map[string]http.HandlerFunc{
		"GET /v2/" + clustersPath: func(to http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			switch {
			case strings.EqualFold(query.Get("withLabels"), "true"):
				answer(to, http.StatusOK, w.clustersWithLabels(below(r)))
			case query.Has("label"):
				answer(to, http.StatusOK, w.labelled(below(r), query.Get("label")))
			default:
				collection{}.list(w.docs)(to, r)
			}
		},
	})
}

func (w *World) clustersWithLabels(clusters string) []clusterWithLabels {
	found := []clusterWithLabels{}
	for _, c := range list[cluster](w.docs, clusters) {
		labels := list[clusterLabel](w.docs, clusters+"/"+c.Metadata.Name+"/labels")
		found = append(found, clusterWithLabels{Metadata: c.Metadata, Labels: append([]clusterLabel{}, labels...)})
	}
	return found
}

// labelled are the names of the clusters of a provider with a label.
func (w *World) labelled(clusters, label string) []string {
	names := []string{}
	for _, c := range w.clustersWithLabels(clusters) {
		if slices.Contains(c.Labels, clusterLabel{Label: label}) {
			names = append(names, c.Metadata.Name)
		}
	}
	return names
}
