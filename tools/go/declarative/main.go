// Prints the declarative rules of Kubernetes' API types, as far as a server enforces them: those without a prefix and those of
// +k8s:beta. They are read from the functions that Kubernetes generates of its tags, since these say in which order a server
// validates, and what ends the validation of a field.
//
//	go run . KUBERNETES API APIMACHINERY
//
// The format is told in crates/pratique-validation/src/declarative/table.rs.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

const generated = "zz_generated.validations.go"

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: declarative KUBERNETES API APIMACHINERY")
		os.Exit(2)
	}
	kubernetes, api, machinery := os.Args[1], os.Args[2], os.Args[3]
	files, err := filepath.Glob(filepath.Join(kubernetes, "pkg/apis/*/*", generated))
	if err != nil || len(files) == 0 {
		panic(fmt.Sprint("there are no generated validations below ", kubernetes, err))
	}
	sources := &sources{api: api, machinery: machinery, packages: map[string]*apiPackage{}}
	rules := &rules{types: map[string]*typeRules{}, orders: map[string][]string{}}
	// Not every release has those of meta/v1.
	if meta := filepath.Join(machinery, "pkg/apis/meta/v1/validation", generated); exists(meta) {
		files = append(files, meta)
	}
	for _, file := range files {
		readFile(file, sources, rules)
	}
	rules.keepEnforced(kubernetes)
	rules.findEnforced()
	rules.print()
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// keepEnforced leaves out the kinds whose rules are compared with those by hand only: before 1.37, the strategy of a kind said whether
// they are enforced.
func (r *rules) keepEnforced(kubernetes string) {
	strategies, err := filepath.Glob(filepath.Join(kubernetes, "pkg/registry/*/*/strategy.go"))
	if err != nil || len(strategies) == 0 {
		panic(fmt.Sprint("there are no strategies below ", kubernetes, err))
	}
	enforced := map[string]bool{}
	for _, strategy := range strategies {
		text, err := os.ReadFile(strategy)
		if err != nil {
			panic(err)
		}
		if strings.Contains(string(text), "rest.DeclarativeValidation{") {
			return
		}
		enforced[filepath.Base(filepath.Dir(strategy))] = strings.Contains(string(text), "WithDeclarativeEnforcement")
	}
	var kept []kind
	for _, k := range r.kinds {
		if enforced[strings.ToLower(k.name[strings.LastIndex(k.name, "/")+1:])] {
			kept = append(kept, k)
		}
	}
	r.kinds = kept
}

// rules are those of all types.
type rules struct {
	types map[string]*typeRules
	kinds []kind
	// orders are the members of types in their order.
	orders map[string][]string
}

// kind is a resource's kind with the paths at which its rules apply.
type kind struct {
	name, typeName string
	paths          []string
}

type typeRules struct {
	checks   []check
	fields   []fieldRules
	enforced bool
}

// fieldRules are those of a field: its name in JSON, `+` where it is inline, and its Go type.
type fieldRules struct {
	name, goType string
	checks       []check
}

// findEnforced finds the types of which a rule is enforced, or one of a type in them.
func (r *rules) findEnforced() {
	for changed := true; changed; {
		changed = false
		for _, t := range r.types {
			if t.enforced {
				continue
			}
			t.enforced = r.enforces(t.checks)
			for _, f := range t.fields {
				t.enforced = t.enforced || r.enforces(f.checks)
			}
			changed = changed || t.enforced
		}
	}
}

func (r *rules) enforces(checks []check) bool {
	for _, c := range checks {
		if r.isEnforced(c) {
			return true
		}
	}
	return false
}

func (r *rules) isEnforced(c check) bool {
	if c.silent {
		return false
	}
	if target, isType := strings.CutPrefix(c.name, "@"); isType {
		t := r.types[target]
		return t != nil && t.enforced
	}
	if len(c.inner) > 0 {
		return r.enforces(c.inner)
	}
	return true
}

// kept leaves out what is never told: a silent check stays only where it ends the validation before one that is told.
func (r *rules) kept(checks []check) (out []check) {
	for i, c := range checks {
		ends := false
		for j, other := range checks {
			ends = ends || i != j && !other.ends && r.isEnforced(other)
		}
		// A case without rules keeps those of all other values away.
		if c.name == "case" || r.isEnforced(c) || (c.ends && ends) {
			if c.name == "case" || r.enforces(c.inner) {
				c.inner = r.kept(c.inner)
			}
			out = append(out, c)
		}
	}
	return
}

func (r *rules) print() {
	sort.Slice(r.kinds, func(i, j int) bool { return r.kinds[i].name < r.kinds[j].name })
	used := map[string]bool{}
	for _, k := range r.kinds {
		if r.types[k.typeName].enforced {
			fmt.Println("kind", k.name, k.typeName, strings.Join(k.paths, " "))
			r.use(k.typeName, used)
		}
	}
	names := make([]string, 0, len(used))
	for name := range used {
		names = append(names, name)
	}
	sort.Strings(names)
	orders := map[string]bool{}
	for _, name := range names {
		t := r.types[name]
		for _, f := range t.fields {
			for _, c := range r.kept(f.checks) {
				if c.name == "unique" && len(c.args) == 2 {
					r.useOrder(c.args[1], orders)
				}
			}
		}
		fmt.Println(line("type "+name, r.kept(t.checks)))
		for _, f := range t.fields {
			if r.enforces(f.checks) {
				fmt.Println(line(" "+f.name+" "+f.goType, r.kept(f.checks)))
			}
		}
	}
	r.printOrders(orders)
}

// printOrders prints the types whose values messages show, with the types in them.
func (r *rules) printOrders(names map[string]bool) {
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	sort.Strings(sorted)
	for _, name := range sorted {
		fmt.Println("order", name, strings.Join(r.orders[name], " "))
	}
}

// useOrder notes a type whose values messages show, and the types in it.
func (r *rules) useOrder(name string, used map[string]bool) {
	if name == "" || used[name] {
		return
	}
	used[name] = true
	for _, member := range r.orders[name] {
		_, inner, _ := strings.Cut(member, "=")
		r.useOrder(strings.TrimPrefix(inner, "{}"), used)
	}
}

// use notes a type and the types in it.
func (r *rules) use(name string, used map[string]bool) {
	t := r.types[name]
	if used[name] || t == nil || !t.enforced {
		return
	}
	used[name] = true
	var walk func(checks []check)
	walk = func(checks []check) {
		for _, c := range checks {
			if target, isType := strings.CutPrefix(c.name, "@"); isType {
				r.use(target, used)
			}
			walk(c.inner)
		}
	}
	walk(t.checks)
	for _, f := range t.fields {
		walk(f.checks)
	}
}

func line(start string, checks []check) string {
	for _, c := range checks {
		start += " " + c.String()
	}
	return start
}
