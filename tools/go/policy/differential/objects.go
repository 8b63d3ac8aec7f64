package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/kubernetes/scheme"
)

func isNull(text json.RawMessage) bool {
	return len(text) == 0 || bytes.Equal(text, []byte("null"))
}

// plainJSON is JSON without the escapes for HTML.
func plainJSON(value any) (json.RawMessage, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimRight(text.Bytes(), "\n"), err
}

// decode reads an object into the Go type of its kind, or of the kind given, or as a custom resource.
func decode(text json.RawMessage, kind *schema.GroupVersionKind) (runtime.Object, error) {
	if kind == nil {
		var of runtime.TypeMeta
		if err := json.Unmarshal(text, &of); err != nil {
			return nil, err
		}
		own := schema.FromAPIVersionAndKind(of.APIVersion, of.Kind)
		kind = &own
	}
	if !scheme.Scheme.Recognizes(*kind) {
		object := &unstructured.Unstructured{}
		return object, object.UnmarshalJSON(text)
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(text, kind, nil)
	return object, err
}

// decodeAs reads the object of a request. An API server's internal objects do not say what they are.
func decodeAs(text json.RawMessage, kind schema.GroupVersionKind) (runtime.Object, error) {
	if isNull(text) {
		return nil, nil
	}
	object, err := decode(text, &kind)
	if err != nil {
		return nil, err
	}
	if _, custom := object.(*unstructured.Unstructured); !custom {
		object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return object, nil
}

// encodeAs writes the object of a request.
func encodeAs(object runtime.Object, kind schema.GroupVersionKind) (json.RawMessage, error) {
	if object == nil || reflect.ValueOf(object).IsNil() {
		return nil, nil
	}
	if _, custom := object.(*unstructured.Unstructured); !custom {
		object = object.DeepCopyObject()
		object.GetObjectKind().SetGroupVersionKind(kind)
	}
	return plainJSON(object)
}

// customKinds are what definitions of custom resources define.
type customKinds struct {
	definitions []*extensions.CustomResourceDefinition
}

func (k *customKinds) define(text json.RawMessage) error {
	definition := &extensions.CustomResourceDefinition{}
	if err := json.Unmarshal(text, definition); err != nil {
		return err
	}
	extensions.SetDefaults_CustomResourceDefinition(definition)
	extensions.SetDefaults_CustomResourceDefinitionSpec(&definition.Spec)
	k.definitions = append(k.definitions, definition)
	return nil
}

func served(definition *extensions.CustomResourceDefinition, act func(schema.GroupVersion, *extensions.CustomResourceDefinitionVersion)) {
	for i := range definition.Spec.Versions {
		version := &definition.Spec.Versions[i]
		if version.Served {
			act(schema.GroupVersion{Group: definition.Spec.Group, Version: version.Name}, version)
		}
	}
}

func (k *customKinds) listKinds() map[schema.GroupVersionResource]string {
	kinds := map[schema.GroupVersionResource]string{}
	for _, definition := range k.definitions {
		names := definition.Spec.Names
		served(definition, func(version schema.GroupVersion, _ *extensions.CustomResourceDefinitionVersion) {
			kinds[version.WithResource(names.Plural)] = names.Kind + "List"
		})
	}
	return kinds
}

// mapper knows the kinds that params may have.
func (k *customKinds) mapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	core := schema.GroupVersion{Version: "v1"}
	mapper.Add(core.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	mapper.Add(core.WithKind("Namespace"), meta.RESTScopeRoot)
	for _, definition := range k.definitions {
		var scope meta.RESTScope = meta.RESTScopeNamespace
		if definition.Spec.Scope == extensions.ClusterScoped {
			scope = meta.RESTScopeRoot
		}
		names := definition.Spec.Names
		served(definition, func(version schema.GroupVersion, _ *extensions.CustomResourceDefinitionVersion) {
			mapper.AddSpecific(version.WithKind(names.Kind), version.WithResource(names.Plural), version.WithResource(names.Singular), scope)
		})
	}
	return mapper
}

// builtin are the built-in resources that requests are about.
var builtin = []struct{ group, version, resource, subresource, kind string }{
	{"", "v1", "pods", "", "Pod"},
	{"", "v1", "pods", "status", "Pod"},
	{"", "v1", "pods", "ephemeralcontainers", "Pod"},
	{"", "v1", "configmaps", "", "ConfigMap"},
	{"", "v1", "secrets", "", "Secret"},
	{"", "v1", "services", "", "Service"},
	{"", "v1", "namespaces", "", "Namespace"},
	{"", "v1", "namespaces", "status", "Namespace"},
	{"", "v1", "nodes", "", "Node"},
	{"apps", "v1", "deployments", "", "Deployment"},
	{"apps", "v1", "deployments", "status", "Deployment"},
}

func (k *customKinds) equivalents() runtime.EquivalentResourceMapper {
	registry := runtime.NewEquivalentResourceRegistry()
	for _, b := range builtin {
		version := schema.GroupVersion{Group: b.group, Version: b.version}
		registry.RegisterKindFor(version.WithResource(b.resource), b.subresource, version.WithKind(b.kind))
	}
	scale := schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}
	registry.RegisterKindFor(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, "scale", scale)
	registry.RegisterKindFor(schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "exec",
		schema.GroupVersionKind{Version: "v1", Kind: "PodExecOptions"})
	for _, definition := range k.definitions {
		names := definition.Spec.Names
		served(definition, func(version schema.GroupVersion, own *extensions.CustomResourceDefinitionVersion) {
			resource, kind := version.WithResource(names.Plural), version.WithKind(names.Kind)
			registry.RegisterKindFor(resource, "", kind)
			if own.Subresources != nil && own.Subresources.Status != nil {
				registry.RegisterKindFor(resource, "status", kind)
			}
			if own.Subresources != nil && own.Subresources.Scale != nil {
				registry.RegisterKindFor(resource, "scale", scale)
			}
		})
	}
	return registry
}

// interfaces are what plugins do with the objects of a kind. Defaults are left out: the code that sets them is in no
// published module.
type interfaces struct {
	runtime.ObjectCreater
	runtime.ObjectTyper
	runtime.ObjectConvertor
	equivalent runtime.EquivalentResourceMapper
}

func (k *customKinds) interfaces(kind schema.GroupVersionKind, equivalent runtime.EquivalentResourceMapper) admission.ObjectInterfaces {
	if scheme.Scheme.Recognizes(kind) {
		return interfaces{scheme.Scheme, scheme.Scheme, same{scheme.Scheme}, equivalent}
	}
	own := interfaces{creater{}, crdserverscheme.NewUnstructuredObjectTyper(), nil, equivalent}
	for _, definition := range k.definitions {
		if definition.Spec.Group == kind.Group && definition.Spec.Names.Kind == kind.Kind {
			if safe, _, err := converters.NewConverter(definition); err == nil {
				own.ObjectConvertor = safe
			}
		}
	}
	return own
}

func (i interfaces) GetObjectCreater() runtime.ObjectCreater     { return i.ObjectCreater }
func (i interfaces) GetObjectTyper() runtime.ObjectTyper         { return i.ObjectTyper }
func (i interfaces) GetObjectDefaulter() runtime.ObjectDefaulter { return defaulter{} }
func (i interfaces) GetObjectConvertor() runtime.ObjectConvertor { return i.ObjectConvertor }
func (i interfaces) GetEquivalentResourceMapper() runtime.EquivalentResourceMapper {
	return i.equivalent
}

type defaulter struct{}

func (defaulter) Default(runtime.Object) {}

type creater struct{}

func (creater) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object, nil
}

var converters = func() *conversion.CRConverterFactory {
	factory, err := conversion.NewCRConverterFactory(nil, func(r webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver { return r })
	if err != nil {
		panic(err)
	}
	return factory
}()

// same converts objects of built-in kinds to what they are, as internal objects are not published: a Go type without its
// kind is its own internal object. Versions of a kind have the same JSON.
type same struct{ runtime.ObjectConvertor }

func (same) Convert(from, to, _ any) error {
	source, isObject := from.(runtime.Object)
	own, other := reflect.TypeOf(from), reflect.TypeOf(to)
	switch {
	case isObject && own == other:
		reflect.ValueOf(to).Elem().Set(reflect.ValueOf(source.DeepCopyObject()).Elem())
	case isObject && own.Elem().Name() == other.Elem().Name():
		text, err := json.Marshal(source)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, to); err != nil {
			return err
		}
	default:
		return fmt.Errorf("converting (%T) to (%T): unknown conversion", from, to)
	}
	to.(runtime.Object).GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return nil
}
