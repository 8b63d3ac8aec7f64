package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// check is a rule: what it is called, what it is given, the rules in it, and what follows of it.
type check struct {
	name  string
	args  []string
	inner []check
	// ends: after an error no rule follows that does not end the validation, too.
	ends bool
	// silent: its errors are not told.
	silent bool
	beta   bool
}

// String is `name(ARGUMENT,…;RULE,…)`, with `!` where it ends the validation, `?` where it is silent, `~` where it is of beta.
func (c check) String() string {
	text := c.name
	if len(c.args)+len(c.inner) > 0 {
		text += "(" + strings.Join(c.args, ",")
		if len(c.inner) > 0 {
			inner := make([]string, len(c.inner))
			for i, of := range c.inner {
				inner[i] = of.String()
			}
			text += ";" + strings.Join(inner, ",")
		}
		text += ")"
	}
	for _, flag := range []struct {
		set  bool
		text string
	}{{c.ends, "!"}, {c.silent, "?"}, {c.beta && !c.silent, "~"}} {
		if flag.set {
			text += flag.text
		}
	}
	return text
}

var formats = map[string]string{
	"ShortName": "k8s-short-name", "LongName": "k8s-long-name", "LongNameCaseless": "k8s-long-name-caseless",
	"ConditionReason": "k8s-condition-reason", "LabelKey": "k8s-label-key", "PrefixedLabelKey": "k8s-prefixed-label-key", "LabelValue": "k8s-label-value",
	"PathSegmentName": "k8s-path-segment-name", "UUID": "k8s-uuid", "ResourcePoolName": "k8s-resource-pool-name",
	"ExtendedResourceName": "k8s-extended-resource-name", "ResourceFullyQualifiedName": "k8s-resource-fully-qualified-name",
}

var constraints = map[string]string{
	"NoSet": "noSet", "NoUnset": "noUnset", "NoModify": "noModify", "NoAddItem": "noAddItem", "NoRemoveItem": "noRemoveItem",
}

// checksOf reads the statements of a function that validates a value.
func (f *file) checksOf(body []ast.Stmt) (out []check) {
	for _, statement := range body {
		switch s := statement.(type) {
		case *ast.IfStmt:
			assign, ok := s.Init.(*ast.AssignStmt)
			if !ok {
				continue // the end of the validation, and the comparison with the old value
			}
			c := f.call(assign.Rhs[0])
			tells := false
			for _, inner := range s.Body.List {
				if _, ok := inner.(*ast.ReturnStmt); ok { // 1.34
					c.ends = true
					continue
				}
				switch target := inner.(*ast.AssignStmt).Lhs[0].(*ast.Ident); target.Name {
				case "errs":
					tells = true
				case "earlyReturn":
					c.ends = true
				default:
					panic("unknown: " + target.Name)
				}
			}
			c.silent = c.silent || !tells
			out = append(out, c)
		case *ast.AssignStmt:
			if fn, _ := fieldFunction(s); fn == nil && appended(s) != nil {
				out = append(out, f.call(appended(s)))
			}
		case *ast.ExprStmt: // a cohort: rules whose end is not that of others
			lit := s.X.(*ast.CallExpr).Fun.(*ast.FuncLit)
			out = append(out, check{name: "cohort", inner: f.checksOf(lit.Body.List)})
		case *ast.ReturnStmt:
			if len(s.Results) == 1 {
				if call, ok := s.Results[0].(*ast.CallExpr); ok {
					out = append(out, f.call(call))
				}
			}
		case *ast.BlockStmt, *ast.DeclStmt:
		default:
			panic(fmt.Sprintf("%s: unknown statement %T", f.name, s))
		}
	}
	return
}

// call reads `FUNCTION(ctx, op, fldPath, obj, oldObj, …).MarkBeta()…`.
func (f *file) call(e ast.Expr) (c check) {
	call := e.(*ast.CallExpr)
	if mark, ok := call.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(mark.Sel.Name, "Mark") {
		c = f.call(mark.X)
		switch mark.Sel.Name {
		case "MarkAlpha":
			c.silent = true
		case "MarkBeta":
			c.beta = true
		case "MarkShortCircuit":
		default:
			panic("unknown mark " + mark.Sel.Name)
		}
		return
	}
	return f.rule(call.Fun, call.Args[5:])
}

// rule reads a function that validates a value, and what it is given beside the value.
func (f *file) rule(fn ast.Expr, rest []ast.Expr) check {
	if lit, ok := fn.(*ast.FuncLit); ok {
		checks := f.checksOf(lit.Body.List)
		if len(checks) == 1 {
			return checks[0]
		}
		return check{name: "cohort", inner: checks}
	}
	pkg, name := f.function(fn)
	if pkg != "validate" {
		if target, ok := strings.CutPrefix(name, "Validate_"); ok {
			return check{name: "@" + pkg + "." + target}
		}
		return check{name: "custom", args: []string{strings.TrimPrefix(name, "ValidateCustom_")}}
	}
	if format, ok := formats[name]; ok {
		return check{name: "format", args: []string{format}}
	}
	switch name {
	case "EachValSliceVal", "EachSliceVal":
		return check{name: "each", args: []string{f.match(rest[0]), f.match(rest[1])}, inner: []check{f.rule(rest[2], nil)}}
	case "EachMapVal":
		return check{name: "eachValue", args: []string{f.match(rest[0])}, inner: []check{f.rule(rest[1], nil)}}
	case "EachMapKey":
		return check{name: "eachKey", inner: []check{f.rule(rest[0], nil)}}
	case "ValSliceUnique", "Unique":
		c := check{name: "unique", args: []string{f.match(rest[0])}}
		if lit, ok := rest[0].(*ast.FuncLit); ok {
			if order := f.order(typeIn(lit.Type.Params.List[0].Type, f.imports, "")); order != "" {
				c.args = append(c.args, order)
			}
		}
		return c
	case "EQ":
		return check{name: "equals", args: []string{text(rest[0])}}
	case "MinimumQuantity":
		return check{name: "minimumQuantity", args: []string{text(rest[0].(*ast.CallExpr).Args[0])}}
	case "DiscriminatedUnion":
		return f.discriminatedUnion(rest)
	case "Enum":
		if ident(rest[1]) != "nil" {
			panic("an enum with exclusions")
		}
		return check{name: "enum", args: f.enums[ident(rest[0])]}
	case "IfOption":
		return check{name: "if", args: []string{text(rest[0]), ident(rest[1])}, inner: []check{f.rule(rest[2], nil)}}
	case "Subfield":
		return check{name: "subfield", args: []string{text(rest[0])}, inner: []check{f.rule(rest[3], nil)}}
	case "Discriminated":
		return f.discriminated(rest)
	case "DependentRequired", "DependentForbidden":
		return check{name: lower(name), args: []string{text(rest[0]) + f.set(rest[1]), text(rest[2]) + f.set(rest[3])}}
	case "Union", "ZeroOrOneOfUnion":
		members := append([]string{}, f.unions[ident(rest[0])]...)
		if len(members) != len(rest)-1 {
			panic("a union without its members")
		}
		for i, of := range rest[1:] {
			members[i] += f.set(of)
		}
		return check{name: lower(strings.TrimSuffix(name, "OfUnion")), args: members}
	case "UpdateValue":
		return f.update(rest[1:]) // the first one compares values
	case "UpdatePointer", "UpdateValueByCompare", "UpdateValueByReflect", "UpdateStruct", "ValSliceUpdate", "UpdateMap":
		return f.update(rest)
	}
	c := check{name: lower(name)}
	for _, arg := range rest {
		c.args = append(c.args, number(arg))
	}
	return c
}

// update reads what a change may not do, perhaps after how elements are found to be the same.
func (f *file) update(rest []ast.Expr) check {
	c := check{name: "update"}
	for _, arg := range rest {
		if selector, ok := arg.(*ast.SelectorExpr); ok && constraints[selector.Sel.Name] != "" {
			c.args = append(c.args, constraints[selector.Sel.Name])
		} else {
			c.args = append(c.args, f.match(arg))
		}
	}
	return c
}

// discriminatedUnion reads a union of which a field says which member is set: `discriminatedUnion(FIELD,MEMBER=VALUE,…)`.
func (f *file) discriminatedUnion(rest []ast.Expr) check {
	membership := f.unions[ident(rest[0])]
	c := check{name: "discriminatedUnion", args: membership[:1:1]}
	for i, member := range membership[1:] {
		name, value, _ := strings.Cut(member, "=")
		c.args = append(c.args, name+f.set(rest[i+2])+"="+value)
	}
	return c
}

// discriminated reads a field whose rules depend on the value of another field: `discriminated(FIELD,BY;case(VALUE;…),else(;…))`.
func (f *file) discriminated(rest []ast.Expr) check {
	c := check{name: "discriminated", args: []string{text(rest[0]), f.jsonOf(returned(rest[2]))}}
	for _, element := range rest[5].(*ast.CompositeLit).Elts {
		of := check{name: "case"}
		for _, member := range element.(*ast.CompositeLit).Elts {
			pair := member.(*ast.KeyValueExpr)
			if ident(pair.Key) == "Value" {
				of.args = []string{text(pair.Value)}
			} else if ident(pair.Value) != "nil" {
				of.inner = []check{f.rule(pair.Value, nil)}
			}
		}
		c.inner = append(c.inner, of)
	}
	if ident(rest[4]) != "nil" {
		c.inner = append(c.inner, check{name: "else", inner: []check{f.rule(rest[4], nil)}})
	}
	return c
}

func lower(name string) string { return strings.ToLower(name[:1]) + name[1:] }

func ident(e ast.Expr) string {
	if name, ok := e.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

func text(e ast.Expr) string {
	value, err := strconv.Unquote(e.(*ast.BasicLit).Value)
	if err != nil {
		panic(err)
	}
	return value
}

func number(e ast.Expr) string {
	if unary, ok := e.(*ast.UnaryExpr); ok && unary.Op == token.SUB {
		return "-" + number(unary.X)
	}
	return e.(*ast.BasicLit).Value
}
