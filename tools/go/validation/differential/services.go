package main

import (
	"context"
	"net"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
	"k8s.io/kubernetes/pkg/registry/core/service/portallocator"
	servicestore "k8s.io/kubernetes/pkg/registry/core/service/storage"
)

// services is the storage of Services in a cluster of one network: their strategy alone allocates nothing.
var services = func() *servicestore.REST {
	_, network, err := net.ParseCIDR("10.0.0.0/24")
	must(err)
	addresses, err := ipallocator.NewInMemory(network)
	must(err)
	free, err := utilnet.ParsePortRange("30000-32767")
	must(err)
	ports, err := portallocator.NewInMemory(*free)
	must(err)
	allocators := map[api.IPFamily]ipallocator.Interface{api.IPv4Protocol: addresses}
	store, _, _, err := servicestore.NewREST(storeOptions{}, api.IPv4Protocol, allocators, ports, nil, nil, nil)
	must(err)
	return store
}()

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// validateService creates or updates a Service as a dry run.
func validateService(ctx context.Context, object, old runtime.Object) error {
	all := []string{metav1.DryRunAll}
	if old == nil {
		_, err := services.Create(ctx, object, rest.ValidateAllObjectFunc, &metav1.CreateOptions{DryRun: all})
		return err
	}
	accessor, err := meta.Accessor(old)
	if err != nil {
		return err
	}
	ctx = context.WithValue(ctx, storedKey{}, old)
	changed := rest.DefaultUpdatedObjectInfo(object)
	_, _, err = services.Update(ctx, accessor.GetName(), changed, rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc,
		false, &metav1.UpdateOptions{DryRun: all})
	return err
}

// storedKey is that of the stored object in a context.
type storedKey struct{}

// store has the object of the context.
type store struct{ storage.Interface }

func (store) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

func (store) Get(ctx context.Context, key string, options storage.GetOptions, out runtime.Object) error {
	stored, ok := ctx.Value(storedKey{}).(runtime.Object)
	switch {
	case ok:
		reflect.ValueOf(out).Elem().Set(reflect.ValueOf(stored.DeepCopyObject()).Elem())
		return nil
	case options.IgnoreNotFound:
		return nil
	default:
		return storage.NewKeyNotFoundError(key, 0)
	}
}

// storeOptions give every resource such a store.
type storeOptions struct{}

func (storeOptions) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	codec := legacyscheme.Codecs.LegacyCodec(legacyscheme.Scheme.PrioritizedVersionsForGroup(resource.Group)...)
	return generic.RESTOptions{
		StorageConfig:  (&storagebackend.Config{Codec: codec}).ForResource(resource),
		Decorator:      newStore,
		ResourcePrefix: resource.Resource,
	}, nil
}
