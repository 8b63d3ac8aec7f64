package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/discovery"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/openapi"
)

// plugin is one of the two policy plugins, with the static policies of a directory.
type plugin struct {
	mutates   admission.MutationInterface
	validates admission.ValidationInterface
	stop      chan struct{}
}

const configuration = "apiVersion: apiserver.config.k8s.io/v1\nkind: %sConfiguration\nstaticManifestsDir: %s\n"

func newPlugin(name, directory, document string, objects ...runtime.Object) (*plugin, error) {
	p := &plugin{stop: make(chan struct{})}
	config := strings.NewReader(fmt.Sprintf(configuration, name, directory))
	var started admission.Interface
	switch name {
	case validating.PluginName:
		made, err := validating.NewPlugin(config)
		if err != nil {
			return nil, err
		}
		p.validates, started = made, made
	case mutating.PluginName:
		made, err := mutating.NewPlugin(config)
		if err != nil {
			return nil, err
		}
		p.mutates, started = made, made
	default:
		return nil, fmt.Errorf("no plugin is named %q", name)
	}
	client := &client{fake.NewClientset(objects...), document}
	factory := informers.NewSharedInformerFactory(client, 0)
	nobody := authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return authorizer.DecisionNoOpinion, "", nil
	})
	dynamic := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
	initializer.New(client, dynamic, factory, nobody, utilfeature.DefaultFeatureGate, nil, p.stop,
		meta.NewDefaultRESTMapper(nil)).Initialize(started)
	started.(initializer.WantsManifestLoaders).SetManifestLoaders(manifestLoaders())
	if err := started.(admission.InitializationValidator).ValidateInitialization(); err != nil {
		return nil, err
	}
	factory.Start(p.stop)
	factory.WaitForCacheSync(p.stop)
	return p, nil
}

// client is a client of an API server that has the OpenAPI document of core/v1 to give.
type client struct {
	kubernetes.Interface
	document string
}

func (c *client) Discovery() discovery.DiscoveryInterfaces {
	return documents{c.Interface.Discovery(), c.document}
}

// IsWatchListSemanticsUnSupported has informers list before they watch, as a client of nothing real must.
func (c *client) IsWatchListSemanticsUnSupported() bool { return true }

type documents struct {
	discovery.DiscoveryInterfaces
	core string
}

func (d documents) OpenAPIV3() openapi.Client { return d }

func (d documents) Paths() (map[string]openapi.GroupVersion, error) {
	return map[string]openapi.GroupVersion{"api/v1": file(d.core)}, nil
}

type file string

func (f file) Schema(string) ([]byte, error) { return os.ReadFile(string(f)) }
func (f file) ServerRelativeURL() string     { return "/openapi/v3/api/v1" }

// interfaces are those of a built-in kind. Defaults are left out, as only an API server has them.
type interfaces struct {
	*runtime.Scheme
	equivalent runtime.EquivalentResourceMapper
}

func newInterfaces(kind schema.GroupVersionKind, resource schema.GroupVersionResource) interfaces {
	registry := runtime.NewEquivalentResourceRegistry()
	registry.RegisterKindFor(resource, "", kind)
	return interfaces{scheme.Scheme, registry}
}

func (i interfaces) GetObjectCreater() runtime.ObjectCreater     { return i.Scheme }
func (i interfaces) GetObjectTyper() runtime.ObjectTyper         { return i.Scheme }
func (i interfaces) GetObjectDefaulter() runtime.ObjectDefaulter { return i.Scheme }
func (i interfaces) GetObjectConvertor() runtime.ObjectConvertor { return shallow{i.Scheme} }
func (i interfaces) GetEquivalentResourceMapper() runtime.EquivalentResourceMapper {
	return i.equivalent
}

// shallow converts Pods to Pods at less than what generated code takes for it.
type shallow struct{ runtime.ObjectConvertor }

func (s shallow) Convert(from, to, context any) error {
	source, isPod := from.(*core.Pod)
	target, wantsPod := to.(*core.Pod)
	if !isPod || !wantsPod {
		return s.ObjectConvertor.Convert(from, to, context)
	}
	*target = *source
	target.SetGroupVersionKind(schema.GroupVersionKind{})
	return nil
}
