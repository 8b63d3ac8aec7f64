// Command openapi writes the OpenAPI documents of a release as its server has them: those in its sources, with the values of
// enumerations, which the sources leave out there and have in the generated functions.
//
//	go run ./openapi DIRECTORY
package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: openapi DIRECTORY")
	}
	listed, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").Output()
	must(err)
	module := strings.TrimSpace(string(listed))
	documents, err := filepath.Glob(filepath.Join(module, "api/openapi-spec/v3/*.json"))
	must(err)
	enums := readEnums(filepath.Join(module, "pkg/generated/openapi/zz_generated.openapi.go"))
	for _, path := range documents {
		text, err := os.ReadFile(path)
		must(err)
		var document map[string]any
		must(json.Unmarshal(text, &document))
		components, _ := document["components"].(map[string]any)
		schemas, _ := components["schemas"].(map[string]any)
		for name, schema := range schemas {
			schema, _ := schema.(map[string]any)
			properties, _ := schema["properties"].(map[string]any)
			for field, property := range properties {
				if values := enums[functionName(name)][field]; len(values) > 0 {
					property.(map[string]any)["enum"] = values
				}
			}
		}
		text, err = json.Marshal(document)
		must(err)
		must(os.WriteFile(filepath.Join(os.Args[1], filepath.Base(path)), text, 0o644))
	}
}

// functionName is what generated code calls the schema of a type: of io.k8s.api.core.v1.Pod, schema_k8sio_api_core_v1_Pod.
// Upstream: k8s.io/kube-openapi/pkg/generators, with the last four parts of a package's path.
func functionName(name string) string {
	words := strings.Split(name, ".")
	if len(words) > 2 && words[0] == "io" && words[1] == "k8s" {
		words = append([]string{"k8sio"}, words[2:]...)
	}
	return "schema_" + strings.Join(words[max(0, len(words)-5):], "_")
}

// readEnums has the values of the fields of each schema whose values are enumerated.
func readEnums(path string) map[string]map[string][]string {
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	must(err)
	found := map[string]map[string][]string{}
	for _, declaration := range parsed.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok && strings.HasPrefix(function.Name.Name, "schema_") {
			found[function.Name.Name] = enumsOf(function)
		}
	}
	return found
}

// enumsOf looks for "field": {SchemaProps: spec.SchemaProps{…, Enum: []interface{}{"A", "B"}}}.
func enumsOf(function *ast.FuncDecl) map[string][]string {
	found := map[string][]string{}
	ast.Inspect(function, func(node ast.Node) bool {
		pair, ok := node.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		field, isText := text(pair.Key)
		schema, isSchema := pair.Value.(*ast.CompositeLit)
		if !isText || !isSchema {
			return true
		}
		if props, ok := member(schema, "SchemaProps").(*ast.CompositeLit); ok {
			if values, ok := member(props, "Enum").(*ast.CompositeLit); ok {
				for _, value := range values.Elts {
					if value, ok := text(value); ok {
						found[field] = append(found[field], value)
					}
				}
			}
		}
		return true
	})
	return found
}

// member is the value of a field of a literal.
func member(of *ast.CompositeLit, name string) ast.Expr {
	for _, element := range of.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok && key.Name == name {
				return pair.Value
			}
		}
	}
	return nil
}

func text(of ast.Expr) (string, bool) {
	literal, ok := of.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(literal.Value)
	return value, err == nil
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
