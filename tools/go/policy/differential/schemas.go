package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/openapi"
)

// documents are the OpenAPI documents of the built-in types, each without what the kinds of requests do not need: the
// plugin reads a document anew in each world.
type documents struct {
	directory string
	once      sync.Once
	read      map[string]openapi.GroupVersion
	err       error
}

// wanted are the schemas that requests need, by the path of their document.
var wanted = map[string][]string{
	"api/v1": {
		"io.k8s.api.core.v1.Pod", "io.k8s.api.core.v1.ConfigMap", "io.k8s.api.core.v1.Secret",
		"io.k8s.api.core.v1.Service", "io.k8s.api.core.v1.Namespace", "io.k8s.api.core.v1.Node",
	},
	"apis/apps/v1":        {"io.k8s.api.apps.v1.Deployment"},
	"apis/autoscaling/v1": {"io.k8s.api.autoscaling.v1.Scale"},
}

// document is an OpenAPI document with schemas only.
type document struct {
	OpenAPI    string          `json:"openapi"`
	Info       json.RawMessage `json:"info"`
	Paths      struct{}        `json:"paths"`
	Components struct {
		Schemas map[string]json.RawMessage `json:"schemas"`
	} `json:"components"`
}

func (d *documents) load() {
	d.read = map[string]openapi.GroupVersion{}
	for path, names := range wanted {
		file := filepath.Join(d.directory, strings.ReplaceAll(path, "/", "__")+"_openapi.json")
		text, err := os.ReadFile(file)
		if err != nil {
			d.err = err
			return
		}
		var whole document
		if err := json.Unmarshal(text, &whole); err != nil {
			d.err = fmt.Errorf("%s: %w", file, err)
			return
		}
		all := whole.Components.Schemas
		whole.Components.Schemas = map[string]json.RawMessage{}
		for _, name := range names {
			keep(all, name, whole.Components.Schemas)
		}
		small, err := json.Marshal(whole)
		if err != nil {
			d.err = err
			return
		}
		d.read[path] = cachedDocument{path, small}
	}
}

// keep takes over a schema and those that it refers to.
func keep(all map[string]json.RawMessage, name string, kept map[string]json.RawMessage) {
	text, is := all[name]
	if _, has := kept[name]; has || !is {
		return
	}
	kept[name] = text
	const reference = `"#/components/schemas/`
	for rest := string(text); ; {
		_, after, found := strings.Cut(rest, reference)
		if !found {
			return
		}
		name, _, _ := strings.Cut(after, `"`)
		keep(all, name, kept)
		rest = after
	}
}

// with gives the documents of a world.
func (d *documents) with(custom *customKinds) (*schemas, error) {
	d.once.Do(d.load)
	if d.err != nil {
		return nil, d.err
	}
	of := &schemas{paths: map[string]openapi.GroupVersion{}, read: make(chan struct{})}
	for path, document := range d.read {
		of.paths[path] = document
	}
	for _, definition := range custom.definitions {
		served(definition, func(version schema.GroupVersion, _ *extensions.CustomResourceDefinitionVersion) {
			path := "apis/" + version.String()
			of.paths[path] = builtDocument{path, version.Version, definition}
		})
	}
	return of, nil
}

// schemas are the documents of a world; read is closed when the plugin has asked which there are.
type schemas struct {
	paths map[string]openapi.GroupVersion
	once  sync.Once
	read  chan struct{}
}

func (s *schemas) Paths() (map[string]openapi.GroupVersion, error) {
	s.once.Do(func() { close(s.read) })
	return s.paths, nil
}

type cachedDocument struct {
	path string
	text []byte
}

func (t cachedDocument) Schema(string) ([]byte, error) { return t.text, nil }
func (t cachedDocument) ServerRelativeURL() string     { return "/openapi/v3/" + t.path }

// builtDocument is built when it is asked for: most worlds need none.
type builtDocument struct {
	path, version string
	definition    *extensions.CustomResourceDefinition
}

func (b builtDocument) Schema(string) ([]byte, error) {
	built, err := builder.BuildOpenAPIV3(b.definition, b.version, builder.Options{V2: false})
	if err != nil {
		return nil, err
	}
	return json.Marshal(built)
}

func (b builtDocument) ServerRelativeURL() string { return "/openapi/v3/" + b.path }
