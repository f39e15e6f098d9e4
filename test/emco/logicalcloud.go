package emco

import (
	"context"
	"errors"
	"fmt"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// The levels of logical clouds: one uses the clusters' own kubeconfigs and
// their default namespace, the other a user and a namespace of its own.
const (
	levelAdmin = "0"
	levelUser  = "1"
)

// InstantiateLogicalCloud prepares a logical cloud on each of its clusters;
// groups can be instantiated there from then on.
func (w *World) InstantiateLogicalCloud(ctx context.Context, project, name string) error {
	path := cloudOf(project, name)
	cloud, exists := read[logicalCloud](w.docs, path)
	references := list[clusterReference](w.docs, path+"/cluster-references")
	switch {
	case !exists:
		return errors.New("Logical Cloud not found") //nolint:staticcheck // EMCO's words
	case len(references) == 0:
		return errors.New("No Cluster References associated") //nolint:staticcheck // EMCO's words
	case cloud.Spec.Level == levelAdmin:
		cloud.Spec.Namespace = metav1.NamespaceDefault
		w.docs.put(path, document{value: &cloud})
	case !w.mayUse(path, cloud.Spec.Namespace):
		return errors.New("Level-1 Logical Clouds require a User Permission assigned to its primary namespace")
	default:
		for _, reference := range references {
			if err := w.makeUser(ctx, path, cloud, reference.Spec.Provider+"+"+reference.Spec.Cluster); err != nil {
				return err
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clouds[path] = true
	return nil
}

func (w *World) mayUse(cloud, namespace string) bool {
	for _, permission := range list[userPermission](w.docs, cloud+"/user-permissions") {
		if permission.Spec.Namespace == namespace {
			return true
		}
	}
	return false
}

// makeUser makes the namespace of a logical cloud in a cluster, and its user
// with the permissions; the user's kubeconfig is what rsync uses there.
func (w *World) makeUser(ctx context.Context, path string, cloud logicalCloud, cluster string) error {
	to, err := w.target(cluster, levelAdmin, "")
	if err != nil {
		return err
	}
	namespace := cloud.Spec.Namespace
	if err := to.makeNamespace(ctx, namespace); err != nil {
		return err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: cloud.Metadata.Name + "-user"}}
	_, err = to.client.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	subject := rbacv1.Subject{Kind: "ServiceAccount", Name: account.Name, Namespace: namespace}
	for i, permission := range list[userPermission](w.docs, path+"/user-permissions") {
		if err := to.permit(ctx, fmt.Sprintf("%s-%d", cloud.Metadata.Name, i), subject, permission); err != nil {
			return err
		}
	}
	token, err := to.client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	kubeconfig, err := withToken(w.kubeconfig(cluster), token.Status.Token)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.users[cluster+"/"+namespace] = kubeconfig
	return err
}

func (t *target) makeNamespace(ctx context.Context, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := t.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// permit gives a user a permission, in one namespace or in the whole cluster.
func (t *target) permit(ctx context.Context, name string, subject rbacv1.Subject, permission userPermission) error {
	called := metav1.ObjectMeta{Name: name}
	rules := []rbacv1.PolicyRule{{
		APIGroups: permission.Spec.APIGroups, Resources: permission.Spec.Resources, Verbs: permission.Spec.Verbs,
	}}
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
	rbac, subjects := t.client.RbacV1(), []rbacv1.Subject{subject}
	namespace := permission.Spec.Namespace
	var err, bound error
	if namespace == "" {
		_, err = rbac.ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: called, Rules: rules}, metav1.CreateOptions{})
		_, bound = rbac.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: called, RoleRef: role, Subjects: subjects}, metav1.CreateOptions{})
	} else {
		role.Kind = "Role"
		err = t.makeNamespace(ctx, namespace)
		if err == nil {
			_, err = rbac.Roles(namespace).Create(ctx, &rbacv1.Role{ObjectMeta: called, Rules: rules}, metav1.CreateOptions{})
		}
		_, bound = rbac.RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: called, RoleRef: role, Subjects: subjects}, metav1.CreateOptions{})
	}
	for _, err := range []error{err, bound} {
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// withToken is a kubeconfig for another user of the same cluster.
func withToken(kubeconfig []byte, token string) ([]byte, error) {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, err
	}
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token}
	}
	return clientcmd.Write(*config)
}

func (w *World) isInstantiated(project, cloud string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clouds[cloudOf(project, cloud)]
}

// kubeconfig is what CLM has of a cluster, nil for none.
func (w *World) kubeconfig(cluster string) []byte {
	provider, name, _ := strings.Cut(cluster, "+")
	found, _ := w.docs.get("cluster-providers/" + provider + "/clusters/" + name)
	return found.file
}

// target reaches a cluster with the credentials that EMCO keeps for a level and
// a namespace. On level 0 there are CLM's, for the default namespace, which an
// empty one stands for; on level 1 there is one user for each namespace of a
// logical cloud. There are no others.
func (w *World) target(cluster, level, namespace string) (*target, error) {
	var kubeconfig []byte
	if level == levelAdmin && (namespace == "" || namespace == metav1.NamespaceDefault) {
		kubeconfig = w.kubeconfig(cluster)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if level == levelUser {
		kubeconfig = w.users[cluster+"/"+namespace]
	}
	if kubeconfig == nil {
		return nil, fmt.Errorf("cluster %s, level %s, namespace %q: Get kubeconfig failed", cluster, level, namespace)
	}
	if known := w.targets[string(kubeconfig)]; known != nil {
		return known, nil
	}
	reached, err := newTarget(kubeconfig)
	if err == nil {
		w.targets[string(kubeconfig)] = reached
	}
	return reached, err
}
