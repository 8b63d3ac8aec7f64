//! What the evaluation of a policy depends on: the parts of objects that its expressions can read, and whether they read of the request
//! what is in no object.
//!
//! Most objects that are made for a policy differ in what its expressions do not read, or read of another kind only. Requests of one
//! kind with the same [key](ReadFootprint::key) are evaluated alike, so one of them is enough.
//!
//! The abstract value of a node is the set of parts of objects that it may be, as in [`reads`](crate::reads). That module guesses what
//! an object should have, this one may miss nothing: what becomes of a part in an expression that it does not know depends on all
//! of it.

mod key_text;
mod kind_guard;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use pratique_cel::ast::{Ast, Comprehension, Expr, ExprId, Literal};
use pratique_json::Value;

use crate::complete::SampleInput;
use key_text::{write_count, write_text, write_value};
use kind_guard::KindGuard;

/// The most nodes that are looked at; of expressions with more everything counts as read. Those of macros within macros are looked at
/// again and again.
const MOST_NODES: usize = 20_000;
/// The most lists that an expression builds around a part.
const MOST_LISTS: u8 = 4;
/// How often the step of a macro is looked at until its result does not change.
const MOST_STEPS: usize = 4;

/// What expressions can read of requests about a kind.
#[derive(Clone, Debug, Hash)]
pub struct ReadFootprint {
    kind: String,
    /// Of objects of the kind.
    of_kind: ReadParts,
    /// Of what has another kind, or none: a deleted object.
    of_others: ReadParts,
}

/// The parts that are read of requests.
#[derive(Clone, Debug, Default, Hash)]
struct ReadParts {
    /// `object`, `oldObject`, and what is below them.
    parts: Vec<ObjectPart>,
    reads_request: bool,
    reads_authorizer: bool,
    /// What the kind decides: at which steps of the walk, and how.
    decisions: Vec<(usize, bool)>,
}

/// A part of an object that is read.
#[derive(Clone, Debug, Default, Hash)]
struct ObjectPart {
    /// Whether everything in it is.
    is_whole: bool,
    /// Whether its value is, if it has no parts.
    is_scalar: bool,
    /// Whether the number of its entries is.
    is_counted: bool,
    fields: BTreeMap<Arc<str>, PartId>,
    /// Each element of a list, or each entry of a map with its key.
    item: Option<PartId>,
}

/// The index of a part.
type PartId = usize;

const OBJECT: PartId = 0;
const OLD_OBJECT: PartId = 1;

/// The parts that a value may be, each with the number of lists that an expression builds around it.
type ValueOrigins = BTreeSet<(PartId, u8)>;

impl ReadFootprint {
    /// That of expressions in order; those with a name are variables of that name.
    pub fn new<'a>(
        kind: &str,
        expressions: impl Iterator<Item = (Option<&'a str>, &'a Ast)> + Clone,
    ) -> Self {
        ReadFootprint {
            kind: kind.to_owned(),
            of_kind: ReadParts::new(Some(KindGuard { kind }), expressions.clone()),
            of_others: ReadParts::new(None, expressions),
        }
    }

    /// Whether the [key](ReadFootprint::key) of requests about one object is the same, whatever else they are about.
    pub fn is_of_object(&self, input: &SampleInput<'_>) -> bool {
        self.parts_of(input).is_of_object()
    }

    /// What the evaluation for a request depends on, apart from the kind of the request.
    pub fn key(&self, input: &SampleInput<'_>) -> String {
        let mut key = if self.is_of_kind(input) { "=" } else { "!" }.to_owned();
        self.parts_of(input).write(input, &mut key);
        key
    }

    /// What kinds have in common of which requests with one [key](ReadFootprint::key) are evaluated alike; `None` if the evaluation
    /// depends on the kind in a way that is not known.
    pub fn shape(&self) -> Option<String> {
        let reads_request = self.of_kind.reads_request || self.of_others.reads_request;
        (!reads_request).then(|| format!("{:?}", self.of_kind.decisions))
    }

    /// Whether the evaluation may depend on the field or key at a path of an object, or on whether it is there. Elements of lists have
    /// no step of their own.
    pub fn reads(&self, path: &[String]) -> bool {
        [&self.of_kind, &self.of_others].into_iter().any(|read| {
            [OBJECT, OLD_OBJECT]
                .into_iter()
                .any(|root| read.reads_below(root, path))
        })
    }

    fn is_of_kind(&self, input: &SampleInput<'_>) -> bool {
        input.object().get("kind").and_then(Value::as_str) == Some(&*self.kind)
    }

    fn parts_of(&self, input: &SampleInput<'_>) -> &ReadParts {
        if self.is_of_kind(input) {
            &self.of_kind
        } else {
            &self.of_others
        }
    }
}

impl ReadParts {
    fn new<'a>(
        guard: Option<KindGuard<'_>>,
        expressions: impl Iterator<Item = (Option<&'a str>, &'a Ast)>,
    ) -> Self {
        let mut walk = FootprintWalk {
            guard,
            read: ReadParts {
                parts: vec![ObjectPart::default(), ObjectPart::default()],
                ..ReadParts::default()
            },
            variables: HashMap::new(),
            locals: Vec::new(),
            left: MOST_NODES,
        };
        for (name, ast) in expressions {
            walk.locals.clear();
            match name {
                // Of two variables with a name either may be read.
                Some(name) => {
                    let value = walk.visit(ast, ast.root);
                    walk.variables.entry(name.into()).or_default().extend(value);
                }
                None => walk.read_result(ast, ast.root),
            }
        }
        walk.read
    }

    /// Whether nothing else is read of a request than `object`.
    fn is_of_object(&self) -> bool {
        let reads_old = self.parts.get(OLD_OBJECT).is_some_and(ObjectPart::is_read);
        !(self.reads_request || self.reads_authorizer || reads_old)
    }

    /// Whether something at a path below a part is read.
    fn reads_below(&self, root: PartId, path: &[String]) -> bool {
        let mut holders = BTreeSet::from([root]);
        for name in path {
            let mut next = BTreeSet::new();
            let mut pending: Vec<PartId> = holders.iter().copied().collect();
            while let Some(part) = pending.pop().and_then(|id| self.parts.get(id)) {
                if part.is_whole || part.is_counted {
                    return true;
                }
                next.extend(part.fields.get(&**name));
                // An entry of a map, or an element of a list that has the field.
                next.extend(part.item);
                pending.extend(part.item.filter(|item| holders.insert(*item)));
            }
            holders = next;
        }
        !holders.is_empty()
    }

    /// Writes what is read of a request.
    fn write(&self, input: &SampleInput<'_>, key: &mut String) {
        if self.reads_request {
            let metadata = |field: &str| {
                let present = if input.object().is_null() {
                    input.old_object()
                } else {
                    input.object()
                };
                let value = present.at(&["metadata", field]);
                value.map(ToString::to_string).unwrap_or_default()
            };
            let parts = [
                input.operation.as_str().to_owned(),
                input.is_nameless().to_string(),
                metadata("name"),
                metadata("generateName"),
                metadata("namespace"),
            ];
            key.push_str(&parts.join(","));
        }
        if self.reads_authorizer {
            key.push(if input.allows { '+' } else { '-' });
        }
        for (root, object) in [(OBJECT, input.object()), (OLD_OBJECT, input.old_object())] {
            if self.parts.get(root).is_some_and(ObjectPart::is_read) {
                self.write_part(Some(object), root, key);
            }
        }
    }

    /// Writes what is read of a part, so that other values give another text. Recursion is safe: parts are as deep as expressions, whose
    /// depth the parser bounds.
    fn write_part(&self, value: Option<&Value<'_>>, id: PartId, key: &mut String) {
        let Some(part) = self.parts.get(id) else { return };
        match value {
            None => key.push('!'),
            Some(value) if part.is_whole => write_value(value, key),
            Some(Value::Null) => key.push('n'),
            Some(value @ (Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::String(_))) => {
                if part.is_scalar || part.item.is_some() || !part.fields.is_empty() {
                    write_value(value, key);
                } else {
                    key.push(match value {
                        Value::Bool(_) => 'b',
                        Value::Int(_) => 'i',
                        Value::Float(_) => 'f',
                        _ => 's',
                    });
                }
            }
            Some(Value::NilArray) => key.push('a'),
            Some(Value::Array(elements)) => {
                key.push('[');
                write_count(elements.len(), key);
                if let Some(item) = part.item {
                    elements
                        .iter()
                        .for_each(|element| self.write_part(Some(element), item, key));
                }
                key.push(']');
            }
            Some(Value::Object(members)) => {
                key.push('{');
                if part.is_counted {
                    write_count(members.len(), key);
                }
                for (name, field) in &part.fields {
                    self.write_part(members.get(name), *field, key);
                }
                if let Some(item) = part.item {
                    for (name, value) in members.iter() {
                        write_text(name, key);
                        self.write_part(Some(value), item, key);
                    }
                }
                key.push('}');
            }
        }
        key.push(',');
    }
}

impl ObjectPart {
    fn is_read(&self) -> bool {
        self.is_whole || self.is_scalar || self.is_counted || self.item.is_some() || !self.fields.is_empty()
    }
}

struct FootprintWalk<'k> {
    /// What is known of objects.
    guard: Option<KindGuard<'k>>,
    read: ReadParts,
    variables: HashMap<Arc<str>, ValueOrigins>,
    /// The variables of the enclosing comprehensions.
    locals: Vec<(Arc<str>, ValueOrigins)>,
    /// How many nodes may still be looked at.
    left: usize,
}

impl FootprintWalk<'_> {
    /// The parts that a node may be. Recursion is safe: the parser bounds the depth of expressions.
    fn visit(&mut self, ast: &Ast, id: ExprId) -> ValueOrigins {
        let Some(left) = self.left.checked_sub(1) else {
            self.give_up();
            return ValueOrigins::new();
        };
        self.left = left;
        if let Some(value) = self.decide(ast, id) {
            self.read.decisions.push((self.left, value));
            return ValueOrigins::new();
        }
        match ast.expr(id) {
            Expr::Literal(_) => ValueOrigins::new(),
            Expr::Ident(name) => self.name(name),
            Expr::Select {
                operand,
                field,
                test_only,
            } => {
                let part = match ast.expr(*operand) {
                    Expr::Ident(name) if self.is_variables(name) => {
                        self.variables.get(field).cloned().unwrap_or_default()
                    }
                    _ => {
                        let of = self.visit(ast, *operand);
                        self.field(&of, field)
                    }
                };
                // Whether it is there is known of each part.
                if *test_only { ValueOrigins::new() } else { part }
            }
            Expr::Call {
                function,
                target,
                args,
            } => self.call(ast, function, *target, args),
            Expr::List { elements, .. } => {
                let mut list = ValueOrigins::new();
                for element in elements {
                    for (part, lists) in self.visit(ast, *element) {
                        if lists < MOST_LISTS {
                            list.insert((part, lists + 1));
                        } else {
                            self.read_whole(&ValueOrigins::from([(part, lists)]));
                        }
                    }
                }
                list
            }
            Expr::Comprehension(comprehension) => self.comprehension(ast, comprehension),
            other @ (Expr::Map(_) | Expr::Struct { .. }) => {
                let mut children = Vec::new();
                other.for_each_child(|child| children.push(child));
                self.visit_whole(ast, children);
                ValueOrigins::new()
            }
        }
    }

    /// The value of a condition that is the same for all objects of the kind.
    fn decide(&self, ast: &Ast, condition: ExprId) -> Option<bool> {
        let locals = self.locals.iter().map(|(name, _)| name);
        self.guard?.decide(ast, condition, locals)
    }

    /// Looks at the value of an expression. Of a sum that is a text for people the kind is not read: it is as good as any other.
    fn read_result(&mut self, ast: &Ast, id: ExprId) {
        match ast.expr(id) {
            Expr::Call { function, args, .. } if &**function == "_+_" => {
                args.iter().for_each(|arg| self.read_result(ast, *arg));
            }
            _ if self.guard.is_some_and(|guard| guard.is_kind(ast, id)) => {}
            _ => self.visit_whole(ast, [id]),
        }
    }

    /// Looks at nodes of whose values everything counts.
    fn visit_whole(&mut self, ast: &Ast, ids: impl IntoIterator<Item = ExprId>) {
        for id in ids {
            let value = self.visit(ast, id);
            self.read_whole(&value);
        }
    }

    fn call(&mut self, ast: &Ast, function: &str, target: Option<ExprId>, args: &[ExprId]) -> ValueOrigins {
        match (function, target, args) {
            ("_[_]" | "_[?_]" | "_?._", None, [of, key]) => {
                let of = self.visit(ast, *of);
                match ast.expr(*key) {
                    Expr::Literal(Literal::String(name)) => self.field(&of, name),
                    Expr::Literal(Literal::Int(_)) => self.item(&of),
                    _ => {
                        self.visit_whole(ast, [*key]);
                        let within = of.iter().filter(|(_, lists)| *lists == 0).copied();
                        self.read_whole(&within.collect());
                        self.item(&of)
                    }
                }
            }
            ("_?_:_", None, [condition, then, otherwise]) => {
                if let Some(holds) = self.decide(ast, *condition) {
                    self.read.decisions.push((self.left, holds));
                    return self.visit(ast, if holds { *then } else { *otherwise });
                }
                self.visit_whole(ast, [*condition]);
                let mut either = self.visit(ast, *then);
                either.extend(self.visit(ast, *otherwise));
                either
            }
            ("_+_", None, [left, right]) => {
                let mut both = self.visit(ast, *left);
                both.extend(self.visit(ast, *right));
                // Of lists, the sum has the elements. Numbers and texts are other ones.
                self.mark(&both, |part| part.is_scalar = true);
                both
            }
            ("size", None, [of]) => self.size(ast, *of),
            ("size", Some(of), []) => self.size(ast, of),
            ("or" | "orValue", Some(target), [other]) => {
                let mut either = self.visit(ast, target);
                either.extend(self.visit(ast, *other));
                either
            }
            ("value", Some(target), []) => self.visit(ast, target),
            ("dyn" | "optional.of", None, [only]) => self.visit(ast, *only),
            ("hasValue", Some(target), []) => {
                self.visit(ast, target);
                ValueOrigins::new()
            }
            _ => {
                self.visit_whole(ast, target.into_iter().chain(args.iter().copied()));
                ValueOrigins::new()
            }
        }
    }

    fn size(&mut self, ast: &Ast, of: ExprId) -> ValueOrigins {
        let of = self.visit(ast, of);
        self.mark(&of, |part| (part.is_scalar, part.is_counted) = (true, true));
        ValueOrigins::new()
    }

    fn comprehension(&mut self, ast: &Ast, comprehension: &Comprehension) -> ValueOrigins {
        let range = self.visit(ast, comprehension.range);
        self.mark(&range, |part| part.is_scalar = true);
        let item = self.item(&range);
        let mut result = self.visit(ast, comprehension.init);
        let outer = self.locals.len();
        for step in 0.. {
            self.locals
                .push((Arc::clone(&comprehension.accumulator), result.clone()));
            self.locals.push((Arc::clone(&comprehension.var), item.clone()));
            if let Some(second) = &comprehension.var2 {
                self.locals.push((Arc::clone(second), item.clone()));
            }
            self.visit_whole(ast, [comprehension.condition]);
            let known = result.len();
            result.extend(self.visit(ast, comprehension.step));
            self.locals.truncate(outer);
            if result.len() == known {
                break;
            }
            if step == MOST_STEPS {
                self.give_up();
                break;
            }
        }
        self.locals.push((Arc::clone(&comprehension.accumulator), result));
        let result = self.visit(ast, comprehension.result);
        self.locals.truncate(outer);
        result
    }

    /// Whether a name is that of the policy's variables.
    fn is_variables(&self, name: &str) -> bool {
        name.trim_start_matches('.') == "variables" && self.local(name).is_none()
    }

    fn local(&self, name: &str) -> Option<&ValueOrigins> {
        let mut locals = self.locals.iter().rev();
        locals.find_map(|(known, value)| (**known == *name).then_some(value))
    }

    fn name(&mut self, name: &str) -> ValueOrigins {
        if let Some(local) = self.local(name) {
            return local.clone();
        }
        match name.trim_start_matches('.') {
            "object" => ValueOrigins::from([(OBJECT, 0)]),
            "oldObject" => ValueOrigins::from([(OLD_OBJECT, 0)]),
            "variables" => self.variables.values().flatten().copied().collect(),
            "request" => {
                self.read.reads_request = true;
                ValueOrigins::new()
            }
            "authorizer" => {
                // What it is asked about may be the resource of the request.
                self.read.reads_request = true;
                self.read.reads_authorizer = true;
                ValueOrigins::new()
            }
            _ => ValueOrigins::new(),
        }
    }

    /// The field of each value that is an object; lists have none.
    fn field(&mut self, of: &ValueOrigins, name: &Arc<str>) -> ValueOrigins {
        let within = of.iter().filter(|(_, lists)| *lists == 0);
        let mut fields = ValueOrigins::new();
        for (part, _) in within {
            let next = self.read.parts.len();
            let Some(part) = self.read.parts.get_mut(*part) else {
                continue;
            };
            let field = *part.fields.entry(Arc::clone(name)).or_insert(next);
            fields.insert((field, 0));
            if field == next {
                self.read.parts.push(ObjectPart::default());
            }
        }
        fields
    }

    /// The elements or entries of each value.
    fn item(&mut self, of: &ValueOrigins) -> ValueOrigins {
        let mut items = ValueOrigins::new();
        for (part, lists) in of {
            if let Some(lists) = lists.checked_sub(1) {
                items.insert((*part, lists));
                continue;
            }
            let next = self.read.parts.len();
            let Some(part) = self.read.parts.get_mut(*part) else {
                continue;
            };
            let item = *part.item.get_or_insert(next);
            items.insert((item, 0));
            if item == next {
                self.read.parts.push(ObjectPart::default());
            }
        }
        items
    }

    /// Notes something of parts around which there is no list.
    fn mark(&mut self, value: &ValueOrigins, note: impl Fn(&mut ObjectPart)) {
        for (part, _) in value.iter().filter(|(_, lists)| *lists == 0) {
            self.read.parts.get_mut(*part).into_iter().for_each(&note);
        }
    }

    fn read_whole(&mut self, value: &ValueOrigins) {
        for (part, _) in value {
            let part = self.read.parts.get_mut(*part);
            part.into_iter().for_each(|part| part.is_whole = true);
        }
    }

    /// Takes everything as read.
    fn give_up(&mut self) {
        self.read.reads_request = true;
        self.read.reads_authorizer = true;
        self.read_whole(&ValueOrigins::from([(OBJECT, 0), (OLD_OBJECT, 0)]));
    }
}

#[cfg(test)]
mod tests {
    use pratique_cel::Environment;
    use pratique_json::parse;
    use pratique_schema::Release;
    use pratique_types::Operation;

    use super::*;
    use crate::complete::{Sample, SampleExtent};
    use crate::request::build_request;

    /// Whether expressions read other things of two objects; the first are variables `v0`, `v1` …
    fn tells_apart(expressions: &[&str], objects: [&str; 2]) -> bool {
        let environment = Environment::kubernetes();
        let asts: Vec<Ast> = expressions
            .iter()
            .map(|text| environment.parse(text).unwrap())
            .collect();
        let last = asts.len() - 1;
        let names: Vec<String> = (0..last).map(|at| format!("v{at}")).collect();
        let names = names.iter().map(|name| Some(name.as_str())).chain([None]);
        let footprint = ReadFootprint::new("Pod", names.zip(&asts));
        let pods = Release::latest().resources().named("pods").unwrap();
        let keys = objects.map(|object| {
            let object = parse(object.as_bytes()).unwrap().into_owned();
            let sample = Sample {
                request: build_request(pods, Operation::Create, object, Value::Null),
                allows: true,
                extent: SampleExtent::Whole,
            };
            footprint.key(&sample.input())
        });
        let [one, other] = keys;
        one != other
    }

    #[test]
    fn paths_that_are_read() {
        let reads = |expression: &str, path: &str| {
            let ast = Environment::kubernetes().parse(expression).unwrap();
            let path: Vec<String> = path.split('.').map(str::to_owned).collect();
            ReadFootprint::new("Pod", [(None, &ast)].into_iter()).reads(&path)
        };
        for (expression, path, expected) in [
            ("has(object.spec.a)", "spec.a", true),
            ("has(object.spec.a)", "spec", true),
            ("has(object.spec.a)", "spec.b", false),
            ("has(object.spec.a)", "spec.a.b", false),
            ("object.spec.a == oldObject.spec.b", "spec.a.c", true),
            ("object.spec.a == oldObject.spec.b", "spec.b.c", true),
            ("object.spec.l.all(c, has(c.x))", "spec.l.x", true),
            ("object.spec.l.all(c, has(c.x))", "spec.m.x", false),
            ("object.spec.l.all(c, has(c.x))", "spec.l.y", true),
            ("object.metadata.labels['a'] == 'b'", "metadata.labels.a", true),
            ("object.metadata.labels['a'] == 'b'", "metadata.labels.c", false),
            (
                "object.metadata.labels.all(k, k != 'a')",
                "metadata.labels.c",
                true,
            ),
            ("size(object.spec.m) > 1", "spec.m.c", true),
        ] {
            assert_eq!(reads(expression, path), expected, "{expression}: {path}");
        }
    }

    #[test]
    fn what_expressions_can_read_tells_objects_apart() {
        let labels = [
            r#"{"kind": "Pod", "a": {"x": 1, "y": 1}}"#,
            r#"{"kind": "Pod", "a": {"x": 1, "y": 2}}"#,
        ];
        let lists = [
            r#"{"kind": "Pod", "a": [{"x": 1, "y": 1}], "b": [{"x": 1}]}"#,
            r#"{"kind": "Pod", "a": [{"x": 1, "y": 2}], "b": [{"x": 1}]}"#,
        ];
        let entries = [
            r#"{"kind": "Pod", "a": {"x": 1}}"#,
            r#"{"kind": "Pod", "a": {"x": 1, "z": 1}}"#,
        ];
        let types = [r#"{"kind": "Pod", "a": {}}"#, r#"{"kind": "Pod", "a": []}"#];
        for (expressions, objects, expected) in [
            (&["object.a.x == 1"][..], labels, false),
            (&["has(object.a.y)"], labels, false),
            (&["object.a.y == 1"], labels, true),
            (&["object.a['y'] == 1"], labels, true),
            (&["object.a.?y.orValue(3) == 1"], labels, true),
            (&["object.?a.optMap(a, a.y).orValue(3) == 1"], labels, true),
            (&["object.a == oldObject.a"], labels, true),
            (&["{'a': object.a} == {}"], labels, true),
            (&["string(object.a.y) == ''"], labels, true),
            (&["object.a.all(k, object.a[k] == 1)"], labels, true),
            // It may be a list, of which the elements are compared.
            (&["object.a.all(k, k == 'x')"], labels, true),
            (&["object.a", "variables.v0.y == 1"], labels, true),
            (&["object.a", "variables.v0.x == 1"], labels, false),
            (&["object.a.y + object.a.x", "variables.v0 > 1"], labels, true),
            (&["object.a.all(e, e.x == 1)"], lists, false),
            (&["object.a.all(e, e.y == 1)"], lists, true),
            (&["object.a[0].y == 1"], lists, true),
            (&["object.a.map(e, e.y).exists(y, y == 1)"], lists, true),
            (&["object.a.filter(e, e.y == 1).size() == 1"], lists, true),
            (
                &["object.a + object.b", "variables.v0.exists(e, e.y == 1)"],
                lists,
                true,
            ),
            (
                &["object.a + object.b", "variables.v0.exists(e, e.x == 1)"],
                lists,
                false,
            ),
            (&["[object.a].all(a, a[0].y == 1)"], lists, true),
            (&["cel.bind(a, object.a, a[0].y == 1)"], lists, true),
            (&["object.a.size() == 1"], lists, false),
            (&["object.a.size() == 1"], entries, true),
            (&["object.a.all(k, k == 'x')"], entries, true),
            (&["'z' in object.a"], entries, true),
            (&["has(object.a.z)"], entries, true),
            (&["has(object.a.x)"], entries, false),
            (&["has(object.a.x)"], types, true),
            (
                &["object.kind == 'Job' ? object.a.y == 1 : object.a.x == 1"],
                labels,
                false,
            ),
            (&["object.kind != 'Pod' || object.a.y == 1"], labels, true),
            (&["object.kind == 'Pod' || object.a.y == 1"], labels, false),
            // Of another kind than that of the request everything may be read.
            (
                &["object.kind == 'Pod' || object.a == 1"],
                [r#"{"kind": "Job", "a": 1}"#, r#"{"kind": "Job", "a": 2}"#],
                true,
            ),
            (
                &["request.name == 'a'"],
                [r#"{"metadata": {"name": "a"}}"#, r#"{"metadata": {"name": "b"}}"#],
                true,
            ),
        ] {
            assert_eq!(
                tells_apart(expressions, objects),
                expected,
                "{expressions:?} {objects:?}"
            );
        }
    }
}
