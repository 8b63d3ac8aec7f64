// Command rbac makes the cases of testdata/rbac: roles and bindings, checks, and what an API server with
// --authorization-mode=RBAC answers. The rules of aggregated ClusterRoles are those that their controller sets.
//
//	go run . > ../../../testdata/rbac/cases.jsonl
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"sort"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	rbaclisters "k8s.io/client-go/listers/rbac/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
)

type check struct {
	User        string   `json:"user"`
	Groups      []string `json:"groups"`
	Verb        string   `json:"verb"`
	Path        string   `json:"path,omitempty"`
	Group       string   `json:"group,omitempty"`
	Resource    string   `json:"resource,omitempty"`
	Subresource string   `json:"subresource,omitempty"`
	Namespace   string   `json:"namespace,omitempty"`
	Name        string   `json:"name,omitempty"`
	Allowed     bool     `json:"allowed"`
	Reason      string   `json:"reason"`
}

type world struct {
	Objects []runtime.Object `json:"objects"`
	Checks  []check          `json:"checks"`
}

var random = rand.New(rand.NewSource(22))

func pick(of ...string) string { return of[random.Intn(len(of))] }

func some(most int, of ...string) []string {
	var picked []string
	for range random.Intn(most) + 1 {
		picked = append(picked, pick(of...))
	}
	return picked
}

func rules() []rbacv1.PolicyRule {
	var all []rbacv1.PolicyRule
	for range random.Intn(3) + 1 {
		if random.Intn(5) == 0 {
			all = append(all, rbacv1.PolicyRule{
				Verbs:           some(2, "get", "*", "post"),
				NonResourceURLs: some(2, "/healthz", "/metrics/*", "*", "/api**", "/"),
			})
			continue
		}
		rule := rbacv1.PolicyRule{
			Verbs:     some(2, "get", "create", "*", "use"),
			APIGroups: some(2, "", "apps", "*", "example.com"),
			Resources: some(2, "pods", "pods/exec", "*/exec", "*", "deployments", "*/scale", "pods/*", "widgets"),
		}
		if random.Intn(3) == 0 {
			rule.ResourceNames = some(2, "web", "db", "")
		}
		all = append(all, rule)
	}
	return all
}

func subjects(namespaced bool) []rbacv1.Subject {
	var all []rbacv1.Subject
	for range random.Intn(3) + 1 {
		switch random.Intn(4) {
		case 0:
			all = append(all, rbacv1.Subject{Kind: "User", APIGroup: rbacv1.GroupName, Name: pick("ann", "bob", "system:serviceaccount:shop:web")})
		case 1:
			all = append(all, rbacv1.Subject{Kind: "Group", APIGroup: rbacv1.GroupName, Name: pick("dev", "ops", "system:serviceaccounts:shop", "system:authenticated")})
		case 2:
			all = append(all, rbacv1.Subject{Kind: pick("ServiceAccount", "ServiceAccount", "Robot"), Namespace: pick("shop", "other"), Name: pick("web", "db")})
		default:
			all = append(all, rbacv1.Subject{Kind: "ServiceAccount", Name: pick("web", "db")})
		}
	}
	return all
}

func roleRef(kinds ...string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: pick(kinds...), Name: pick("a", "b", "c", "q\"uoted", "missing")}
}

func objects() []runtime.Object {
	var all []runtime.Object
	meta := metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1"}
	of := func(kind string) metav1.TypeMeta { meta.Kind = kind; return meta }
	for _, name := range []string{"a", "b", "c", "q\"uoted"} {
		role := &rbacv1.ClusterRole{TypeMeta: of("ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules()}
		if random.Intn(2) == 0 {
			role.Labels = map[string]string{"to": pick("a", "b"), "tier": pick("x", "y")}
		}
		if random.Intn(4) == 0 {
			role.Rules = nil
			role.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{
				{MatchLabels: map[string]string{"to": pick("a", "b")}},
				{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "In", Values: []string{pick("x", "y")}}}},
			}[:random.Intn(3)]}
		}
		all = append(all, role)
		if random.Intn(2) == 0 {
			all = append(all, &rbacv1.Role{TypeMeta: of("Role"), ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: pick("shop", "other")}, Rules: rules()})
		}
	}
	for index := range 2 + random.Intn(3) {
		all = append(all, &rbacv1.ClusterRoleBinding{TypeMeta: of("ClusterRoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("crb-%d", index)},
			RoleRef: roleRef("ClusterRole", "ClusterRole", "Role"), Subjects: subjects(false)})
	}
	for index := range 3 + random.Intn(3) {
		all = append(all, &rbacv1.RoleBinding{TypeMeta: of("RoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("rb-%d", index), Namespace: pick("shop", "other")},
			RoleRef: roleRef("ClusterRole", "Role", "Other"), Subjects: subjects(true)})
	}
	return all
}

func checks() []check {
	users := []check{
		{User: "ann", Groups: []string{"dev", "system:authenticated"}},
		{User: "bob", Groups: []string{"ops", "system:authenticated"}},
		{User: "system:serviceaccount:shop:web", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"}},
		{User: "system:serviceaccount:other:db", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:other"}},
		{User: "root", Groups: []string{"system:masters"}},
	}
	var all []check
	for range 24 {
		next := users[random.Intn(len(users)*3)%len(users)]
		if next.User == "root" && random.Intn(4) > 0 {
			next = users[0]
		}
		next.Verb = pick("get", "create", "use", "post")
		if random.Intn(5) == 0 {
			next.Path = pick("/healthz", "/metrics/slis", "/apis", "/")
		} else {
			next.Group = pick("", "apps", "example.com")
			next.Resource = pick("pods", "deployments", "widgets", "pods/exec")
			next.Subresource = pick("", "", "exec", "scale")
			next.Namespace = pick("shop", "other", "", "shop")
			next.Name = pick("web", "db", "")
		}
		all = append(all, next)
	}
	return all
}

// aggregated is the ClusterRoles as the controller of aggregated ones leaves them.
func aggregated(all []runtime.Object) []*rbacv1.ClusterRole {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	client := fake.NewClientset(all...)
	factory := informers.NewSharedInformerFactory(client, 0)
	controller := clusterroleaggregation.NewClusterRoleAggregation(factory.Rbac().V1().ClusterRoles(), client.RbacV1())
	lister := factory.Rbac().V1().ClusterRoles().Lister()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	go controller.Run(ctx, 1)
	list := func() []*rbacv1.ClusterRole {
		roles, err := lister.List(labels.Everything())
		if err != nil {
			panic(err)
		}
		sort.Slice(roles, func(i, j int) bool { return roles[i].Name < roles[j].Name })
		return roles
	}
	roles := list()
	for same := 0; same < 5; {
		time.Sleep(60 * time.Millisecond)
		next := list()
		same++
		if !reflect.DeepEqual(roles, next) {
			same = 0
		}
		roles = next
	}
	return roles
}

// sources gives roles by the listers of an API server, and bindings by name: a server has them in any order.
type sources struct {
	rbac.RoleGetter
	rbac.ClusterRoleGetter
	roleBindings        []*rbacv1.RoleBinding
	clusterRoleBindings []*rbacv1.ClusterRoleBinding
}

func (s *sources) ListRoleBindings(_ context.Context, namespace string) ([]*rbacv1.RoleBinding, error) {
	var found []*rbacv1.RoleBinding
	for _, binding := range s.roleBindings {
		if binding.Namespace == namespace {
			found = append(found, binding)
		}
	}
	return found, nil
}

func (s *sources) ListClusterRoleBindings(context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	return s.clusterRoleBindings, nil
}

func newAuthorizer(all []runtime.Object) authorizer.Authorizer {
	roles := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	clusterRoles := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	s := &sources{
		RoleGetter:        rbac.RoleGetter{Lister: rbaclisters.NewRoleLister(roles)},
		ClusterRoleGetter: rbac.ClusterRoleGetter{Lister: rbaclisters.NewClusterRoleLister(clusterRoles)},
	}
	for _, object := range all {
		switch object := object.(type) {
		case *rbacv1.Role:
			_ = roles.Add(object)
		case *rbacv1.RoleBinding:
			s.roleBindings = append(s.roleBindings, object)
		case *rbacv1.ClusterRoleBinding:
			s.clusterRoleBindings = append(s.clusterRoleBindings, object)
		}
	}
	for _, role := range aggregated(all) {
		_ = clusterRoles.Add(role)
	}
	return joined(authorizerfactory.NewPrivilegedGroups(user.SystemPrivilegedGroup),
		rbac.New(&s.RoleGetter, s, &s.ClusterRoleGetter, s))
}

func main() {
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	for range 25 {
		next := world{Objects: objects(), Checks: checks()}
		decides := newAuthorizer(next.Objects)
		for index := range next.Checks {
			check := &next.Checks[index]
			decision, reason, err := decides.Authorize(context.Background(), authorizer.AttributesRecord{
				User: &user.DefaultInfo{Name: check.User, Groups: check.Groups}, Verb: check.Verb, Path: check.Path,
				APIGroup: check.Group, APIVersion: "*", Resource: check.Resource, Subresource: check.Subresource,
				Namespace: check.Namespace, Name: check.Name, ResourceRequest: check.Path == "",
			})
			if err != nil {
				panic(err)
			}
			check.Allowed, check.Reason = decision == authorizer.DecisionAllow, reason
		}
		if err := encoder.Encode(next); err != nil {
			panic(err)
		}
	}
}
