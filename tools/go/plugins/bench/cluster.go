package main

import (
	"encoding/json"
	"io"

	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/apiserver/pkg/util/feature"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	controlplane "k8s.io/kubernetes/pkg/controlplane/apiserver/admission"
	"k8s.io/kubernetes/pkg/kubeapiserver/admission/exclusion"
	"k8s.io/kubernetes/pkg/kubeapiserver/options"
	quotainstall "k8s.io/kubernetes/pkg/quota/v1/install"

	// The kinds that cases have.
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
)

// dynamic are the plugins for policies and webhooks.
var dynamic = sets.New("MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook")

// pluginNames gives the plugins of a case, in the server's order: those that are named, or those that a server runs without
// flags.
func pluginNames(given json.RawMessage) ([]string, error) {
	var names []string
	if string(given) != `"default"` {
		err := json.Unmarshal(given, &names)
		return names, err
	}
	off := options.DefaultOffAdmissionPlugins()
	for _, name := range options.AllOrderedPlugins {
		if !off.Has(name) && !dynamic.Has(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// cluster is what plugins look up: a client without a server, and informers that watch it.
type cluster struct {
	client  *fake.Clientset
	factory informers.SharedInformerFactory
}

func newCluster(texts []json.RawMessage) (*cluster, error) {
	var stored []runtime.Object
	for _, text := range texts {
		object, err := decoded(text)
		if err != nil {
			return nil, err
		}
		stored = append(stored, object)
	}
	client := fake.NewSimpleClientset(stored...)
	return &cluster{client, informers.NewSharedInformerFactory(client, 0)}, nil
}

// start makes the plugins, and waits until informers know the cluster.
func (c *cluster) start(names []string) (admission.Interface, error) {
	quotas, err := quotainstall.NewQuotaConfigurationForAdmission(c.factory, nil)
	if err != nil {
		return nil, err
	}
	all := admission.NewPlugins()
	server.RegisterAllAdmissionPlugins(all)
	options.RegisterAllAdmissionPlugins(all)
	never := make(chan struct{})
	version := compatibility.DefaultComponentGlobalsRegistry.EffectiveVersionFor("kube")
	params := dynamicfake.NewSimpleDynamicClient(legacyscheme.Scheme)
	generic := initializer.New(c.client, params, c.factory, authorizerfactory.NewAlwaysAllowAuthorizer(),
		feature.DefaultFeatureGate, version, never, testrestmapper.TestOnlyStaticRESTMapper(legacyscheme.Scheme))
	given := admission.PluginInitializers{generic, controlplane.NewPluginInitializer(quotas, exclusion.Excluded())}
	chain, err := all.NewFromPlugins(names, nothingConfigured{}, given, nil)
	if err != nil {
		return nil, err
	}
	c.factory.Start(never)
	c.factory.WaitForCacheSync(never)
	return chain, nil
}

// nothingConfigured gives no plugin a configuration.
type nothingConfigured struct{}

func (nothingConfigured) ConfigFor(string) (io.Reader, error) { return nil, nil }
