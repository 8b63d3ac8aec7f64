package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes/scheme"
)

// resources are those of the kinds that are scanned.
var resources = map[string]string{
	"ConfigMap":   "configmaps",
	"Deployment":  "deployments",
	"Pod":         "pods",
	"Role":        "roles",
	"RoleBinding": "rolebindings",
}

// scanned counts what came of objects.
type scanned struct {
	allowed, denied atomic.Int64
}

// scan evaluates the creation of each object of a file of JSON lines by the validating policies of a directory, on as many
// goroutines as there are processors, and prints how many are allowed. Objects are decoded into their Go types, as an API
// server has them; defaults, which the published modules do not have, are left out, so that this side has less to do.
func scan(arguments []string, out io.Writer) error {
	if len(arguments) != 3 {
		return errors.New("expected a directory of policies, a file of namespaces, and a file of objects")
	}
	namespaces, err := readNamespaces(arguments[1])
	if err != nil {
		return err
	}
	plugin, err := newPlugin(validating.PluginName, arguments[0], "", namespaces...)
	if err != nil {
		return err
	}
	file, err := os.Open(arguments[2])
	if err != nil {
		return err
	}
	defer file.Close()
	registry := k8sruntime.NewEquivalentResourceRegistry()
	for kind, resource := range resources {
		for _, gvk := range versions(kind) {
			registry.RegisterKindFor(gvk.GroupVersion().WithResource(resource), "", gvk)
		}
	}
	all := interfaces{scheme.Scheme, registry}
	lines := make(chan [][]byte, 2*runtime.NumCPU())
	var counts scanned
	var workers sync.WaitGroup
	failures := make(chan error, runtime.NumCPU())
	for range runtime.NumCPU() {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for batch := range lines {
				for _, line := range batch {
					if err := scanLine(plugin, all, line, &counts); err != nil {
						select {
						case failures <- err:
						default:
						}
					}
				}
			}
		}()
	}
	reader := bufio.NewScanner(file)
	reader.Buffer(make([]byte, 1<<20), 1<<24)
	var batch [][]byte
	for reader.Scan() {
		if batch = append(batch, bytes.Clone(reader.Bytes())); len(batch) == 64 {
			lines <- batch
			batch = nil
		}
	}
	lines <- batch
	close(lines)
	workers.Wait()
	select {
	case err := <-failures:
		return err
	default:
	}
	if err := reader.Err(); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(map[string]int64{
		"allowed": counts.allowed.Load(), "denied": counts.denied.Load(),
	})
}

// versions are the kinds of this name that there are in version v1.
func versions(kind string) []schema.GroupVersionKind {
	var found []schema.GroupVersionKind
	for gvk := range scheme.Scheme.AllKnownTypes() {
		if gvk.Kind == kind && gvk.Version == "v1" {
			found = append(found, gvk)
		}
	}
	return found
}

func scanLine(p *plugin, all interfaces, line []byte, counts *scanned) error {
	object, kind, err := scheme.Codecs.UniversalDeserializer().Decode(line, nil, nil)
	if err != nil {
		return err
	}
	resource, known := resources[kind.Kind]
	if !known {
		return fmt.Errorf("the resource of %s is not known", kind)
	}
	// An API server's internal objects do not say what they are.
	object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	accessor, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	who := &user.DefaultInfo{Name: "kubernetes-admin", Groups: []string{"system:authenticated"}}
	attributes := admission.NewAttributesRecord(object, nil, *kind, accessor.GetNamespace(), accessor.GetName(),
		kind.GroupVersion().WithResource(resource), "", admission.Create, nil, false, who)
	err = p.validates.Validate(context.Background(), attributes, all)
	var status apierrors.APIStatus
	switch {
	case err == nil:
		counts.allowed.Add(1)
	case errors.As(err, &status):
		counts.denied.Add(1)
	default:
		return fmt.Errorf("%s is not evaluated: %w", accessor.GetName(), err)
	}
	return nil
}

func readNamespaces(path string) ([]k8sruntime.Object, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var namespaces []k8sruntime.Object
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var namespace core.Namespace
		if err := json.Unmarshal(line, &namespace); err != nil {
			return nil, err
		}
		namespaces = append(namespaces, &namespace)
	}
	return namespaces, nil
}
