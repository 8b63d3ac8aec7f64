// Command objects writes the kinds of an API server's schemes as JSON: their Go types, their internal types, and the
// defaulting function that is called, or the value that is set, at each place of an object. `cargo xtask codegen` makes
// tables from it.
//
//	go run . > objects.json
//
// For another release of Kubernetes, run it with `tools/go/at-version.sh`.
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/pratique/pratique/tools/go/gotypes"
	"github.com/pratique/pratique/tools/go/objects/install"
)

// server is one of the servers that kube-apiserver consists of.
type server struct {
	scheme *runtime.Scheme
	// name is what released binaries call the scheme: it is where the scheme is made, in its module.
	name string
	// group is the only one that is served of the scheme; all others are of the first server.
	group string
}

var servers = []server{
	{legacyscheme.Scheme, "pkg/api/legacyscheme/scheme.go:30", ""},
	{install.Definitions, "pkg/apiserver/apiserver.go:56", "apiextensions.k8s.io"},
	{aggregator.Scheme, "pkg/apiserver/scheme/scheme.go:28", "apiregistration.k8s.io"},
}

// output is what the program writes.
type output struct {
	// Kinds has the type of each GROUP/VERSION/KIND.
	Kinds map[string]string `json:"kinds"`
	// Internal has the name of the internal type of each kind that has one.
	Internal map[string]string `json:"internal"`
	// Schemes has the name of the scheme of each group.
	Schemes map[string]string `json:"schemes"`
	// Types has the fields of each struct, and what other names stand for.
	Types gotypes.Types `json:"types"`
	// Defaults has the steps of defaulting of each kind that has any, in order.
	Defaults map[string][]step `json:"defaults"`
	// Conversions has the steps of converting to the internal version and back that change something.
	Conversions map[string][]step `json:"conversions"`
}

func main() {
	out := output{
		Kinds: map[string]string{}, Internal: map[string]string{}, Schemes: map[string]string{},
		Types: gotypes.Types{}, Defaults: map[string][]step{}, Conversions: map[string][]step{},
	}
	defaulters, conversions := readDefaulters(), readConversions()
	for _, server := range servers {
		for kind, of := range server.scheme.AllKnownTypes() {
			if !server.serves(kind, of) {
				continue
			}
			id := kind.Group + "/" + kind.Version + "/" + kind.Kind
			out.Kinds[id] = gotypes.Name(of)
			out.Schemes[kind.Group] = server.name
			out.Types.Add(of)
			internal := schema.GroupVersionKind{Group: kind.Group, Version: runtime.APIVersionInternal, Kind: kind.Kind}
			isList := strings.HasSuffix(kind.Kind, "List")
			if hub, err := server.scheme.New(internal); err == nil && !isMeta(of) {
				hub := reflect.TypeOf(hub).Elem()
				out.Internal[id] = gotypes.Name(hub)
				if steps := conversions.of(of, hub); len(steps) > 0 && !isList {
					out.Conversions[id] = steps
				}
			}
			if steps := defaulters.of(of); server.defaults(of) && len(steps) > 0 && !isList {
				out.Defaults[id] = steps
			}
		}
	}
	for _, of := range others {
		out.Types.Add(reflect.TypeOf(of))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	encoder.SetEscapeHTML(false)
	must(encoder.Encode(out))
}

// isMeta says whether a type is of no group's own.
func isMeta(of reflect.Type) bool {
	return strings.HasPrefix(of.PkgPath(), "k8s.io/apimachinery/")
}

// serves says whether a kind is one of this server's own. Every group has the types of meta/v1 as well; they are listed
// for the core group, where messages name them.
func (s server) serves(kind schema.GroupVersionKind, of reflect.Type) bool {
	if kind.Version == runtime.APIVersionInternal || isMeta(of) && kind.Group != "" {
		return false
	}
	for _, other := range servers {
		if other.group != "" && other.group == kind.Group {
			return other == s
		}
	}
	return s.group == ""
}

// defaults says whether a defaulter is registered for a type: some that were generated are not.
func (s server) defaults(of reflect.Type) bool {
	registered := reflect.ValueOf(s.scheme).Elem().FieldByName("defaulterFuncs")
	return registered.MapIndex(reflect.ValueOf(reflect.PointerTo(of))).IsValid()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
