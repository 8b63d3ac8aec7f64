// Command registry writes two tables about the versioned kinds of an API server: how strategic merge patches merge the
// fields of their types, and which versions are deprecated.
//
//	go run ./registry ../../../crates/pratique-schema/data/1.37
//
// For another release of Kubernetes, change the version in go.mod.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pratique/pratique/tools/go/objects/install"
)

type deprecated interface {
	APILifecycleDeprecated() (major, minor int)
}

type removed interface {
	APILifecycleRemoved() (major, minor int)
}

type replaced interface {
	APILifecycleReplacement() schema.GroupVersionKind
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: registry DIRECTORY")
	}
	patches, deprecations := map[string]bool{}, map[string]bool{}
	for _, scheme := range install.Schemes {
		for kind, of := range scheme.AllKnownTypes() {
			if kind.Version == runtime.APIVersionInternal {
				continue
			}
			walk(of, map[reflect.Type]bool{}, patches)
			deprecation(kind, of, deprecations)
		}
	}
	write("patch_strategies.txt", "# Fields that strategic merge patches merge: TYPE FIELD STRATEGIES [KEY].", patches)
	write("deprecations.txt", "# Deprecated versions: VERSION KIND SINCE UNAVAILABLE [VERSION KIND instead].", deprecations)
}

// walk collects the tags of the fields of a struct, and of all structs that it consists of.
func walk(of reflect.Type, visited map[reflect.Type]bool, lines map[string]bool) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || visited[of] {
		return
	}
	visited[of] = true
	fields(of, of, lines)
	for i := range of.NumField() {
		walk(of.Field(i).Type, visited, lines)
	}
}

// fields collects the tags of the fields of a struct, including those of embedded structs.
func fields(of, in reflect.Type, lines map[string]bool) {
	for i := range in.NumField() {
		field := in.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && (name == "" || strings.Contains(options, "inline")) {
			if field.Type.Kind() == reflect.Struct {
				fields(of, field.Type, lines)
			}
			continue
		}
		strategy := field.Tag.Get("patchStrategy")
		if strategy == "" {
			continue
		}
		parts := strings.Split(of.PkgPath(), "/")
		line := fmt.Sprintf("%s.%s %s %s", strings.Join(parts[max(0, len(parts)-2):], "/"), of.Name(), name, strategy)
		if key := field.Tag.Get("patchMergeKey"); key != "" {
			line += " " + key
		}
		lines[line] = true
	}
}

func deprecation(kind schema.GroupVersionKind, of reflect.Type, lines map[string]bool) {
	object := reflect.New(of).Interface()
	since, ok := object.(deprecated)
	if !ok || strings.HasSuffix(kind.Kind, "List") {
		return
	}
	major, minor := since.APILifecycleDeprecated()
	if major == 0 && minor == 0 {
		return
	}
	line := fmt.Sprintf("%s %s %d.%d", kind.GroupVersion(), kind.Kind, major, minor)
	unavailable := "-"
	if removal, ok := object.(removed); ok {
		if major, minor := removal.APILifecycleRemoved(); major != 0 || minor != 0 {
			unavailable = fmt.Sprintf("%d.%d", major, minor)
		}
	}
	line += " " + unavailable
	if instead, ok := object.(replaced); ok {
		if to := instead.APILifecycleReplacement(); !to.Empty() {
			line += fmt.Sprintf(" %s %s", to.GroupVersion(), to.Kind)
		}
	}
	lines[line] = true
}

func write(name, head string, lines map[string]bool) {
	sorted := make([]string, 0, len(lines))
	for line := range lines {
		sorted = append(sorted, line)
	}
	sort.Strings(sorted)
	text := head + " Made by tools/go/objects/registry; do not edit.\n" + strings.Join(sorted, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(os.Args[1], name), []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}
