package trouble

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

// access are what is wrong with who asks, and not with the cluster: each makes a user
// who is not told of Machines and BareMetalHosts (`kubeconfig NAME`). The
// administrator is told everything.
var access = []lab.Trouble{
	{
		Name:   "rights-restricted",
		About:  "the user restricted may read everything but Machines and BareMetalHosts: the API answers 403",
		Break:  restrict,
		Steady: refused("restricted", http.StatusForbidden),
		Stands: -1,
	},
	{
		Name:   "api-throttled",
		About:  "the API server has no room for the user throttled who asks for Machines and BareMetalHosts: it answers 429",
		Break:  throttle,
		Steady: refused("throttled", http.StatusTooManyRequests),
		Stands: -1,
	},
}

// withheld are the resources that these users are not told of, by group.
var withheld = map[string][]string{
	machines.Group:  {machines.Resource},
	bareMetal.Group: {bareMetal.Resource},
}

const userNamespace = "on-call"

// addUser makes a ServiceAccount that may do what the ClusterRole of its name says.
func addUser(ctx context.Context, l *lab.Lab, name, role string) error {
	err := l.Create(ctx, fmt.Sprintf(`---
apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: %[2]s, namespace: %[1]s}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s-%[2]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[3]s}
subjects: [{kind: ServiceAccount, name: %[2]s, namespace: %[1]s}]
`, userNamespace, name, role))
	if err != nil {
		return err
	}
	return l.AddUser(ctx, userNamespace, name)
}

// restrict allows everything that the API serves but what is withheld: rights can be
// given only, so each resource is named.
func restrict(ctx context.Context, l *lab.Lab) error {
	disco, err := discovery.NewDiscoveryClientForConfig(l.Config())
	if err != nil {
		return err
	}
	_, lists, err := disco.ServerGroupsAndResources()
	if err != nil {
		return fmt.Errorf("discover what to allow: %w", err)
	}
	var rules strings.Builder
	for _, list := range lists {
		group, _, ok := strings.Cut(list.GroupVersion, "/")
		if !ok {
			group = ""
		}
		var names []string
		for _, r := range list.APIResources {
			if !kept(group, r.Name) {
				names = append(names, fmt.Sprintf("%q", r.Name))
			}
		}
		fmt.Fprintf(&rules, "- {apiGroups: [%q], resources: [%s], verbs: ['*']}\n", group, strings.Join(names, ", "))
	}
	role := "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: restricted}\nrules:\n" +
		rules.String() + "- {nonResourceURLs: ['*'], verbs: ['*']}\n"
	if err := l.Create(ctx, role); err != nil {
		return err
	}
	return addUser(ctx, l, "restricted", "restricted")
}

// kept says whether a resource, or a part of it, is withheld.
func kept(group, name string) bool {
	resource, _, _ := strings.Cut(name, "/")
	for _, w := range withheld[group] {
		if w == resource {
			return true
		}
	}
	return false
}

// throttle lets the user's questions for what is withheld come when the API server has
// no room for them.
func throttle(ctx context.Context, l *lab.Lab) error {
	if err := addUser(ctx, l, "throttled", "cluster-admin"); err != nil {
		return err
	}
	return l.Throttle(ctx, "throttled", func(r *http.Request) bool {
		parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/") // apis GROUP VERSION [namespaces NAME] RESOURCE
		if len(parts) > 5 && parts[3] == "namespaces" {
			parts = slices.Delete(parts, 3, 5)
		}
		return len(parts) > 3 && parts[0] == "apis" && kept(parts[1], parts[3])
	})
}

// refused says whether a user is answered with this status when asking for what is
// withheld. No client of Kubernetes asks: those wait and ask again when they are told to.
func refused(user string, status int) func(context.Context, *lab.Lab) (string, error) {
	return func(ctx context.Context, l *lab.Lab) (string, error) {
		cfg, err := l.ConfigOf(user)
		if err != nil {
			return "", err
		}
		client, err := rest.HTTPClientFor(cfg)
		if err != nil {
			return "", err
		}
		for _, res := range []schema.GroupVersionResource{machines, bareMetal} {
			url := fmt.Sprintf("%s/apis/%s/%s/%s", cfg.Host, res.Group, res.Version, res.Resource)
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			if err != nil {
				return "", err
			}
			resp, err := client.Do(req)
			if err != nil {
				return "", fmt.Errorf("ask for %s as %s: %w", res.Resource, user, err)
			}
			resp.Body.Close()
			if resp.StatusCode != status {
				return fmt.Sprintf("%s asks for %s and gets %s", user, res.Resource, resp.Status), nil
			}
		}
		return "", nil
	}
}
