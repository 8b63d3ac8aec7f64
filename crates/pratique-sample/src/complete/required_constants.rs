//! The constants that match conditions require of requests and their objects.
//!
//! Most objects with arbitrary values fail a condition that compares with a constant, and then nothing behind the
//! condition is evaluated. So samples have these constants.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use pratique_cel::ast::{Ast, Comprehension, Expr, ExprId, Literal};
use pratique_json::{Object, Value};

use super::build::{leads_through, rename_element};
use super::matching_text::make_matching_text;

/// A path of fields; lists count as their elements.
type FieldPath = Vec<String>;

/// What conditions require, as far as they compare with constants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequiredConstants {
    /// Fields of `object` and `oldObject`.
    object: BTreeMap<FieldPath, Literal>,
    /// Fields of `request`.
    request: BTreeMap<FieldPath, Literal>,
    /// How many elements lists of the object have.
    sizes: BTreeMap<FieldPath, usize>,
    /// Fields in which the old object is another than the new one.
    changes: BTreeMap<FieldPath, OldValue>,
}

/// How the value of an old object compares with that of the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OldValue {
    Other,
    Greater,
    Less,
}

/// The most elements of a list.
const MOST_ELEMENTS: usize = 12;

impl RequiredConstants {
    /// Those of conditions, all of which have to be true.
    pub fn new<'a>(conditions: impl IntoIterator<Item = &'a Ast>) -> Self {
        let mut required = RequiredConstants::default();
        for ast in conditions {
            let mut reader = ConditionReader {
                ast,
                locals: Vec::new(),
                required: &mut required,
            };
            reader.require(ast.root, true);
        }
        required
    }

    /// These, and those of one condition more; `None` if it requires nothing besides.
    #[must_use]
    pub fn with_condition(&self, condition: &Ast) -> Option<Self> {
        let own = RequiredConstants::new([condition]);
        let mut all = self.clone();
        all.add(own);
        (all != *self).then_some(all)
    }

    fn is_empty(&self) -> bool {
        self.object.is_empty() && self.request.is_empty() && self.sizes.is_empty() && self.changes.is_empty()
    }

    /// Whether others are about the same fields, whatever they require of them.
    fn is_about_same(&self, other: &RequiredConstants) -> bool {
        self.object.keys().eq(other.object.keys())
            && self.request.keys().eq(other.request.keys())
            && self.sizes.keys().eq(other.sizes.keys())
            && self.changes.keys().eq(other.changes.keys())
    }

    /// Adds others; gives whether there are any.
    fn add(&mut self, other: RequiredConstants) -> bool {
        let has_any = !other.is_empty();
        for (path, literal) in other.object {
            self.object.entry(path).or_insert(literal);
        }
        for (path, literal) in other.request {
            self.request.entry(path).or_insert(literal);
        }
        for (path, size) in other.sizes {
            self.sizes.entry(path).or_insert(size);
        }
        for (path, change) in other.changes {
            self.changes.entry(path).or_insert(change);
        }
        has_any
    }

    /// How many elements a list of the object has.
    pub(super) fn size(&self, path: &[String]) -> usize {
        self.sizes.get(path).copied().unwrap_or(1)
    }

    /// The old object, changed where conditions compare it with the new one.
    pub(crate) fn changed_old<'o>(
        &self,
        object: &Value<'_>,
        old: &'o Value<'static>,
    ) -> Cow<'o, Value<'static>> {
        let mut old = Cow::Borrowed(old);
        for (path, change) in &self.changes {
            let names: Vec<&str> = path.iter().map(String::as_str).collect();
            let value = match (object.at(&names), change) {
                (Some(Value::Int(number)), OldValue::Other | OldValue::Greater) => {
                    Value::Int(number.saturating_add(1))
                }
                (Some(Value::Int(number)), OldValue::Less) => Value::Int(number.saturating_sub(1)),
                (Some(Value::Bool(value)), OldValue::Other) => Value::Bool(!value),
                (Some(Value::String(text)), OldValue::Other) => Value::from(format!("{text}-old")),
                _ => continue,
            };
            set_at(old.to_mut(), path, &value);
        }
        old
    }

    /// The constant of a field of the object.
    pub(super) fn value(&self, holder: &[String], name: &str) -> Option<&Literal> {
        if self.object.is_empty() {
            return None;
        }
        let mut path = holder.to_vec();
        path.push(name.to_owned());
        self.object.get(&path)
    }

    /// Whether a constant is at a field or key of what is at a path of the object, or below it.
    pub(super) fn leads_through(&self, holder: &[String], name: &str) -> bool {
        self.object
            .keys()
            .any(|required| leads_through(required, holder, name))
    }

    /// The names of the fields, or keys, with constants below a path of the object.
    pub(super) fn names_below<'r>(&'r self, path: &'r [String]) -> impl Iterator<Item = &'r String> {
        let paths = self
            .object
            .keys()
            .filter(move |required| required.starts_with(path));
        paths.filter_map(move |required| required.get(path.len()))
    }

    /// Sets the constants in an object, and lengthens its lists. What is no object and no list on the way to one stays as it is.
    pub(crate) fn set_in(&self, object: &mut Value<'static>) {
        for (path, literal) in &self.object {
            let value = match literal {
                Literal::Bool(value) => Value::Bool(*value),
                Literal::Int(number) => Value::Int(*number),
                Literal::Double(number) => Value::Float(*number),
                Literal::String(text) => Value::from(text.to_string()),
                Literal::Null | Literal::Uint(_) | Literal::Bytes(_) => continue,
            };
            set_at(object, path, &value);
        }
        for (path, size) in &self.sizes {
            let names: Vec<&str> = path.iter().map(String::as_str).collect();
            let Some(Value::Array(elements)) = object.at(&names) else {
                continue;
            };
            let mut elements = elements.clone();
            while let (Some(last), true) = (elements.last().cloned(), elements.len() < *size) {
                elements.push(rename_element(last, elements.len()));
            }
            set_at(object, path, &Value::Array(elements));
        }
    }

    /// The text that a field of the request has to be.
    pub(super) fn of_request(&self, path: &[&str]) -> Option<&str> {
        let mut required = self.request.iter();
        let (_, literal) =
            required.find(|(known, _)| known.iter().map(String::as_str).eq(path.iter().copied()))?;
        match literal {
            Literal::String(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }
}

/// Sets a value at a path, in each element of lists. Recursion is safe: a path is as long as a chain of an expression, whose depth the
/// parser bounds.
fn set_at(holder: &mut Value<'static>, path: &[String], value: &Value<'static>) {
    let Some((name, rest)) = path.split_first() else {
        return;
    };
    match holder {
        Value::Array(elements) => elements
            .iter_mut()
            .for_each(|element| set_at(element, path, value)),
        Value::Object(members) if rest.is_empty() => {
            members.insert(name.clone(), value.clone());
        }
        Value::Object(members) => {
            if members.get(name).is_none() {
                members.insert(name.clone(), Value::Object(Object::new()));
            }
            if let Some(member) = members.get_mut(name) {
                set_at(member, rest, value);
            }
        }
        _ => {}
    }
}

/// Where a value comes from.
#[derive(Clone, Debug)]
struct ValueOrigin {
    root: OriginRoot,
    path: FieldPath,
}

/// The variable that a value is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OriginRoot {
    Object,
    OldObject,
    Request,
}

/// Reads one condition.
struct ConditionReader<'a> {
    ast: &'a Ast,
    /// The variables of the enclosing comprehensions, and the lists that they are elements of.
    locals: Vec<(Arc<str>, ValueOrigin)>,
    required: &'a mut RequiredConstants,
}

impl ConditionReader<'_> {
    /// Records what makes a node true, or false; gives whether there is anything.
    fn require(&mut self, id: ExprId, is: bool) -> bool {
        let ast = self.ast;
        match ast.expr(id) {
            Expr::Call {
                function,
                target: None,
                args,
            } => match (&**function, args.as_slice(), is) {
                ("!_", [operand], _) => self.require(*operand, !is),
                ("_&&_", [left, right], true) | ("_||_", [left, right], false) => {
                    let left = self.require(*left, is);
                    self.require(*right, is) || left
                }
                ("_||_", [left, right], true) | ("_&&_", [left, right], false) => {
                    self.require_either(*left, *right, is)
                }
                ("_==_" | "_>=_", [left, right], true) if self.is_size(*left, *right, 0) => true,
                ("_>_", [left, right], true) if self.is_size(*left, *right, 1) => true,
                ("_<=_", [left, right], true) if self.is_size(*right, *left, 0) => true,
                ("_<_", [left, right], true) if self.is_size(*right, *left, 1) => true,
                ("_!=_", [left, right], true) | ("_==_", [left, right], false)
                    if self.is_change(*left, *right, OldValue::Other) =>
                {
                    true
                }
                ("_<_", [left, right], true) if self.is_change(*left, *right, OldValue::Greater) => true,
                ("_>_", [left, right], true) if self.is_change(*left, *right, OldValue::Less) => true,
                ("_==_", [left, right], true) | ("_!=_", [left, right], false) => {
                    self.equal(*left, *right, 0) || self.equal(*right, *left, 0)
                }
                ("_>=_" | "_<=_", [left, right], true) => {
                    self.equal(*left, *right, 0) || self.equal(*right, *left, 0)
                }
                ("_>_", [left, right], true) => self.equal(*left, *right, 1) || self.equal(*right, *left, -1),
                ("_<_", [left, right], true) => self.equal(*left, *right, -1) || self.equal(*right, *left, 1),
                ("@in", [value, list], true) => self.is_in(*value, *list),
                _ => is && self.record(id, &Literal::Bool(true)),
            },
            Expr::Call {
                function,
                target: Some(target),
                args,
            } => match (&**function, args.as_slice(), is) {
                ("startsWith" | "endsWith" | "contains", [text], true) => self.equal(*target, *text, 0),
                ("matches", [pattern], true) => match self.ast.expr(*pattern) {
                    Expr::Literal(Literal::String(pattern)) => make_matching_text(pattern)
                        .is_some_and(|text| self.record(*target, &Literal::String(text.into()))),
                    _ => false,
                },
                ("matches", _, _) => false,
                _ => is && self.record(id, &Literal::Bool(true)),
            },
            Expr::Comprehension(comprehension) => self.comprehension(comprehension, is),
            Expr::Select { test_only: false, .. } => self.record(id, &Literal::Bool(is)),
            _ => false,
        }
    }

    /// Records what both of two alternatives are about. Otherwise samples would never reach the second one.
    fn require_either(&mut self, left: ExprId, right: ExprId, is: bool) -> bool {
        let mut alternatives = [left, right].map(|id| {
            let mut required = RequiredConstants::default();
            let mut reader = ConditionReader {
                ast: self.ast,
                locals: self.locals.clone(),
                required: &mut required,
            };
            reader.require(id, is);
            required
        });
        let [left, right] = &mut alternatives;
        // The step of a macro combines what came of the elements before with that of one element.
        if left.is_empty() || right.is_empty() {
            let is_macro = !self.locals.is_empty();
            let other = if left.is_empty() { right } else { left };
            return is_macro && self.required.add(std::mem::take(other));
        }
        left.is_about_same(right) && self.required.add(std::mem::take(left))
    }

    /// A macro: its condition on an element, as all elements of samples are alike.
    fn comprehension(&mut self, comprehension: &Comprehension, is: bool) -> bool {
        let Some(list) = self.origin(comprehension.range) else {
            return false;
        };
        let outer = self.locals.len();
        self.locals.push((comprehension.var.clone(), list));
        let has_any = self.require(comprehension.step, is);
        self.locals.truncate(outer);
        has_any
    }

    /// Records that a value equals a constant, or one that is greater by a number.
    fn equal(&mut self, value: ExprId, constant: ExprId, more: i64) -> bool {
        match self.ast.expr(constant) {
            Expr::Literal(Literal::Int(number)) => {
                self.record(value, &Literal::Int(number.saturating_add(more)))
            }
            Expr::Literal(literal) => self.record(value, literal),
            _ => false,
        }
    }

    /// Records that a list has as many elements as a constant, or more by a number.
    fn is_size(&mut self, size: ExprId, constant: ExprId, more: usize) -> bool {
        let list = match self.ast.expr(size) {
            Expr::Call {
                function,
                target,
                args,
            } if &**function == "size" => target.or_else(|| args.first().copied()),
            _ => None,
        };
        let Expr::Literal(Literal::Int(number)) = self.ast.expr(constant) else {
            return false;
        };
        let (Some(list), Ok(count)) = (list.and_then(|list| self.origin(list)), usize::try_from(*number))
        else {
            return false;
        };
        let count = count.saturating_add(more);
        if list.root == OriginRoot::Request || list.path.is_empty() || !(2..=MOST_ELEMENTS).contains(&count) {
            return false;
        }
        self.required.sizes.entry(list.path).or_insert(count);
        true
    }

    /// Records how a field of the old object compares with that of the new one, if these are what is compared.
    fn is_change(&mut self, left: ExprId, right: ExprId, of_old: OldValue) -> bool {
        let (Some(one), Some(other)) = (self.origin(left), self.origin(right)) else {
            return false;
        };
        let change = match (one.root, other.root) {
            (OriginRoot::Object, OriginRoot::OldObject) => of_old,
            (OriginRoot::OldObject, OriginRoot::Object) => match of_old {
                OldValue::Other => OldValue::Other,
                OldValue::Greater => OldValue::Less,
                OldValue::Less => OldValue::Greater,
            },
            _ => return false,
        };
        if one.path.is_empty() || one.path != other.path {
            return false;
        }
        self.required.changes.entry(one.path).or_insert(change);
        true
    }

    fn is_in(&mut self, value: ExprId, list: ExprId) -> bool {
        match self.ast.expr(list) {
            Expr::List { elements, .. } => elements.first().is_some_and(|first| self.equal(value, *first, 0)),
            // `'a' in request.userInfo.groups`
            _ => self.equal(list, value, 0),
        }
    }

    fn record(&mut self, value: ExprId, literal: &Literal) -> bool {
        let Some(ValueOrigin { root, path }) = self.origin(value).filter(|origin| !origin.path.is_empty())
        else {
            return false;
        };
        let required = if root == OriginRoot::Request {
            &mut self.required.request
        } else {
            &mut self.required.object
        };
        required.entry(path).or_insert_with(|| literal.clone());
        true
    }

    /// The field of the object or the request that a node reads.
    fn origin(&self, id: ExprId) -> Option<ValueOrigin> {
        match self.ast.expr(id) {
            Expr::Ident(name) => {
                let mut locals = self.locals.iter().rev();
                if let Some((_, origin)) = locals.find(|(local, _)| local == name) {
                    return Some(origin.clone());
                }
                let root = match &**name {
                    "object" => OriginRoot::Object,
                    "oldObject" => OriginRoot::OldObject,
                    "request" => OriginRoot::Request,
                    _ => return None,
                };
                Some(ValueOrigin {
                    root,
                    path: Vec::new(),
                })
            }
            Expr::Select { operand, field, .. } => self.below(*operand, field),
            Expr::Call {
                function,
                target: None,
                args,
            } => match (&**function, args.as_slice()) {
                ("_[_]" | "_?._" | "_[?_]", [operand, key]) => match self.ast.expr(*key) {
                    Expr::Literal(Literal::String(key)) => self.below(*operand, key),
                    _ => self.origin(*operand),
                },
                _ => None,
            },
            Expr::Call {
                function,
                target: Some(target),
                ..
            } if matches!(&**function, "orValue" | "value" | "lowerAscii") => self.origin(*target),
            _ => None,
        }
    }

    fn below(&self, operand: ExprId, field: &str) -> Option<ValueOrigin> {
        let mut origin = self.origin(operand)?;
        origin.path.push(field.to_owned());
        Some(origin)
    }
}

#[cfg(test)]
mod tests {
    use pratique_cel::Environment;

    use super::*;

    #[track_caller]
    fn check(condition: &str, object: &[(&str, &str)], request: &[(&str, &str)]) {
        let ast = Environment::kubernetes().parse(condition).unwrap();
        let required = RequiredConstants::new([&ast]);
        let text = |literal: &Literal| match literal {
            Literal::String(text) => text.to_string(),
            Literal::Int(number) => number.to_string(),
            Literal::Bool(value) => value.to_string(),
            other => format!("{other:?}"),
        };
        let listed_pairs = |constants: &BTreeMap<FieldPath, Literal>| -> Vec<(String, String)> {
            let constants = constants.iter();
            constants
                .map(|(path, literal)| (path.join("."), text(literal)))
                .collect()
        };
        let owned = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            let pairs = pairs.iter();
            pairs.map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
        };
        assert_eq!(listed_pairs(&required.object), owned(object), "{condition}");
        assert_eq!(listed_pairs(&required.request), owned(request), "{condition}");
    }

    #[test]
    fn conditions_that_require_more() {
        let parse = |condition: &str| Environment::kubernetes().parse(condition).unwrap();
        let required = RequiredConstants::new([&parse("object.spec.type == 'a'")]);
        let with = |condition: &str| required.with_condition(&parse(condition)).is_some();
        assert!(with("object.spec.name == 'b'") && with("size(object.spec.ports) > 1"));
        assert!(!with("object.spec.type == 'a'") && !with("has(object.spec)"));
    }

    #[test]
    fn alternatives_are_about_the_same() {
        let size = |condition: &str| {
            let ast = Environment::kubernetes().parse(condition).unwrap();
            RequiredConstants::new([&ast]).size(&["spec".to_owned(), "ports".to_owned()])
        };
        assert_eq!(
            size("size(object.spec.ports) > 1 || object.spec.ports.size() > 2"),
            2
        );
        assert_eq!(
            size("size(object.spec.ports) > 1 && object.spec.type == 'a' || object.spec.type == 'b'"),
            1
        );
    }

    #[test]
    fn sizes_and_changes_of_conditions() {
        let of = |condition: &str| {
            let ast = Environment::kubernetes().parse(condition).unwrap();
            RequiredConstants::new([&ast])
        };
        let containers = || vec!["spec".to_owned(), "containers".to_owned()];
        for (condition, size) in [
            ("object.spec.containers.size() > 2", 3),
            ("2 <= size(object.spec.containers)", 2),
            ("size(object.spec.containers) == 4", 4),
            ("size(object.spec.containers) > 100", 1),
            ("size(object.spec.containers) < 3", 1),
        ] {
            assert_eq!(of(condition).size(&containers()), size, "{condition}");
        }
        let read = |text: &'static str| pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        let object = read(r#"{"spec":{"replicas":3,"type":"a"}}"#);
        for (condition, expected) in [
            (
                "object.spec.replicas < oldObject.spec.replicas",
                r#"{"spec":{"replicas":4,"type":"a"}}"#,
            ),
            (
                "oldObject.spec.replicas < object.spec.replicas",
                r#"{"spec":{"replicas":2,"type":"a"}}"#,
            ),
            (
                "object.spec.type != oldObject.spec.type",
                r#"{"spec":{"replicas":3,"type":"a-old"}}"#,
            ),
            (
                "object.spec.type == oldObject.spec.type",
                r#"{"spec":{"replicas":3,"type":"a"}}"#,
            ),
        ] {
            let required = of(condition);
            let old = required.changed_old(&object, &object);
            assert_eq!(*old, read(expected), "{condition}");
        }
        check(
            "object.metadata.namespace.matches('^team-.+$') && !object.metadata.name.matches('a')",
            &[("metadata.namespace", "team-a")],
            &[],
        );
    }

    #[test]
    fn constants_of_conditions() {
        check(
            "object.spec.type == 'NodePort' && 'team' == object.metadata.labels['kind']",
            &[("metadata.labels.kind", "team"), ("spec.type", "NodePort")],
            &[],
        );
        check(
            "request.userInfo.username == 'a' || request.userInfo.username == 'b'",
            &[],
            &[("userInfo.username", "a")],
        );
        check(
            "object.spec.hostPID == true || object.spec.hostIPC == true",
            &[],
            &[],
        );
        check(
            "!(request.namespace != 'a' || !('g' in request.userInfo.groups))",
            &[],
            &[("namespace", "a"), ("userInfo.groups", "g")],
        );
        check(
            "request.userInfo.groups.exists(g, g.startsWith('system:'))",
            &[],
            &[("userInfo.groups", "system:")],
        );
        check(
            "object.spec.containers.all(c, c.image in ['x', 'y']) && object.spec.replicas > 3",
            &[("spec.containers.image", "x"), ("spec.replicas", "4")],
            &[],
        );
        check(
            "object.spec.?hostNetwork.orValue(false)",
            &[("spec.hostNetwork", "true")],
            &[],
        );
        check(
            "!object.spec.paused && object.metadata.name != 'a' && has(object.spec)",
            &[("spec.paused", "false")],
            &[],
        );
    }
}
