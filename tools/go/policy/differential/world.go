package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/openapi"
)

// world is policies, what they may read, and requests that meet them.
type world struct {
	// Policies and bindings of manifests.
	Static []json.RawMessage `json:"static"`
	// Policies and bindings of the API.
	API []json.RawMessage `json:"api"`
	// Namespaces, params and definitions of custom resources.
	Objects []json.RawMessage `json:"objects"`
	// What the authorizer allows.
	Allow []rule `json:"allow"`
	// The requests, each by itself.
	Requests []request `json:"requests"`
	// Set everything up and ask so many times; 0 is once.
	Times int `json:"times"`
}

// setting is what all worlds have in common.
type setting struct {
	// An empty directory, for the plugins to watch.
	empty     string
	documents *documents
}

// cluster is the two plugins, set up in a world.
type cluster struct {
	chain      admission.Interface
	custom     *customKinds
	equivalent runtime.EquivalentResourceMapper
	schemas    *schemas
	stop       chan struct{}
}

func (s setting) outcomes(w *world) ([]json.RawMessage, error) {
	c, err := s.start(w)
	if err != nil {
		return nil, err
	}
	defer close(c.stop)
	found := make([]json.RawMessage, 0, len(w.Requests))
	for i := range w.Requests {
		text, err := c.answer(&w.Requests[i])
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
		found = append(found, text)
	}
	return found, nil
}

// answer is the outcome of a request, or how it crashed: a server ends the request without an answer then, and goes on.
func (c *cluster) answer(r *request) (text json.RawMessage, err error) {
	defer func() {
		if crash := recover(); crash != nil {
			text, err = plainJSON(map[string]string{"crash": fmt.Sprint(crash)})
		}
	}()
	outcome, err := c.admit(r)
	if err != nil {
		return nil, err
	}
	return plainJSON(outcome)
}

func (s setting) start(w *world) (c *cluster, err error) {
	static, err := readPolicies(w.Static)
	if err != nil {
		return nil, fmt.Errorf("static: %w", err)
	}
	if err := static.checkRelease(); err != nil {
		return nil, err
	}
	stored, err := readPolicies(w.API)
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	custom := &customKinds{}
	typed := stored.objects()
	var dynamic []runtime.Object
	for _, text := range w.Objects {
		object, err := decode(text, nil)
		if err != nil {
			return nil, err
		}
		if _, is := object.(*unstructured.Unstructured); is {
			kind := object.GetObjectKind().GroupVersionKind()
			if kind.Group == extensions.GroupName {
				if err := custom.define(text); err != nil {
					return nil, err
				}
				continue
			}
			dynamic = append(dynamic, object)
			continue
		}
		typed = append(typed, object)
	}
	c = &cluster{custom: custom, equivalent: custom.equivalents(), stop: make(chan struct{})}
	stop := c.stop
	defer func() {
		if err != nil {
			close(stop)
		}
	}()
	schemas, err := s.documents.with(custom, w.Requests)
	if err != nil {
		return nil, err
	}
	client := &client{fake.NewSimpleClientset(typed...), schemas}
	factory := informers.NewSharedInformerFactory(client, 0)
	// With what the plugins wait for already there, they need not wait.
	if err := list(factory, c.stop); err != nil {
		return nil, err
	}
	configurations := configurations{}
	for name, wanted := range map[string]bool{
		mutating.PluginName:   len(static.mutating) > 0,
		validating.PluginName: len(static.validating) > 0,
	} {
		if wanted {
			configurations[name] = fmt.Sprintf(configuration, name, s.empty)
		}
	}
	params := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), custom.listKinds())
	for _, object := range dynamic {
		if err := store(params, custom.mapper(), object); err != nil {
			return nil, err
		}
	}
	plugins := admission.NewPlugins()
	mutating.Register(plugins)
	validating.Register(plugins)
	initializers := admission.PluginInitializers{
		with{static},
		genericInitializer(client, params, factory, rules(w.Allow), c.stop, custom.mapper()),
	}
	names := []string{mutating.PluginName, validating.PluginName}
	chain, err := plugins.NewFromPlugins(names, configurations, initializers, nil)
	if err != nil {
		return nil, err
	}
	if err := watched(params, stored.customParams(custom.mapper())); err != nil {
		return nil, err
	}
	c.chain, c.schemas = admission.WithAudit(chain), schemas
	<-schemas.read
	// It is read when the lock is free again, which is not signalled.
	time.Sleep(time.Millisecond)
	return c, nil
}

// store adds a custom resource under the name of its resource: by itself, the client would guess that from the kind.
func store(client *dynamicfake.FakeDynamicClient, mapper meta.RESTMapper, object runtime.Object) error {
	kind := object.GetObjectKind().GroupVersionKind()
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return client.Tracker().Add(object)
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	return client.Tracker().Create(mapping.Resource, object, accessor.GetNamespace())
}

// list starts the informers that the plugins will ask for, and waits until they have listed.
func list(factory informers.SharedInformerFactory, stop <-chan struct{}) error {
	registered := factory.Admissionregistration().V1()
	synced := []func() bool{
		registered.ValidatingAdmissionPolicies().Informer().HasSynced,
		registered.ValidatingAdmissionPolicyBindings().Informer().HasSynced,
		factory.Core().V1().Namespaces().Informer().HasSynced,
		factory.Core().V1().ConfigMaps().Informer().HasSynced,
	}
	for _, informer := range mutatingInformers(factory) {
		synced = append(synced, informer.HasSynced)
	}
	factory.Start(stop)
	return wait(func() bool {
		for _, has := range synced {
			if !has() {
				return false
			}
		}
		return true
	})
}

// watched waits until the plugins watch the params that are custom resources, each as often as told. They wait for a
// second only before they refuse what needs them, which is too short on a busy machine.
func watched(client *dynamicfake.FakeDynamicClient, often map[schema.GroupVersionResource]int) error {
	return wait(func() bool {
		seen := map[schema.GroupVersionResource]int{}
		for _, action := range client.Actions() {
			if action.GetVerb() == "watch" {
				seen[action.GetResource()]++
			}
		}
		for resource, count := range often {
			if seen[resource] < count {
				return false
			}
		}
		return true
	})
}

func wait(is func() bool) error {
	for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(time.Millisecond / 2) {
		if is() {
			return nil
		}
	}
	return context.DeadlineExceeded
}

const configuration = "apiVersion: apiserver.config.k8s.io/v1\nkind: %sConfiguration\nstaticManifestsDir: %s\n"

type configurations map[string]string

func (c configurations) ConfigFor(name string) (io.Reader, error) {
	if text, has := c[name]; has {
		return strings.NewReader(text), nil
	}
	return nil, nil
}

// reviews are the resources that no policy sees.
var reviews = []schema.GroupResource{
	{Group: "authentication.k8s.io", Resource: "selfsubjectreviews"},
	{Group: "authentication.k8s.io", Resource: "tokenreviews"},
	{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"},
	{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"},
	{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"},
	{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"},
}

// with gives plugins what an API server gives them besides.
type with struct {
	static *policies
}

func (w with) Initialize(plugin admission.Interface) {
	w.static.give(plugin)
	if wants, does := plugin.(initializer.WantsExcludedAdmissionResources); does {
		wants.SetExcludedAdmissionResources(reviews)
	}
}

// client is a client of an API server that has OpenAPI documents to give.
type client struct {
	kubernetes.Interface
	schemas *schemas
}

func (c *client) Discovery() discoveryClient {
	return discovered{c.Interface.Discovery(), c.schemas}
}

// IsWatchListSemanticsUnSupported has informers list before they watch, as a client of nothing real must.
func (c *client) IsWatchListSemanticsUnSupported() bool { return true }

type discovered struct {
	discoveryClient
	schemas *schemas
}

func (d discovered) OpenAPIV3() openapi.Client { return d.schemas }
