package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// file is a file of generated functions: what its names mean.
type file struct {
	name, pkg string
	imports   map[string]string
	sources   *sources
	enums     map[string][]string
	unions    map[string][]string
	orders    map[string][]string
}

func readFile(name string, sources *sources, rules *rules) {
	syntax, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		panic(err)
	}
	f := &file{name: name, pkg: packageName(filepath.ToSlash(filepath.Dir(name))), imports: importsOf(syntax), sources: sources,
		enums: map[string][]string{}, unions: map[string][]string{}, orders: rules.orders}
	for _, declaration := range syntax.Decls {
		if general, ok := declaration.(*ast.GenDecl); ok && general.Tok == token.VAR {
			f.readVariable(general.Specs[0].(*ast.ValueSpec))
		}
	}
	for _, declaration := range syntax.Decls {
		fn, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if fn.Name.Name == "RegisterValidations" {
			rules.kinds = append(rules.kinds, f.readKinds(fn.Body.List)...)
		} else if of, ok := strings.CutPrefix(fn.Name.Name, "Validate_"); ok {
			rules.types[f.pkg+"."+of] = f.readType(fn.Body.List)
		}
	}
}

// packageName is what types of a package are called by: `core/v1` for `…/pkg/apis/core/v1`.
func packageName(path string) string {
	_, name, _ := strings.Cut(path, "pkg/apis/")
	return strings.TrimSuffix(name, "/validation")
}

// readVariable reads the values of an enum, or the members of a union.
func (f *file) readVariable(spec *ast.ValueSpec) {
	if len(spec.Values) == 0 {
		return
	}
	call, ok := spec.Values[0].(*ast.CallExpr)
	if !ok {
		return
	}
	name := spec.Names[0].Name
	_, function := f.function(call.Fun)
	for _, arg := range call.Args {
		switch {
		case function == "NewUnionMembership":
			f.unions[name] = append(f.unions[name], unionMember(arg))
		case function == "NewDiscriminatedUnionMembership":
			f.unions[name] = append(f.unions[name], discriminatedMember(arg))
		case strings.HasPrefix(name, "symbolsFor"):
			f.enums[name] = append(f.enums[name], f.constant(arg))
		}
	}
}

// unionMember is the name in `NewUnionMember(NAME)`; 1.34 has `[2]string{NAME, …}` instead.
func unionMember(e ast.Expr) string {
	if pair, ok := e.(*ast.CompositeLit); ok {
		return text(pair.Elts[0])
	}
	return text(e.(*ast.CallExpr).Args[0])
}

// discriminatedMember is `NAME=VALUE` of `NewDiscriminatedUnionMember(NAME, VALUE)`, and the name of the field that decides, which
// comes first, as it is.
func discriminatedMember(e ast.Expr) string {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return text(e)
	}
	return text(call.Args[0]) + "=" + text(call.Args[1])
}

// constant is the value of a constant of an API package.
func (f *file) constant(e ast.Expr) string {
	if literal, ok := e.(*ast.BasicLit); ok {
		return text(literal)
	}
	selector := e.(*ast.SelectorExpr)
	value, ok := f.sources.constant(f.imports[ident(selector.X)], selector.Sel.Name)
	if !ok {
		panic("unknown constant " + selector.Sel.Name)
	}
	return value
}

// function is the package and the name of a function.
func (f *file) function(e ast.Expr) (string, string) {
	switch fn := e.(type) {
	case *ast.IndexExpr:
		return f.function(fn.X)
	case *ast.SelectorExpr:
		path := f.imports[ident(fn.X)]
		if strings.HasSuffix(path, "pkg/api/validate") {
			return "validate", fn.Sel.Name
		}
		return packageName(path), fn.Sel.Name
	default:
		return f.pkg, ident(e)
	}
}

// readKinds reads `scheme.AddValidationFunc((*TYPE)(nil), func(…) { switch PATH { case …: return Validate_TYPE(…) } })`.
func (f *file) readKinds(body []ast.Stmt) (out []kind) {
	for _, statement := range body {
		expression, ok := statement.(*ast.ExprStmt)
		if !ok {
			continue
		}
		call := expression.X.(*ast.CallExpr)
		pointer := call.Args[0].(*ast.CallExpr).Fun.(*ast.ParenExpr).X.(*ast.StarExpr)
		selector := pointer.X.(*ast.SelectorExpr)
		path := f.imports[ident(selector.X)]
		gv := filepath.Base(path)
		if group := f.sources.of(path).group; group != "" {
			gv = group + "/" + gv
		}
		k := kind{name: gv + "/" + selector.Sel.Name}
		for _, inner := range call.Args[1].(*ast.FuncLit).Body.List {
			if s, ok := inner.(*ast.SwitchStmt); ok {
				clause := s.Body.List[0].(*ast.CaseClause)
				for _, path := range clause.List {
					k.paths = append(k.paths, text(path))
				}
				validate := clause.Body[0].(*ast.ReturnStmt).Results[0].(*ast.CallExpr)
				pkg, name := f.function(validate.Fun)
				k.typeName = pkg + "." + strings.TrimPrefix(name, "Validate_")
			}
		}
		out = append(out, k)
	}
	return
}

// readType reads the function of a type: its own rules, and those of each field.
func (f *file) readType(body []ast.Stmt) *typeRules {
	t := &typeRules{checks: f.checksOf(body)}
	for _, statement := range body {
		fn, list := fieldFunction(statement)
		if fn == nil {
			continue
		}
		field := fieldRules{name: "+", checks: f.checksOf(fn.Body.List)}
		if path := list[0].(*ast.CallExpr); path.Fun.(*ast.SelectorExpr).Sel.Name == "Child" {
			field.name = text(path.Args[0])
		}
		of := fn.Type.Params.List[1].Type
		if unary, ok := list[1].(*ast.UnaryExpr); ok && unary.Op == token.AND {
			of = of.(*ast.StarExpr).X
		}
		field.goType = goType(of)
		t.fields = append(t.fields, field)
	}
	return t
}

// fieldFunction is the function that validates a field, and what it is called with: in a block of its own, and before 1.37
// `errs = append(errs, func(…) {…}(fldPath.Child(NAME), …)...)`.
func fieldFunction(statement ast.Stmt) (*ast.FuncLit, []ast.Expr) {
	switch s := statement.(type) {
	case *ast.BlockStmt:
		call := appended(s.List[2])
		return s.List[0].(*ast.AssignStmt).Rhs[0].(*ast.FuncLit), call.Args
	case *ast.AssignStmt:
		if call := appended(s); call != nil {
			if fn, ok := call.Fun.(*ast.FuncLit); ok {
				return fn, call.Args
			}
		}
	}
	return nil, nil
}

// appended is CALL of `errs = append(errs, CALL...)`.
func appended(statement ast.Stmt) *ast.CallExpr {
	assign, ok := statement.(*ast.AssignStmt)
	if !ok {
		return nil
	}
	call, ok := assign.Rhs[0].(*ast.CallExpr)
	if !ok || ident(call.Fun) != "append" {
		return nil
	}
	inner, _ := call.Args[1].(*ast.CallExpr)
	return inner
}

// goType is a type as far as it matters: what is a pointer, a list, a map, a plain string, or anything else.
func goType(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.StarExpr:
		return "*" + goType(t.X)
	case *ast.ArrayType:
		return "[]" + goType(t.Elt)
	case *ast.MapType:
		return "{}" + goType(t.Value)
	case *ast.Ident:
		return t.Name
	default:
		return "any"
	}
}

// match is how two elements are found to be the same: by nothing, by their value, or by fields.
func (f *file) match(e ast.Expr) string {
	switch fn := e.(type) {
	case *ast.Ident:
		return "-"
	case *ast.SelectorExpr:
		return "="
	default:
		return strings.Join(f.selected(fn.(*ast.FuncLit)), "+")
	}
}

// selected is the fields of the first parameter that a function reads, in JSON.
func (f *file) selected(fn *ast.FuncLit) (out []string) {
	parameter := fn.Type.Params.List[0]
	seen := map[string]bool{}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok && ident(selector.X) == parameter.Names[0].Name && !seen[selector.Sel.Name] {
			seen[selector.Sel.Name] = true
			out = append(out, f.json(parameter.Type, selector.Sel.Name))
		}
		return true
	})
	return
}

func (f *file) json(of ast.Expr, field string) string {
	// Before 1.37, elements themselves are compared, and not pointers to them.
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	selector := of.(*ast.SelectorExpr)
	name, ok := f.sources.of(f.imports[ident(selector.X)]).fields[selector.Sel.Name][field]
	if !ok {
		panic("unknown field " + selector.Sel.Name + "." + field)
	}
	return name
}

// returned is the function literal itself: its result is one field of its parameter.
func returned(e ast.Expr) *ast.FuncLit { return e.(*ast.FuncLit) }

func (f *file) jsonOf(fn *ast.FuncLit) string { return f.selected(fn)[0] }

// set is how a member is found to be set: `*` where it is a pointer that is not nil, “ where it is not empty, and
// `[FIELD=VALUE]` where a list has such an element.
func (f *file) set(e ast.Expr) (out string) {
	fn := e.(*ast.FuncLit)
	if list, ok := fn.Type.Params.List[0].Type.(*ast.ArrayType); ok {
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if equal, ok := n.(*ast.BinaryExpr); ok && equal.Op == token.EQL {
				field := f.json(&ast.StarExpr{X: list.Elt}, equal.X.(*ast.SelectorExpr).Sel.Name)
				out = "[" + field + "=" + text(equal.Y) + "]"
			}
			return true
		})
		return
	}
	last := fn.Body.List[len(fn.Body.List)-1].(*ast.ReturnStmt).Results[0]
	if compare, ok := last.(*ast.BinaryExpr); ok && ident(compare.Y) == "nil" {
		return "*"
	}
	return ""
}

// order notes in which order JSON has the members of a type, and of the types in it; it returns the name of the type.
func (f *file) order(of [2]string) string {
	members := f.sources.structOf(of)
	if len(members) == 0 {
		return ""
	}
	path := strings.TrimPrefix(of[0], "k8s.io/api/")
	if strings.HasSuffix(path, "pkg/apis/meta/v1") {
		path = "meta/v1"
	}
	name := path + "." + of[1]
	if _, known := f.orders[name]; known {
		return name
	}
	f.orders[name] = nil
	for _, m := range members {
		text := m.json
		if inner := f.order(m.of); inner != "" {
			text += "="
			if m.isMap {
				text += "{}"
			}
			text += inner
		}
		f.orders[name] = append(f.orders[name], text)
	}
	return name
}
