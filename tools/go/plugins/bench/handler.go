package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	core "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/capabilities"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// handled is a request as it arrives: a body, before the server's own handler of such requests.
type handled struct {
	cluster *cluster
	chain   admission.Interface
	scope   *handlers.RequestScope
	info    *request.RequestInfo
	asked   *user.DefaultInfo
	path    string
	body    []byte
}

func newHandled(given *setup) (*handled, error) {
	capabilities.Setup(true, 0)
	cluster, chain, err := started(given)
	if err != nil {
		return nil, err
	}
	asked := &given.Request
	kind, resource := schema.GroupVersionKind(asked.Kind), schema.GroupVersionResource(asked.Resource)
	scope, err := scopeOf(kind, resource)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	if err := json.Compact(&body, asked.Object.Raw); err != nil {
		return nil, err
	}
	return &handled{
		cluster: cluster,
		chain:   chain,
		scope:   scope,
		info: &request.RequestInfo{
			IsResourceRequest: true, Verb: "create", APIGroup: kind.Group, APIVersion: kind.Version,
			Resource: resource.Resource, Namespace: asked.Namespace,
		},
		asked: requester(asked),
		path:  "/api/v1/namespaces/" + asked.Namespace + "/" + resource.Resource + "?dryRun=All&fieldValidation=Strict",
		body:  body.Bytes(),
	}, nil
}

func scopeOf(kind schema.GroupVersionKind, resource schema.GroupVersionResource) (*handlers.RequestScope, error) {
	scheme := legacyscheme.Scheme
	internal := schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal}
	unsafe := runtime.UnsafeObjectConvertor(scheme)
	manager, err := managedfields.NewDefaultFieldManager(untracked{}, unsafe, scheme, scheme, kind, internal, "", nil)
	if err != nil {
		return nil, err
	}
	return &handlers.RequestScope{
		Namer:      handlers.ContextBasedNaming{Namer: runtime.Namer(meta.NewAccessor())},
		Serializer: legacyscheme.Codecs, ParameterCodec: legacyscheme.ParameterCodec,
		Creater: scheme, Convertor: scheme, Defaulter: scheme, Typer: scheme, UnsafeConvertor: unsafe,
		EquivalentResourceMapper: runtime.NewEquivalentResourceRegistry(),
		TableConvertor:           rest.NewDefaultTableConvertor(resource.GroupResource()),
		FieldManager:             manager,
		Resource:                 resource, Kind: kind,
		HubGroupVersion: internal, MetaGroupVersion: schema.GroupVersion{Version: "v1"},
		MaxRequestBodyBytes: 3 << 20,
	}, nil
}

// untracked leaves out who manages which fields, which is no part of the work: the manager goes on without.
type untracked struct{}

var errUntracked = errors.New("not tracked")

func (untracked) ObjectToTyped(runtime.Object, ...typed.ValidationOptions) (*typed.TypedValue, error) {
	return nil, errUntracked
}

func (untracked) TypedToObject(*typed.TypedValue) (runtime.Object, error) { return nil, errUntracked }

// podStorage does with a new Pod what a registry does before the storage is asked.
type podStorage struct{}

func (podStorage) New() runtime.Object { return &core.Pod{} }

func (podStorage) Destroy() {}

func (podStorage) Create(ctx context.Context, object runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	rest.FillObjectMetaSystemFields(accessor)
	if err := rest.BeforeCreate(pod.Strategy, ctx, object); err != nil {
		return nil, err
	}
	if err := validate(ctx, object.DeepCopyObject()); err != nil {
		return nil, err
	}
	return object, nil
}

// once gives the answer to the request.
func (h *handled) once() (*httptest.ResponseRecorder, error) {
	ctx, err := recorded()
	if err != nil {
		return nil, err
	}
	ctx = request.WithRequestInfo(request.WithUser(ctx, h.asked), h.info)
	asked, err := http.NewRequestWithContext(ctx, http.MethodPost, h.path, bytes.NewReader(h.body))
	if err != nil {
		return nil, err
	}
	asked.Header.Set("Content-Type", "application/json")
	asked.Header.Set("Accept", "application/json")
	answer := httptest.NewRecorder()
	// A handler for each request, as the installer makes them: it wraps its plugins once more each time it is called.
	handlers.CreateResource(podStorage{}, h.scope, h.chain)(answer, asked)
	return answer, nil
}

// batch answers the request so many times.
func (h *handled) batch(size int, now func() time.Duration) time.Duration {
	began := now()
	for range size {
		_, _ = h.once()
	}
	taken := now() - began
	h.cluster.client.ClearActions()
	return taken
}

// facts is what becomes of the request, without what is new each time.
func (h *handled) facts() (map[string]any, error) {
	answer, err := h.once()
	if err != nil {
		return nil, err
	}
	text := generated.ReplaceAll(answer.Body.Bytes(), []byte(`kube-api-access-xxxxx"`))
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, err
	}
	if answer.Code != http.StatusCreated {
		return map[string]any{"allowed": false, "message": object["message"], "object": nil}, nil
	}
	if metadata, ok := object["metadata"].(map[string]any); ok {
		for _, name := range []string{"uid", "creationTimestamp"} {
			delete(metadata, name)
		}
	}
	return map[string]any{"allowed": true, "message": "", "object": object}, nil
}
