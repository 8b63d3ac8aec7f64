package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"github.com/pratique/pratique/tools/go/gotypes"
)

// conversions has the types whose conversion to the internal version or back is written by hand, by package:
// `core/v1.PodSpec`.
type conversions map[string]bool

var (
	toInternal   = regexp.MustCompile(`^Convert_v[0-9][a-z0-9]*_([A-Za-z0-9]+)_To_[a-z]+_[A-Za-z0-9]+$`)
	fromInternal = regexp.MustCompile(`^Convert_[a-z]+_[A-Za-z0-9]+_To_v[0-9][a-z0-9]*_([A-Za-z0-9]+)$`)
)

func readConversions() conversions {
	found := conversions{}
	for module, glob := range sources {
		files, err := filepath.Glob(filepath.Join(moduleDirectory(module), glob, "conversion.go"))
		must(err)
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			must(err)
			for _, declaration := range parsed.Decls {
				function, ok := declaration.(*ast.FuncDecl)
				if !ok {
					continue
				}
				for _, pattern := range []*regexp.Regexp{toInternal, fromInternal} {
					if match := pattern.FindStringSubmatch(function.Name.Name); match != nil {
						found[shortName(filepath.Dir(file))+"."+match[1]] = true
					}
				}
			}
		}
	}
	return found
}

// of has the steps of bringing an object of a type into its internal type and back: where a conversion is written by
// hand, and where what is not there has the zero value then, since the internal field is no pointer.
func (c conversions) of(external, internal reflect.Type) []step {
	w := &conversionWalk{conversions: c}
	w.walk(external, internal, nil, nil)
	return w.steps
}

type conversionWalk struct {
	conversions
	steps []step
}

func (w *conversionWalk) walk(external, internal reflect.Type, path []string, above []reflect.Type) {
	external = pointee(external)
	if internal != nil {
		internal = pointee(internal)
	}
	switch external.Kind() {
	case reflect.Slice, reflect.Map:
		if internal != nil && internal.Kind() == external.Kind() {
			internal = internal.Elem()
		} else {
			internal = nil
		}
		w.walk(external.Elem(), internal, append(path[:len(path):len(path)], "*"), above)
		return
	case reflect.Struct:
	default:
		return
	}
	if reflect.PointerTo(external).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return
	}
	for _, of := range above {
		if of == external {
			return
		}
	}
	above = append(above[:len(above):len(above)], external)
	if name := shortName(external.PkgPath()) + "." + external.Name(); w.conversions[name] {
		w.steps = append(w.steps, step{Path: path, Call: name})
	}
	for i := range external.NumField() {
		member := external.Field(i)
		name, _, ok := gotypes.Tag(member)
		if !ok {
			continue
		}
		var of reflect.Type
		if internal != nil && internal.Kind() == reflect.Struct {
			if found, ok := internal.FieldByName(member.Name); ok {
				of = found.Type
			}
		}
		within := path
		if !gotypes.IsInline(member) {
			within = append(path[:len(path):len(path)], name)
			if of != nil && member.Type.Kind() == reflect.Pointer && isValue(of) {
				w.steps = append(w.steps, step{Path: within, When: "absent", Value: zero(member.Type.Elem())})
			}
		}
		w.walk(member.Type, of, within, above)
	}
}

// isValue says whether something of a type is always there.
func isValue(of reflect.Type) bool {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return false
	}
	return true
}

// zero is the zero value of a type in JSON.
func zero(of reflect.Type) any {
	text, err := json.Marshal(reflect.Zero(of).Interface())
	must(err)
	var value any
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	must(decoder.Decode(&value))
	return value
}
