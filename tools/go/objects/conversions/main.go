// Command conversions records how the API server's own code converts objects between the versions of their kinds: from
// the version through the internal type, as admission does for a policy or webhook that matches an equivalent resource.
//
//	go run ./conversions DIRECTORY
//
// writes a file of cases for each API group, one case a line: an object, the version to convert it to, and the converted
// object or the error. The objects are generated at random, with the same result in every run, and by hand (cases.go).
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pratique/pratique/tools/go/objects/install"
)

// record is a line of the output.
type record struct {
	Kind   string          `json:"kind"`
	From   string          `json:"from"`
	To     string          `json:"to"`
	Object json.RawMessage `json:"object"`
	Expect json.RawMessage `json:"expect,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// family is the versions of a kind, which share an internal type.
type family struct {
	scheme   *runtime.Scheme
	internal schema.GroupVersionKind
	versions []schema.GroupVersionKind
}

func families() []*family {
	var found []*family
	byType := map[reflect.Type]*family{}
	seen := map[schema.GroupVersionKind]bool{}
	for _, scheme := range install.Schemes {
		var kinds []schema.GroupVersionKind
		for kind, of := range scheme.AllKnownTypes() {
			// Every group has the types of meta/v1 as well. Reviews are not objects that admission converts.
			isObject := strings.HasPrefix(of.PkgPath(), "k8s.io/api/") || strings.Contains(of.PkgPath(), "/pkg/apis/")
			isObject = isObject && !strings.HasPrefix(of.PkgPath(), "k8s.io/apimachinery/") && kind.Group != "admission.k8s.io"
			if isObject && kind.Version != runtime.APIVersionInternal && !strings.HasSuffix(kind.Kind, "List") {
				kinds = append(kinds, kind)
			}
		}
		sort.Slice(kinds, func(a, b int) bool { return name(kinds[a]) < name(kinds[b]) })
		for _, kind := range kinds {
			internal := schema.GroupVersionKind{Group: kind.Group, Version: runtime.APIVersionInternal, Kind: kind.Kind}
			if !scheme.Recognizes(internal) || seen[kind] {
				continue
			}
			seen[kind] = true
			of := scheme.AllKnownTypes()[internal]
			if byType[of] == nil {
				byType[of] = &family{scheme: scheme, internal: internal}
				found = append(found, byType[of])
			}
			byType[of].versions = append(byType[of].versions, kind)
		}
	}
	return found
}

func name(kind schema.GroupVersionKind) string { return kind.GroupVersion().String() + " " + kind.Kind }

// convert converts an object to another version, through the internal type.
func (f *family) convert(object runtime.Object, to schema.GroupVersionKind) (runtime.Object, error) {
	internal, err := f.scheme.New(f.internal)
	must(err)
	if err := f.scheme.Convert(object, internal, nil); err != nil {
		return nil, err
	}
	out, err := f.scheme.New(to)
	must(err)
	if err := f.scheme.Convert(internal, out, nil); err != nil {
		return nil, err
	}
	out.GetObjectKind().SetGroupVersionKind(to)
	return out, nil
}

func (f *family) record(object runtime.Object, to schema.GroupVersionKind) record {
	from := object.GetObjectKind().GroupVersionKind()
	r := record{Kind: from.Kind, From: from.GroupVersion().String(), To: to.GroupVersion().String(), Object: encode(object)}
	if out, err := f.convert(object, to); err != nil {
		r.Error = err.Error()
	} else {
		r.Expect = encode(out)
	}
	return r
}

func encode(v any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	must(encoder.Encode(v))
	return bytes.TrimSpace(text.Bytes())
}

// decode reads an object without defaults.
func (f *family) decode(kind schema.GroupVersionKind, text string) runtime.Object {
	object, err := f.scheme.New(kind)
	must(err)
	must(json.Unmarshal([]byte(text), object))
	object.GetObjectKind().SetGroupVersionKind(kind)
	return object
}

func main() {
	directory := os.Args[1]
	files := map[string]*bytes.Buffer{}
	for _, f := range families() {
		if len(f.versions) < 2 {
			continue
		}
		for _, from := range f.versions {
			for _, to := range f.versions {
				if from == to {
					continue
				}
				for _, r := range f.records(from, to) {
					group := from.Group
					if group == "" {
						group = "core"
					}
					if files[group] == nil {
						files[group] = &bytes.Buffer{}
					}
					files[group].Write(append(encode(r), '\n'))
				}
			}
		}
	}
	for group, text := range files {
		must(os.WriteFile(filepath.Join(directory, group+".jsonl"), text.Bytes(), 0o644))
	}
}

// records are the cases of a pair of versions: many where these differ, one where they do not.
func (f *family) records(from, to schema.GroupVersionKind) []record {
	var out []record
	seen := map[string]bool{}
	add := func(object runtime.Object) {
		// Writing an object drops empty lists and maps.
		r := f.record(f.decode(from, string(encode(object))), to)
		if !seen[string(r.Object)] {
			seen[string(r.Object)] = true
			out = append(out, r)
		}
	}
	// Templates of Pods are taken as an API server decodes them, which sets fields that have the same meaning.
	normal := func(object runtime.Object) runtime.Object {
		if same, err := f.convert(object, from); normalised[from.Kind] && err == nil {
			return same
		}
		return object
	}
	for _, text := range byHand[name(from)] {
		add(normal(f.decode(from, text)))
	}
	count := 1
	if n, ok := counts[from.Kind]; ok {
		count = n
	}
	for i := 0; i < count; i++ {
		object, err := f.scheme.New(from)
		must(err)
		newFiller(fmt.Sprintf("%s %d", name(from), i)).fill(reflect.ValueOf(object).Elem(), 0)
		object.GetObjectKind().SetGroupVersionKind(from)
		add(normal(object))
	}
	return out
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
