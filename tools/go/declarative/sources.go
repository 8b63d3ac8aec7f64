package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// sources are the packages of API types that were read.
type sources struct {
	api, machinery string
	packages       map[string]*apiPackage
}

// apiPackage is what the rules need of a package: its group, the names of fields in JSON, and its constants.
type apiPackage struct {
	group  string
	fields map[string]map[string]string
	// members are the fields of structs in their order, as JSON has them.
	members   map[string][]member
	constants map[string]string
	// others are constants that are those of other packages: path and name.
	others map[string][2]string
}

// member is a field of a struct: its name in JSON, empty where it is inline, and the type in it, as path and name.
type member struct {
	json string
	of   [2]string
	// isMap: the type is that of a map's values.
	isMap bool
}

// importsOf is the paths of the packages that a file imports, by their names in it.
func importsOf(file *ast.File) map[string]string {
	imports := map[string]string{}
	for _, i := range file.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		name := filepath.Base(path)
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = path
	}
	return imports
}

// of reads a package once.
func (s *sources) of(path string) *apiPackage {
	if known := s.packages[path]; known != nil {
		return known
	}
	pkg := &apiPackage{fields: map[string]map[string]string{}, members: map[string][]member{}, constants: map[string]string{}, others: map[string][2]string{}}
	s.packages[path] = pkg
	dir, ok := strings.CutPrefix(path, "k8s.io/api/")
	dir = filepath.Join(s.api, dir)
	if !ok {
		dir = filepath.Join(s.machinery, strings.TrimPrefix(path, "k8s.io/apimachinery/"))
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(filepath.Base(name), "zz_") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			panic(err)
		}
		imports := importsOf(file)
		for _, declaration := range file.Decls {
			if general, ok := declaration.(*ast.GenDecl); ok {
				for _, spec := range general.Specs {
					pkg.read(spec, imports, path)
				}
			}
		}
	}
	return pkg
}

// constant is the value of a constant, which may be one of another package.
func (s *sources) constant(path, name string) (string, bool) {
	pkg := s.of(path)
	if other, ok := pkg.others[name]; ok {
		return s.constant(other[0], other[1])
	}
	value, ok := pkg.constants[name]
	return value, ok
}

func (p *apiPackage) read(spec ast.Spec, imports map[string]string, path string) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for i, name := range s.Names {
			if i < len(s.Values) {
				value := s.Values[i]
				if call, ok := value.(*ast.CallExpr); ok && len(call.Args) == 1 {
					value = call.Args[0] // Type("…")
				}
				if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					p.constants[name.Name] = text(literal)
				} else if selector, ok := value.(*ast.SelectorExpr); ok && imports[ident(selector.X)] != "" {
					p.others[name.Name] = [2]string{imports[ident(selector.X)], selector.Sel.Name}
				}
			}
		}
		if group, ok := p.constants["GroupName"]; ok {
			p.group = group
		}
	case *ast.TypeSpec:
		of, ok := s.Type.(*ast.StructType)
		if !ok {
			return
		}
		fields := map[string]string{}
		for _, field := range of.Fields.List {
			if field.Tag == nil {
				continue
			}
			tag, _ := strconv.Unquote(field.Tag.Value)
			json, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
			for _, name := range field.Names {
				fields[name.Name] = json
			}
			p.members[s.Name.Name] = append(p.members[s.Name.Name], member{json, typeIn(field.Type, imports, path), isMap(field.Type)})
		}
		p.fields[s.Name.Name] = fields
	}
}

// typeIn is the type of a value, of what a pointer points to, or of the elements of a list or a map.
func typeIn(e ast.Expr, imports map[string]string, path string) [2]string {
	switch t := e.(type) {
	case *ast.StarExpr:
		return typeIn(t.X, imports, path)
	case *ast.ArrayType:
		return typeIn(t.Elt, imports, path)
	case *ast.MapType:
		return typeIn(t.Value, imports, path)
	case *ast.SelectorExpr:
		return [2]string{imports[ident(t.X)], t.Sel.Name}
	default:
		return [2]string{path, ident(e)}
	}
}

func isMap(e ast.Expr) bool {
	_, ok := e.(*ast.MapType)
	return ok
}

// structOf is the members of a type, those of inline types among them; none where it is no struct with members in JSON.
func (s *sources) structOf(of [2]string) (out []member) {
	if !strings.HasPrefix(of[0], "k8s.io/api") {
		return nil
	}
	for _, m := range s.of(of[0]).members[of[1]] {
		if m.json == "" {
			out = append(out, s.structOf(m.of)...)
		} else if m.json != "-" {
			out = append(out, m)
		}
	}
	return
}
