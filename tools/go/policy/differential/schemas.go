package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	lock      sync.Mutex
	// The documents as they lie there, by the path of their version; none for those that do not.
	whole map[string]*document
	// What is left of them, by the path and the kinds.
	small map[string]openapi.GroupVersion
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

// of gives what kinds of a version need; nothing where the release does not serve the version.
func (d *documents) of(path string, kinds []string) (openapi.GroupVersion, error) {
	d.lock.Lock()
	defer d.lock.Unlock()
	key := path + " " + strings.Join(kinds, " ")
	if small, is := d.small[key]; is {
		return small, nil
	}
	whole, err := d.read(path)
	if err != nil || whole == nil {
		return nil, err
	}
	rest := *whole
	rest.Components.Schemas = map[string]json.RawMessage{}
	for name := range whole.Components.Schemas {
		if slices.Contains(kinds, name[strings.LastIndex(name, ".")+1:]) {
			keep(whole.Components.Schemas, name, rest.Components.Schemas)
		}
	}
	text, err := json.Marshal(rest)
	if err != nil {
		return nil, err
	}
	if d.small == nil {
		d.small = map[string]openapi.GroupVersion{}
	}
	d.small[key] = cachedDocument{path, text}
	return d.small[key], nil
}

func (d *documents) read(path string) (*document, error) {
	if whole, is := d.whole[path]; is {
		return whole, nil
	}
	if d.whole == nil {
		d.whole = map[string]*document{}
	}
	file := filepath.Join(d.directory, strings.ReplaceAll(path, "/", "__")+"_openapi.json")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		d.whole[path] = nil
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	whole := &document{}
	if err := json.Unmarshal(text, whole); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	d.whole[path] = whole
	return whole, nil
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
func (d *documents) with(custom *customKinds, requests []request) (*schemas, error) {
	of := &schemas{paths: map[string]openapi.GroupVersion{}, read: make(chan struct{})}
	kinds := map[string][]string{}
	for i := range requests {
		for _, path := range requests[i].paths() {
			if !slices.Contains(kinds[path], requests[i].Kind.Kind) {
				kinds[path] = append(kinds[path], requests[i].Kind.Kind)
			}
		}
	}
	for path, names := range kinds {
		slices.Sort(names)
		document, err := d.of(path, names)
		if err != nil {
			return nil, err
		}
		if document != nil {
			of.paths[path] = document
		}
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
