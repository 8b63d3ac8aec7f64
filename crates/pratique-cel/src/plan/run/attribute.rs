//! Attributes: a variable or a computed value, and the members to follow from it.
//!
//! Upstream: github.com/google/cel-go, interpreter/attributes.go and interpreter/interpretable.go (evalAttr, evalTestOnly)

use pratique_json as json;

use super::logic::first_stop;
use super::{LocalValue, PlanEvaluator};
use crate::error::Fault;
use crate::ops::{self, MemberLookup};
use crate::plan::node::{
    AttributeCharge, AttributeRoot, MemberKey, MemberStep, NodeId, PlanNode, PlannedAttribute,
};
use crate::plan::observe::EvaluationObserver;
use crate::value::{Evaluation, Map, Value, is_options};

/// The end of a path.
#[derive(Clone, Copy)]
pub(super) enum PathEnd<'a> {
    /// A value. If it is a member that is an optional, a longer path does not look into it.
    Value(Value<'a>),
    /// The content of an optional, into which a longer path looks.
    Optional(Option<Value<'a>>),
}

impl<'a> PathEnd<'a> {
    /// The start of a path.
    fn root(value: Value<'a>) -> Self {
        match value {
            Value::Optional(content) => PathEnd::Optional(content.copied()),
            value => PathEnd::Value(value),
        }
    }
}

impl<'a, O: EvaluationObserver> PlanEvaluator<'_, 'a, O> {
    /// The value of an attribute.
    #[inline(always)]
    pub(super) fn attribute(&mut self, attribute: &'a PlannedAttribute) -> Evaluation<'a> {
        if let Some(value) = self.plain(attribute) {
            self.context.charge_ones(attribute.cost())?;
            return Ok(value);
        }
        self.attribute_in_steps(attribute)
    }

    /// The value of an attribute that is a variable, or a member of an object of the input that is there, as most are.
    #[inline(always)]
    fn plain(&self, attribute: &'a PlannedAttribute) -> Option<Value<'a>> {
        let root = self.bound(&attribute.root)?;
        match (root, attribute.path.as_slice()) {
            (Value::Struct(value), []) if value.unknown().is_some() => None,
            (Value::Opaque(value), []) if ops::is_failed(*value) => None,
            (value, []) => Some(*value),
            (value, path) if !attribute.optional => match follow(value, path)? {
                (member, []) => Some(member.value()),
                _ => None,
            },
            _ => None,
        }
    }

    #[inline(never)]
    fn attribute_in_steps(&mut self, attribute: &'a PlannedAttribute) -> Evaluation<'a> {
        let path_end = self.resolved(attribute)?;
        let value = self.wrap(path_end);
        match attribute.charge {
            // A key may be an error value or unknown, which has other errors.
            AttributeCharge::Inner => Ok(value),
            _ => valid(value),
        }
    }

    /// The content of the optional that an attribute yields; an error where it yields another value.
    pub(super) fn optional_content(
        &mut self,
        attribute: &'a PlannedAttribute,
    ) -> Result<Option<Value<'a>>, Fault> {
        match self.resolved(attribute)? {
            PathEnd::Optional(content) => content.map(known).transpose(),
            PathEnd::Value(value) => match valid(value)? {
                Value::Optional(content) => Ok(content.copied()),
                _ => Err(Fault::no_such_overload()),
            },
        }
    }

    /// `has(attribute)`
    #[inline]
    pub(super) fn presence(&mut self, attribute: &'a PlannedAttribute) -> Evaluation<'a> {
        if let [way @ .., last] = attribute.path.as_slice()
            && !attribute.optional
            && let Some(name) = last.name()
            && let Some(object) = self.bound(&attribute.root).and_then(|root| object_at(root, way))
        {
            self.context.charge_ones(attribute.cost())?;
            return Ok(Value::Bool(object.get(name).is_some()));
        }
        self.presence_in_steps(attribute)
    }

    #[inline(never)]
    fn presence_in_steps(&mut self, attribute: &'a PlannedAttribute) -> Evaluation<'a> {
        let outcome = self.resolve_presence(attribute);
        self.charge_attribute(attribute.charge, &outcome)?;
        match (attribute.charge, outcome?) {
            (AttributeCharge::Presence | AttributeCharge::Refund, PathEnd::Optional(content)) => {
                Ok(Value::Bool(content.is_some()))
            }
            (_, path_end) => Ok(self.wrap(path_end)),
        }
    }

    /// The value of a root that needs no evaluation.
    #[inline]
    fn bound(&self, root: &AttributeRoot) -> Option<&Value<'a>> {
        match root {
            AttributeRoot::Variable { slot, .. } => self.activation.value(*slot),
            AttributeRoot::Local(local) => match self.locals.get(*local as usize)? {
                LocalValue::Value(value) => Some(value),
                LocalValue::Pending(_) | LocalValue::Failed(_) => None,
            },
            AttributeRoot::Node(_) => None,
        }
    }

    fn wrap(&self, path_end: PathEnd<'a>) -> Value<'a> {
        match path_end {
            PathEnd::Value(value) => value,
            PathEnd::Optional(content) => {
                Value::Optional(content.map(|content| self.context.arena.value(content)))
            }
        }
    }

    /// Resolves an attribute, and charges it.
    fn resolved(&mut self, attribute: &'a PlannedAttribute) -> Result<PathEnd<'a>, Fault> {
        let outcome = self.resolve(attribute);
        self.charge_attribute(attribute.charge, &outcome)?;
        outcome
    }

    /// Charges an attribute, besides its steps.
    fn charge_attribute(
        &mut self,
        charge: AttributeCharge,
        outcome: &Result<PathEnd<'a>, Fault>,
    ) -> Result<(), Fault> {
        if outcome.as_ref().is_err_and(Fault::is_stop) {
            return Ok(());
        }
        match charge {
            AttributeCharge::One => self.context.charge(1),
            AttributeCharge::Refund => self.context.refund(1),
            AttributeCharge::Presence | AttributeCharge::Free | AttributeCharge::Inner => Ok(()),
        }
    }

    fn resolve(&mut self, attribute: &'a PlannedAttribute) -> Result<PathEnd<'a>, Fault> {
        let root = self.start(&attribute.root)?;
        self.resolve_path(root, &attribute.path)
    }

    fn resolve_presence(&mut self, attribute: &'a PlannedAttribute) -> Result<PathEnd<'a>, Fault> {
        let root = self.start(&attribute.root)?;
        let Some((last, way)) = attribute.path.split_last() else {
            return Ok(root);
        };
        match self.resolve_path(root, way)? {
            PathEnd::Value(object) if !last.optional => self.has_member(object, last).map(PathEnd::Value),
            PathEnd::Value(object) | PathEnd::Optional(Some(object)) => {
                self.optional_path(object, std::slice::from_ref(last))
            }
            none @ PathEnd::Optional(None) => Ok(none),
        }
    }

    fn resolve_path(&mut self, root: PathEnd<'a>, path: &'a [MemberStep]) -> Result<PathEnd<'a>, Fault> {
        let root = match root {
            PathEnd::Value(value) => value,
            PathEnd::Optional(Some(content)) => return self.optional_path(content, path),
            PathEnd::Optional(None) => return Ok(root),
        };
        let (mut value, mut rest) = self.follow(root, path)?;
        if path
            .iter()
            .take(path.len() - rest.len())
            .any(|step| step.optional)
        {
            return self.optional_steps(value, rest);
        }
        while let [step, after @ ..] = rest {
            if step.optional {
                return self.optional_steps(value, rest);
            }
            value = self.member(value, step)?;
            rest = after;
        }
        Ok(PathEnd::Value(value))
    }

    /// Takes the first steps of a path, as far as they are through objects of the input, and charges for them.
    fn follow(
        &self,
        root: Value<'a>,
        path: &'a [MemberStep],
    ) -> Result<(Value<'a>, &'a [MemberStep]), Fault> {
        match follow(&root, path) {
            Some((member, rest)) => {
                self.context.charge_ones((path.len() - rest.len()) as u64)?;
                Ok((member.value(), rest))
            }
            None => Ok((root, path)),
        }
    }

    /// The start of a path.
    fn start(&mut self, root: &'a AttributeRoot) -> Result<PathEnd<'a>, Fault> {
        match root {
            AttributeRoot::Variable { slot, name } => match self.activation.get(*slot) {
                Some(value) => Ok(PathEnd::root(value)),
                None => Err(Fault::error(format!("no such attribute(s): {name}"))),
            },
            AttributeRoot::Local(local) => self.local(*local).map(PathEnd::root),
            AttributeRoot::Node(node) => self.branch(*node),
        }
    }

    /// The value of a node as the start of a path: that of a conditional continues the path of the chosen branch.
    fn branch(&mut self, id: NodeId) -> Result<PathEnd<'a>, Fault> {
        let result = match self.program.node(id) {
            PlanNode::Conditional { condition, yes, no } => self
                .truth(*condition)
                .and_then(|holds| self.branch(if holds { *yes } else { *no })),
            PlanNode::Attribute(attribute) if attribute.charge == AttributeCharge::Inner => {
                self.resolve(attribute)
            }
            PlanNode::Presence(attribute) if attribute.charge == AttributeCharge::Inner => {
                self.resolve_presence(attribute)
            }
            _ => return self.evaluate(id).map(PathEnd::root),
        };
        if O::ACTIVE {
            let value = result.clone().map(|path_end| self.wrap(path_end));
            self.observer.observe(self.program.origin(id), &value);
        }
        result
    }

    /// A member that has to be there.
    fn member(&mut self, object: Value<'a>, step: &'a MemberStep) -> Evaluation<'a> {
        let (name, declared) = match &step.key {
            MemberKey::Name(name) => (name, false),
            MemberKey::Declared(name) => (name, true),
            key => return self.member_at(object, key),
        };
        let lookup =
            ops::sound(object).and_then(|object| ops::member_str(self.context, object, name, declared));
        self.context.charge(1)?;
        lookup?.or_missing(self.context, &Value::String(name))
    }

    /// A member that has to be there, by a key that is not a name.
    fn member_at(&mut self, object: Value<'a>, key: &'a MemberKey) -> Evaluation<'a> {
        let member = self.key(key).and_then(|key| {
            let lookup = ops::member(self.context, ops::sound(object)?, &key)?;
            lookup.or_missing(self.context, &key)
        });
        if let Some(stop) = first_stop([&member]) {
            return Err(stop);
        }
        self.context.charge(1)?;
        member
    }

    /// Whether a member is present.
    fn has_member(&mut self, object: Value<'a>, step: &'a MemberStep) -> Evaluation<'a> {
        let present = match (&step.key, object) {
            (MemberKey::Declared(name), Value::Struct(value)) => value.has(self.context, name),
            (MemberKey::Name(name), Value::Struct(value)) if value.is_indexable() => {
                value.has(self.context, name)
            }
            (MemberKey::Name(name) | MemberKey::Declared(name), object) => ops::sound(object)
                .and_then(|object| ops::member_str(self.context, object, name, false))
                .and_then(|lookup| ops::presence(lookup.found())),
            // has() takes only names.
            _ => Ok(false),
        };
        self.context.charge(1)?;
        present.map(Value::Bool)
    }

    /// Follows a path of which the first step, or one before, is optional.
    fn optional_path(&mut self, value: Value<'a>, path: &'a [MemberStep]) -> Result<PathEnd<'a>, Fault> {
        let (value, rest) = self.follow(value, path)?;
        self.optional_steps(value, rest)
    }

    fn optional_steps(
        &mut self,
        mut value: Value<'a>,
        steps: &'a [MemberStep],
    ) -> Result<PathEnd<'a>, Fault> {
        for step in steps {
            match self.optional_member(value, step) {
                Ok(Some(member)) => {
                    self.context.charge(1)?;
                    value = member;
                }
                Ok(None) => return Ok(PathEnd::Optional(None)),
                Err(fault) => return Err(self.fail_optional_step(fault)),
            }
        }
        Ok(PathEnd::Optional(Some(value)))
    }

    /// The error of an optional step, which is charged as the steps that fail without a `?` are.
    // Upstream: interpreter/attributes.go of cel-go 0.33, applyQualifiers. Before, only what is there was observed.
    #[cold]
    fn fail_optional_step(&self, fault: Fault) -> Fault {
        if fault.is_stop() || !self.ends_calls_at_errors() {
            return fault;
        }
        self.context.charge(1).err().unwrap_or(fault)
    }

    fn optional_member(
        &mut self,
        object: Value<'a>,
        step: &'a MemberStep,
    ) -> Result<Option<Value<'a>>, Fault> {
        match (&step.key, object) {
            (MemberKey::Name(name) | MemberKey::Declared(name), Value::Struct(value))
                if value.is_indexable() =>
            {
                if value.has(self.context, name)? {
                    value.get(self.context, name)
                } else {
                    Ok(None)
                }
            }
            (MemberKey::Name(name) | MemberKey::Declared(name), object) => {
                ops::member_str(self.context, ops::sound(object)?, name, false).map(MemberLookup::found)
            }
            (key, object) => {
                let key = self.key(key)?;
                ops::member(self.context, ops::sound(object)?, &key).map(MemberLookup::found)
            }
        }
    }

    fn key(&mut self, key: &'a MemberKey) -> Evaluation<'a> {
        match key {
            MemberKey::Declared(name) | MemberKey::Name(name) => Ok(Value::String(name)),
            MemberKey::Constant(constant) => Ok(constant.value()),
            MemberKey::Computed(node) | MemberKey::Input(node) => match known(self.evaluate(*node)?)? {
                key @ (Value::String(_)
                | Value::Int(_)
                | Value::Uint(_)
                | Value::Bool(_)
                | Value::Double(_)) => Ok(key),
                // Upstream, an absent input is nil rather than null.
                Value::Null if matches!(key, MemberKey::Input(_)) => Err(invalid_key("<nil>")),
                other => Err(invalid_key(ops::go_type(&other))),
            },
        }
    }
}

/// A member of an object of the input.
struct InputMember<'a> {
    json: &'a json::Value<'a>,
    /// Whether the reference sees it through a type.
    typed: bool,
}

impl<'a> InputMember<'a> {
    #[inline(always)]
    fn value(&self) -> Value<'a> {
        if self.typed {
            Value::from_typed_json(self.json)
        } else {
            Value::from_json(self.json)
        }
    }
}

/// Follows the names at the start of a path through objects of the input, as far as there are members of these names,
/// whether the steps are optional or not. Returns the last member and the steps that are left; `None` if there is not even
/// the first.
#[inline(always)]
fn follow<'a>(root: &Value<'a>, path: &'a [MemberStep]) -> Option<(InputMember<'a>, &'a [MemberStep])> {
    let (mut object, mut typed) = match root {
        Value::Map(Map::Json(object)) => (*object, false),
        Value::Map(Map::Typed(object)) => (*object, true),
        _ => return None,
    };
    let mut last = None;
    let mut rest = path;
    while let [step, after @ ..] = rest
        && let Some(name) = step.name()
        && let Some(member) = object.get_in_place(name)
    {
        last = Some(member);
        rest = after;
        let json::Value::Object(inner) = member else {
            break;
        };
        typed = typed && !is_options(name, inner);
        object = inner;
    }
    Some((InputMember { json: last?, typed }, rest))
}

/// The object of the input at the end of a path of names.
#[inline(always)]
fn object_at<'a>(root: &Value<'a>, path: &'a [MemberStep]) -> Option<&'a json::Object<'a>> {
    match (root, path) {
        (Value::Map(Map::Json(object) | Map::Typed(object)), []) => Some(object),
        (root, path) => match follow(root, path)? {
            (member, []) => member.json.as_object(),
            _ => None,
        },
    }
}

/// A value, unless it stands for an error or is only partly known.
#[inline]
fn valid(value: Value<'_>) -> Evaluation<'_> {
    ops::sound(known(value)?)
}

/// A value, unless it is only partly known. It may stand for an error, which is a different error as a key.
#[inline]
fn known(value: Value<'_>) -> Evaluation<'_> {
    match value {
        Value::Struct(value_of) | Value::Optional(Some(&Value::Struct(value_of))) => match value_of.unknown()
        {
            Some(unknown) => Err(Fault::unknown(unknown)),
            None => Ok(value),
        },
        value => Ok(value),
    }
}

#[cold]
fn invalid_key(of: &str) -> Fault {
    Fault::error(format!("invalid qualifier type: {of}"))
}
