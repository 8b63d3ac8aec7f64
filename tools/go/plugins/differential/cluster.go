package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	controlplane "k8s.io/kubernetes/pkg/controlplane/apiserver/admission"
	"k8s.io/kubernetes/pkg/kubeapiserver/admission/exclusion"
)

// cluster is what plugins look up: a client without a server, and informers that watch it.
type cluster struct {
	ctx          context.Context
	stop         context.CancelFunc
	client       *fake.Clientset
	factory      informers.SharedInformerFactory
	initializers admission.PluginInitializers
	// Whether there are device classes.
	hasClasses bool
}

// newCluster stores the objects as they are: as in the storage of a server, without defaults.
func newCluster(texts []json.RawMessage, allow []rule) (*cluster, error) {
	var stored []runtime.Object
	c := &cluster{}
	for i, text := range texts {
		object, kind, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", i, err)
		}
		c.hasClasses = c.hasClasses || kind.Kind == "DeviceClass"
		stored = append(stored, object)
	}
	c.client = fake.NewSimpleClientset(stored...)
	c.factory = informers.NewSharedInformerFactory(c.client, 0)
	c.ctx, c.stop = context.WithCancel(context.Background())
	quotas, err := quotaConfiguration(c.factory)
	if err != nil {
		return nil, err
	}
	mapper := testrestmapper.TestOnlyStaticRESTMapper(legacyscheme.Scheme)
	c.initializers = admission.PluginInitializers{
		genericInitializer(c, rules(allow), mapper),
		controlplane.NewPluginInitializer(quotas, exclusion.Excluded()),
	}
	return c, nil
}

// start runs the informers until their stores hold the cluster.
func (c *cluster) start() {
	c.factory.Start(c.ctx.Done())
	c.factory.WaitForCacheSync(c.ctx.Done())
	if c.hasClasses {
		// What counts claims learns of device classes from an event handler, which nothing tells of.
		time.Sleep(100 * time.Millisecond)
	}
}

// settle waits until the informers show what the plugins wrote, as they would long before a person's next request.
func (c *cluster) settle() error {
	lister := c.factory.Core().V1().ResourceQuotas().Lister()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		stored, err := c.client.CoreV1().ResourceQuotas("").List(c.ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		isSeen := true
		for i := range stored.Items {
			quota, err := lister.ResourceQuotas(stored.Items[i].Namespace).Get(stored.Items[i].Name)
			isSeen = isSeen && err == nil && equality.Semantic.DeepEqual(quota.Status, stored.Items[i].Status)
		}
		if isSeen {
			return nil
		}
	}
	return errors.New("the informer of quotas does not catch up")
}

// rule allows the checks that equal each of its fields that is not empty; with an error they fail with it.
type rule struct {
	Verb        string `json:"verb"`
	Group       string `json:"group"`
	Version     string `json:"version"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	Path        string `json:"path"`
	User        string `json:"user"`
	Reason      string `json:"reason"`
	Error       string `json:"error"`
}

// rules are an authorizer: the first that fits counts, and there is no opinion on the rest.
type rules []rule

func (r rules) Authorize(_ context.Context, check authorizer.Attributes) (authorizer.Decision, string, error) {
	for _, rule := range r {
		if !rule.fits(check) {
			continue
		}
		if rule.Error != "" {
			return authorizer.DecisionNoOpinion, rule.Reason, errors.New(rule.Error)
		}
		return authorizer.DecisionAllow, rule.Reason, nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

func (r rule) fits(check authorizer.Attributes) bool {
	wanted := []string{r.Verb, r.Group, r.Version, r.Resource, r.Subresource, r.Namespace, r.Name, r.Path, r.User}
	given := []string{check.GetVerb(), check.GetAPIGroup(), check.GetAPIVersion(), check.GetResource(), check.GetSubresource(),
		check.GetNamespace(), check.GetName(), check.GetPath(), check.GetUser().GetName()}
	for i := range wanted {
		if wanted[i] != "" && wanted[i] != given[i] {
			return false
		}
	}
	return true
}
