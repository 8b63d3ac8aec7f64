// Prints the types of Kubernetes' internal API, one a line, for the printing of values in messages.
//
// A field whose name in JSON differs from its internal one in more than case is written Name=json:type.
//
//	go run . KUBERNETES APIMACHINERY APIEXTENSIONS API > internal.txt
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
)

func main() {
	k, m, x := os.Args[1], os.Args[2], os.Args[3]
	renamed(os.Args[4])
	var lines []string
	for _, group := range []string{"core", "apps", "batch", "policy", "networking", "storage", "resource", "rbac", "autoscaling",
		"admissionregistration", "certificates", "discovery", "flowcontrol", "scheduling", "coordination", "node", "apiserverinternal", "storagemigration"} {
		lines = append(lines, read(filepath.Join(k, "pkg/apis", group), group, false)...)
	}
	lines = append(lines, read(filepath.Join(m, "pkg/apis/meta/v1"), "metav1", true)...)
	lines = append(lines, read(filepath.Join(x, "pkg/apis/apiextensions"), "apiextensions", false)...)
	sort.Strings(lines)
	fmt.Println(strings.Join(lines, "\n"))
}

// written has the names in JSON of fields of versioned types, by group, type and field.
var written = map[string]string{}

// renamed reads the versioned types of all groups.
func renamed(api string) {
	files, _ := filepath.Glob(filepath.Join(api, "*", "v*", "types*.go"))
	for _, f := range files {
		file, err := parser.ParseFile(token.NewFileSet(), f, nil, 0)
		if err != nil {
			panic(err)
		}
		group := filepath.Base(filepath.Dir(filepath.Dir(f)))
		ast.Inspect(file, func(n ast.Node) bool {
			t, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			st, ok := t.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range st.Fields.List {
				if field.Tag == nil {
					continue
				}
				json, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
				for _, n := range field.Names {
					if json != "" && json != "-" && !strings.EqualFold(json, n.Name) {
						written[group+"."+t.Name.Name+"."+n.Name] = json
					}
				}
			}
			return true
		})
	}
}

func read(dir, pkg string, tags bool) (out []string) {
	files, _ := filepath.Glob(filepath.Join(dir, "types*.go"))
	for _, f := range files {
		file, err := parser.ParseFile(token.NewFileSet(), f, nil, 0)
		if err != nil {
			panic(err)
		}
		imports := map[string]string{}
		for _, i := range file.Imports {
			p := strings.Trim(i.Path.Value, `"`)
			base := filepath.Base(p)
			name := base
			if strings.HasSuffix(p, "meta/v1") {
				base = "metav1"
			}
			if i.Name != nil {
				name = i.Name.Name
			} else if base == "metav1" {
				name = "v1"
			}
			imports[name] = base
		}
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, s := range g.Specs {
				t := s.(*ast.TypeSpec)
				st, ok := t.Type.(*ast.StructType)
				if !ok {
					out = append(out, fmt.Sprintf("%s.%s = %s", pkg, t.Name.Name, name(t.Type, pkg, imports)))
					continue
				}
				line := pkg + "." + t.Name.Name
				for _, f := range st.Fields.List {
					tag := ""
					if f.Tag != nil {
						tag = reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
					}
					of := name(f.Type, pkg, imports)
					if len(f.Names) == 0 {
						line += " +" + of
						continue
					}
					for _, n := range f.Names {
						shown := n.Name
						if json, opts, _ := strings.Cut(tag, ","); tag != "" && json != "" {
							shown = json
							if strings.Contains(opts, "omit") {
								shown += "?"
							}
						}
						if json, ok := written[pkg+"."+t.Name.Name+"."+n.Name]; ok {
							shown += "=" + json
						}
						line += " " + shown + ":" + of
					}
				}
				out = append(out, line)
			}
		}
	}
	return
}

func name(e ast.Expr, pkg string, imports map[string]string) string {
	switch t := e.(type) {
	case *ast.Ident:
		if t.Obj == nil && strings.ToLower(t.Name[:1]) == t.Name[:1] {
			return t.Name
		}
		return pkg + "." + t.Name
	case *ast.StarExpr:
		return "*" + name(t.X, pkg, imports)
	case *ast.ArrayType:
		return "[]" + name(t.Elt, pkg, imports)
	case *ast.MapType:
		return "{}" + name(t.Value, pkg, imports)
	case *ast.SelectorExpr:
		return imports[t.X.(*ast.Ident).Name] + "." + t.Sel.Name
	default:
		return "any"
	}
}
