package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/pratique/pratique/tools/go/gotypes"
)

// step is one thing that a generated defaulter does: it calls a function by hand for the value at a path, or sets a value.
type step struct {
	// Path has JSON names, and `*` for the elements of a list or a map.
	Path []string `json:"path"`
	// Call is the function, as `core/v1.SetDefaults_Pod`.
	Call string `json:"call,omitempty"`
	// When is `absent`, of a pointer, or `zero`.
	When string `json:"when,omitempty"`
	// Value is what is set then.
	Value any `json:"value,omitempty"`
}

// defaulters are the generated defaulters of all packages.
type defaulters struct {
	// functions are by package and name: `core/v1.SetObjectDefaults_Pod`.
	functions map[string]*ast.FuncDecl
	// imports have the path of each package that a package imports, by the name that it has there.
	imports map[string]map[string]string
	// packages have the short name of the package that defaults the types of a package.
	packages map[string]string
	// constants have the texts of constants by package and name.
	constants map[string]string
}

// sources have the modules and directories with generated defaulters, and with conversions by hand.
var sources = map[string]string{
	"k8s.io/kubernetes":              "pkg/apis/*/*",
	"k8s.io/apiextensions-apiserver": "pkg/apis/apiextensions/*",
	"k8s.io/kube-aggregator":         "pkg/apis/apiregistration/*",
}

// The types of definitions, with their defaulters, are in a module of their own since 1.38.
func init() {
	if definitions() != "k8s.io/apiextensions-apiserver" {
		sources[definitions()] = "pkg/apis/apiextensions/*"
	}
}

// definitions is the module that has the types of definitions.
func definitions() string {
	const own = "k8s.io/apiextensions-api"
	if exec.Command("go", "list", "-m", own).Run() == nil {
		return own
	}
	return "k8s.io/apiextensions-apiserver"
}

func readDefaulters() *defaulters {
	d := &defaulters{map[string]*ast.FuncDecl{}, map[string]map[string]string{}, map[string]string{}, map[string]string{}}
	for module, glob := range sources {
		root := moduleDirectory(module)
		files, err := filepath.Glob(filepath.Join(root, glob, "zz_generated.defaults.go"))
		must(err)
		for _, file := range files {
			d.read(module, root, file)
		}
	}
	for module, glob := range map[string]string{"k8s.io/api": "*/*", definitions(): "pkg/apis/apiextensions/v1*"} {
		root := moduleDirectory(module)
		directories, err := filepath.Glob(filepath.Join(root, glob))
		must(err)
		for _, directory := range directories {
			relative, err := filepath.Rel(root, directory)
			must(err)
			d.readConstants(module+"/"+filepath.ToSlash(relative), directory)
		}
	}
	return d
}

func (d *defaulters) read(module, root, file string) {
	directory := filepath.Dir(file)
	short := shortName(directory)
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	must(err)
	d.imports[short] = map[string]string{}
	for _, imported := range parsed.Imports {
		path, err := strconv.Unquote(imported.Path.Value)
		must(err)
		name := filepath.Base(path)
		if imported.Name != nil {
			name = imported.Name.Name
		}
		d.imports[short][name] = path
		if path == "k8s.io/api/"+short {
			d.packages[path] = short
		}
	}
	relative, err := filepath.Rel(root, directory)
	must(err)
	d.packages[module+"/"+filepath.ToSlash(relative)] = short
	for _, declaration := range parsed.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok {
			d.functions[short+"."+function.Name.Name] = function
		}
	}
}

// readConstants reads the constants of a package that are texts.
func (d *defaulters) readConstants(pkg, directory string) {
	files, err := filepath.Glob(filepath.Join(directory, "*.go"))
	must(err)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		must(err)
		for _, declaration := range parsed.Decls {
			group, ok := declaration.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				constants := spec.(*ast.ValueSpec)
				for i, value := range constants.Values {
					if conversion, ok := value.(*ast.CallExpr); ok && len(conversion.Args) == 1 {
						value = conversion.Args[0]
					}
					if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
						text, err := strconv.Unquote(literal.Value)
						must(err)
						d.constants[pkg+"."+constants.Names[i].Name] = text
					}
				}
			}
		}
	}
}

// of has the steps of defaulting an object of a type.
func (d *defaulters) of(of reflect.Type) []step {
	pkg := d.packages[of.PkgPath()]
	function := d.functions[pkg+".SetObjectDefaults_"+of.Name()]
	if function == nil {
		return nil
	}
	run := &run{defaulters: d}
	run.function(pkg, function, place{of: of})
	return run.steps
}

// place is a place within an object, and the Go type there.
type place struct {
	path []string
	of   reflect.Type
}

func (p place) step(name string, of reflect.Type) place {
	return place{append(p.path[:len(p.path):len(p.path)], name), of}
}

// run goes through a generated defaulter.
type run struct {
	*defaulters
	steps []step
}

func (r *run) function(pkg string, function *ast.FuncDecl, of place) {
	parameter := function.Type.Params.List[0].Names[0].Name
	r.block(pkg, function.Body.List, map[string]place{parameter: of})
}

func (r *run) block(pkg string, statements []ast.Stmt, outer map[string]place) {
	variables := map[string]place{}
	for name, of := range outer {
		variables[name] = of
	}
	for _, statement := range statements {
		switch statement := statement.(type) {
		case *ast.ExprStmt: // SetDefaults_X(a)
			call := statement.X.(*ast.CallExpr)
			name := r.functionName(pkg, call.Fun)
			of := r.place(call.Args[0], variables)
			if function := r.functions[name]; function != nil {
				other, _, _ := strings.Cut(name, ".")
				r.function(other, function, of)
				continue
			}
			r.steps = append(r.steps, step{Path: of.path, Call: name})
		case *ast.RangeStmt: // for i := range in.X
			r.block(pkg, statement.Body.List, variables)
		case *ast.AssignStmt: // a := &in.X[i]
			variables[statement.Lhs[0].(*ast.Ident).Name] = r.place(statement.Rhs[0], variables)
		case *ast.IfStmt:
			condition := statement.Cond.(*ast.BinaryExpr)
			if condition.Op == token.NEQ { // if in.X != nil
				r.block(pkg, statement.Body.List, variables)
				continue
			}
			when := "zero"
			if nothing, ok := condition.Y.(*ast.Ident); ok && nothing.Name == "nil" {
				when = "absent"
			}
			of := r.place(condition.X, variables)
			r.steps = append(r.steps, step{Path: of.path, When: when, Value: r.value(pkg, statement.Body.List[0])})
		default:
			panic(fmt.Sprintf("a statement of an unknown form: %T", statement))
		}
	}
}

func (r *run) functionName(pkg string, of ast.Expr) string {
	switch of := of.(type) {
	case *ast.Ident:
		return pkg + "." + of.Name
	case *ast.SelectorExpr:
		return shortName(r.imports[pkg][of.X.(*ast.Ident).Name]) + "." + of.Sel.Name
	}
	panic(fmt.Sprintf("a function of an unknown form: %T", of))
}

// place is what an expression stands for.
func (r *run) place(of ast.Expr, variables map[string]place) place {
	switch of := of.(type) {
	case *ast.Ident:
		found, ok := variables[of.Name]
		if !ok {
			panic("no variable " + of.Name)
		}
		return found
	case *ast.UnaryExpr:
		return r.place(of.X, variables)
	case *ast.ParenExpr:
		return r.place(of.X, variables)
	case *ast.StarExpr:
		return r.place(of.X, variables)
	case *ast.CallExpr: // a conversion
		return r.place(of.Args[0], variables)
	case *ast.IndexExpr:
		list := r.place(of.X, variables)
		return list.step("*", pointee(list.of).Elem())
	case *ast.SelectorExpr:
		found := r.place(of.X, variables)
		first, ok := pointee(found.of).FieldByName(of.Sel.Name)
		if !ok {
			panic("no field " + of.Sel.Name)
		}
		for _, index := range first.Index {
			member := pointee(found.of).Field(index)
			name, _, _ := gotypes.Tag(member)
			if gotypes.IsInline(member) {
				found.of = member.Type
			} else {
				found = found.step(name, member.Type)
			}
		}
		return found
	}
	panic(fmt.Sprintf("an expression of an unknown form: %T", of))
}

// value is what a statement sets.
func (r *run) value(pkg string, statement ast.Stmt) any {
	var of ast.Expr
	switch statement := statement.(type) {
	case *ast.DeclStmt: // var ptr T = X
		of = statement.Decl.(*ast.GenDecl).Specs[0].(*ast.ValueSpec).Values[0]
	case *ast.AssignStmt:
		of = statement.Rhs[0]
	case *ast.IfStmt: // if err := json.Unmarshal([]byte(`X`), &in.Y)
		literal := statement.Init.(*ast.AssignStmt).Rhs[0].(*ast.CallExpr).Args[0].(*ast.CallExpr).Args[0].(*ast.BasicLit)
		text, err := strconv.Unquote(literal.Value)
		must(err)
		return json.RawMessage(text)
	}
	if conversion, ok := of.(*ast.CallExpr); ok {
		of = conversion.Args[0]
	}
	switch of := of.(type) {
	case *ast.BasicLit:
		if of.Kind == token.STRING {
			text, err := strconv.Unquote(of.Value)
			must(err)
			return text
		}
		return json.Number(of.Value)
	case *ast.Ident:
		return of.Name == "true"
	case *ast.SelectorExpr:
		name := r.imports[pkg][of.X.(*ast.Ident).Name] + "." + of.Sel.Name
		if text, ok := r.constants[name]; ok {
			return text
		}
		panic("no constant " + name)
	}
	panic(fmt.Sprintf("a value of an unknown form: %T", of))
}

func pointee(of reflect.Type) reflect.Type {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	return of
}

// shortName of a package is `core/v1`.
func shortName(path string) string {
	return filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path)
}

func moduleDirectory(module string) string {
	directory, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	must(err)
	return strings.TrimSpace(string(directory))
}
