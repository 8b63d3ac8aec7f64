//! Builds objects by the schema of their kind.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use pratique_cel::ast::Literal;
use pratique_json::{Object, Value, parse};
use pratique_schema::{Field, FieldPresence, Presence, Release, Scalar, Shape, StructType, TypeId};

use super::always_present::{METADATA, always_present};
use super::named_fields::{NamedFields, OBJECT_NAME};
use super::required_constants::RequiredConstants;

/// The specification of an object to build.
#[derive(Clone, Copy)]
pub(super) struct CompleteSpec<'r> {
    pub(super) release: &'static Release,
    pub(super) interest: &'r NamedFields,
    pub(super) fill: OptionalFill<'r>,
    /// The field or key that is left out.
    pub(super) without: Option<&'r [String]>,
    /// Selects the values from those that expressions compare with; none in round 0.
    pub(super) round: usize,
    /// The value of quantities with which expressions compare nothing.
    pub(super) quantity: &'static str,
    pub(super) selected: &'r SelectedMetadata,
    pub(super) required: &'r RequiredConstants,
    pub(super) namespaced: bool,
}

/// Which optional fields are present.
#[derive(Clone, Copy)]
pub(super) enum OptionalFill<'r> {
    /// Those that expressions name.
    Named,
    /// Those on the path to a field.
    Towards(&'r [String]),
}

/// What rules and selectors require of an object.
#[derive(Clone, Debug, Default)]
pub struct SelectedMetadata {
    /// Its name, if only one is matched.
    pub name: Option<String>,
    /// Labels with their values.
    pub(crate) labels: Vec<(String, String)>,
    /// Labels that must be absent.
    pub(crate) unlabelled: Vec<String>,
}

impl SelectedMetadata {
    /// Requires a label.
    pub fn require_label(&mut self, key: &str, value: &str) {
        self.labels.push((key.to_owned(), value.to_owned()));
    }

    /// Requires what a selector does.
    pub fn require_selected(&mut self, selector: &LabelSelector) {
        for (key, value) in selector.match_labels.iter().flatten() {
            self.require_label(key, value);
        }
        for expression in selector.match_expressions.iter().flatten() {
            let first = expression.values.iter().flatten().next();
            match expression.operator.as_str() {
                "In" => self.require_label(&expression.key, first.map_or("", String::as_str)),
                "Exists" => self.require_label(&expression.key, "example"),
                _ => self.unlabelled.push(expression.key.clone()),
            }
        }
    }
}

/// The maximum depth; deeper types are recursive.
const MOST_DEPTH: usize = 14;
/// The most elements of a list of alternatives.
const MOST_ELEMENTS: usize = 4;

/// An object that was built.
pub(super) struct BuiltObject {
    pub(super) object: Value<'static>,
    /// The optional fields and keys in it.
    pub(super) optional: Vec<OptionalField>,
    /// After how many rounds what was chosen by the round is chosen again.
    pub(super) period: usize,
}

/// An optional field or key of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct OptionalField {
    pub(super) path: Vec<String>,
    /// Whether another field is there instead if it is left out.
    pub(super) is_alternative: bool,
}

/// An object of a type.
pub(super) fn build(id: TypeId, api_version: &str, kind: &str, spec: &CompleteSpec<'_>) -> BuiltObject {
    let mut builder = ObjectBuilder {
        spec,
        optional: Vec::new(),
        path: Vec::new(),
        period: Cell::new(1),
    };
    let mut object = builder.structure(id, &[], None);
    if let Value::Object(members) = &mut object {
        members.insert("apiVersion", Value::from(api_version.to_owned()));
        members.insert("kind", Value::from(kind.to_owned()));
    }
    BuiltObject {
        object,
        optional: builder.optional,
        period: builder.period.get(),
    }
}

/// The least number of rounds after which choices with two periods are both made again.
pub(super) fn common_period(one: usize, other: usize) -> usize {
    let (mut divisor, mut rest) = (one, other);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (one / divisor.max(1)).saturating_mul(other)
}

/// What is known of a field of an object that is built.
#[derive(Clone, Copy)]
struct FieldUse {
    fact: Option<FieldPresence>,
    is_wanted: bool,
    is_optional: bool,
    is_alternative: bool,
}

struct ObjectBuilder<'r> {
    spec: &'r CompleteSpec<'r>,
    optional: Vec<OptionalField>,
    path: Vec<String>,
    /// That of the choices so far.
    period: Cell<usize>,
}

/// Fields that are present, by their relative path.
pub(super) type FieldFacts = Vec<(&'static str, FieldPresence)>;

/// The facts about the fields below a field.
pub(super) fn facts_below(facts: &[(&'static str, FieldPresence)], field: &str) -> FieldFacts {
    let below = |path: &'static str| path.strip_prefix(field)?.strip_prefix('.');
    let facts = facts.iter();
    facts
        .filter_map(|(path, presence)| Some((below(path)?, *presence)))
        .collect()
}

impl ObjectBuilder<'_> {
    /// Builds a struct; `member` is the alternative that is present.
    fn structure(
        &mut self,
        id: TypeId,
        inherited: &[(&'static str, FieldPresence)],
        member: Option<&str>,
    ) -> Value<'static> {
        let of = self.spec.release.schema().get(id);
        let mut members = Object::new();
        if self.path.len() > MOST_DEPTH {
            return members.into();
        }
        let facts = self.facts(of, inherited);
        let member = match member {
            Some(member) => Some(member.to_owned()),
            None => self.members(of).into_iter().next(),
        };
        let selecting = OnceCell::new();
        for field in of.fields.iter().filter(|field| !is_type_meta(field)) {
            let is_alternative = is_alternative(of, field);
            if is_alternative && member.as_deref() != Some(field.name) {
                self.record_alternative(field);
                continue;
            }
            let fact = facts.iter().find(|(path, _)| *path == field.name);
            let is_wanted = self.wants(field.name);
            // Most fields of a type are not: of these nothing else is looked at.
            let is_optional = fact.is_none() && !field.is_always() && {
                let text = selecting.get_or_init(|| self.selecting_text(of));
                !text
                    .as_deref()
                    .is_some_and(|text| is_required_by(of, field.name, text))
            };
            if is_optional && !(is_wanted || is_alternative) {
                continue;
            }
            let field_use = FieldUse {
                fact: fact.map(|(_, presence)| *presence),
                is_wanted,
                is_optional,
                is_alternative,
            };
            self.path.push(field.name.to_owned());
            if let Some(value) = self.field(field, field_use, &facts) {
                members.insert(field.name, value);
            }
            self.path.pop();
        }
        members.into()
    }

    /// The fields of a type that are present.
    fn facts(&self, of: &StructType, inherited: &[(&'static str, FieldPresence)]) -> FieldFacts {
        let required = always_present(of.name)
            .iter()
            .map(|path| (*path, FieldPresence::Required));
        let mut facts: FieldFacts = self.spec.release.given().for_type(of.name).to_vec();
        facts.extend(required);
        facts.extend(inherited);
        let metadata = METADATA.iter().chain(&["namespace"]);
        if let [root] = self.path.as_slice()
            && root == "metadata"
        {
            let present = metadata.filter(|name| **name != "namespace" || self.spec.namespaced);
            facts.extend(present.map(|name| (*name, FieldPresence::Required)));
            if !self.spec.selected.labels.is_empty() {
                facts.push(("labels", FieldPresence::Required));
            }
        }
        facts
    }

    /// The value of the field at the current path, unless it is left out.
    fn field(
        &mut self,
        field: &Field,
        field_use: FieldUse,
        facts: &[(&'static str, FieldPresence)],
    ) -> Option<Value<'static>> {
        let below = facts_below(facts, field.name);
        if field_use.is_optional {
            if self.is_left_out() {
                return None;
            }
            self.record_optional(field_use.is_alternative);
        } else if field_use.fact.is_none() && field.presence == Presence::Nullable && !field_use.is_wanted {
            return Some(Value::Null);
        }
        let default = match field_use.fact {
            Some(FieldPresence::Default(value)) => value,
            _ => None,
        };
        Some(self.value(&field.shape, field, default, &below))
    }

    /// The text of the struct at the current path that requires another of its fields, as [`is_required_by`] says.
    fn selecting_text(&self, of: &StructType) -> Option<String> {
        let name = if of.name == SUBJECT { "kind" } else { "type" };
        let field = of.field(name)?;
        let Shape::Scalar(Scalar::String) = field.shape else {
            return None;
        };
        match self.scalar_in(&self.path, Scalar::String, field.name, field.presence, None) {
            Value::String(text) => Some(text.into_owned()),
            _ => None,
        }
    }

    /// Records the optional field or key at the current path, of an object that has all of them.
    fn record_optional(&mut self, is_alternative: bool) {
        let is_whole = matches!(self.spec.fill, OptionalFill::Named) && self.spec.without.is_none();
        if is_whole && !self.optional.iter().any(|known| known.path == self.path) {
            self.optional.push(OptionalField {
                path: self.path.clone(),
                is_alternative,
            });
        }
    }

    /// Records an alternative that is absent here, so that another one is tried in its place.
    fn record_alternative(&mut self, field: &Field) {
        if self.spec.interest.names(field.name) {
            self.path.push(field.name.to_owned());
            self.record_optional(true);
            self.path.pop();
        }
    }

    fn is_left_out(&self) -> bool {
        self.spec.without == Some(self.path.as_slice())
    }

    /// Whether an optional field of the struct at the current path is present.
    fn wants(&self, name: &str) -> bool {
        match self.spec.fill {
            OptionalFill::Named => self.spec.interest.names(name),
            OptionalFill::Towards(path) => {
                leads_through(path, &self.path, name) || self.spec.required.leads_through(&self.path, name)
            }
        }
    }

    fn value(
        &mut self,
        shape: &Shape,
        field: &Field,
        default: Option<&'static str>,
        facts: &[(&'static str, FieldPresence)],
    ) -> Value<'static> {
        match shape {
            Shape::Scalar(scalar) => self.scalar(*scalar, field, default),
            Shape::Struct(id) => self.structure(*id, facts, None),
            Shape::Map(value) => self.map(value, field, facts),
            Shape::List(element) => {
                if let Some(Ok(Value::Array(elements))) = default.map(|text| parse(text.as_bytes())) {
                    return Value::Array(elements).into_owned();
                }
                let mut elements = self.list(element, field, facts);
                let size = self.spec.required.size(&self.path);
                while let (Some(last), true) = (elements.last().cloned(), elements.len() < size) {
                    elements.push(rename_element(last, elements.len()));
                }
                Value::Array(elements)
            }
        }
    }

    /// A list with one element, or with one for each alternative that expressions name.
    fn list(
        &mut self,
        element: &Shape,
        field: &Field,
        facts: &[(&'static str, FieldPresence)],
    ) -> Vec<Value<'static>> {
        let Shape::Struct(id) = element else {
            return vec![self.value(element, field, None, facts)];
        };
        let members = self.members(self.spec.release.schema().get(*id));
        if members.is_empty() {
            return vec![self.structure(*id, facts, None)];
        }
        // In later rounds there is only one of them.
        self.repeat_after(members.len());
        let (skip, most) = match self.spec.round {
            0 => (0, MOST_ELEMENTS),
            round => (round % members.len(), 1),
        };
        let members: Vec<&String> = members.iter().skip(skip).take(most).collect();
        let elements = members.into_iter();
        elements
            .map(|member| self.structure(*id, facts, Some(member)))
            .collect()
    }

    fn map(
        &mut self,
        value: &Shape,
        field: &Field,
        facts: &[(&'static str, FieldPresence)],
    ) -> Value<'static> {
        let is_labels =
            matches!(self.path.as_slice(), [root, labels] if root == "metadata" && labels == "labels");
        let mut keys: Vec<String> = match self.spec.fill {
            OptionalFill::Named => self
                .spec
                .interest
                .keys
                .iter()
                .filter(|key| !matches!(value, Shape::Scalar(Scalar::Quantity)) || is_resource_name(key))
                .map(|key| (**key).to_owned())
                .collect(),
            OptionalFill::Towards(_) => Vec::new(),
        };
        keys.extend(facts.iter().map(|(path, _)| (*path).to_owned()));
        keys.extend(self.spec.required.names_below(&self.path).cloned());
        let mut members = Object::new();
        if is_labels {
            let selected = self.spec.selected;
            keys.retain(|key| !selected.unlabelled.contains(key));
            for (key, value) in &selected.labels {
                members.insert(key.clone(), Value::from(value.clone()));
            }
        }
        for key in keys {
            if members.contains_key(&key) {
                continue;
            }
            let is_required = facts.iter().any(|(path, _)| *path == key);
            self.path.push(key.clone());
            if is_required || !self.is_left_out() {
                if !is_required {
                    self.record_optional(false);
                }
                let value = match value {
                    Shape::Scalar(scalar) => self.scalar_of(*scalar, &key, Presence::Always, None),
                    shape => self.value(shape, field, None, &[]),
                };
                members.insert(key, value);
            }
            self.path.pop();
        }
        if members.is_empty() {
            let value = match value {
                Shape::Scalar(scalar) => self.scalar_of(*scalar, "", Presence::Always, None),
                shape => self.value(shape, field, None, &[]),
            };
            members.insert("example", value);
        }
        members.into()
    }

    fn scalar(&self, scalar: Scalar, field: &Field, default: Option<&'static str>) -> Value<'static> {
        if let ([metadata, name], Some(selected)) = (self.path.as_slice(), &self.spec.selected.name)
            && metadata == "metadata"
            && name == "name"
        {
            return Value::from(selected.clone());
        }
        let is_name = self.path == ["metadata", "name"];
        // It has a name of its own among the values that are tried, but not among those that are required.
        if is_name && let Some(value) = self.required_scalar(self.holder(), scalar, field.name) {
            return value;
        }
        let name = if is_name { OBJECT_NAME } else { field.name };
        self.scalar_of(scalar, name, field.presence, default)
    }

    /// The path of what has the field or key at the current path.
    fn holder(&self) -> &[String] {
        self.path.split_last().map_or(&[], |(_, holder)| holder)
    }

    /// The constant that conditions require of a field or key, if it can be its value.
    fn required_scalar(&self, holder: &[String], scalar: Scalar, name: &str) -> Option<Value<'static>> {
        fitting(scalar, self.spec.required.value(holder, name)?)
    }

    fn scalar_of(
        &self,
        scalar: Scalar,
        name: &str,
        presence: Presence,
        default: Option<&'static str>,
    ) -> Value<'static> {
        self.scalar_in(self.holder(), scalar, name, presence, default)
    }

    /// Notes that something is chosen which is chosen again after some rounds.
    fn repeat_after(&self, rounds: usize) {
        self.period.set(common_period(self.period.get(), rounds));
    }

    /// The value of a field or key of what is at a path.
    fn scalar_in(
        &self,
        holder: &[String],
        scalar: Scalar,
        name: &str,
        presence: Presence,
        default: Option<&'static str>,
    ) -> Value<'static> {
        if let Some(value) = self.required_scalar(holder, scalar, name) {
            return value;
        }
        // A field that is omitted when false is never false.
        let is_false = matches!(self.spec.required.value(holder, name), Some(Literal::Bool(false)));
        if is_false && scalar == Scalar::Bool && presence != Presence::UnlessEmpty {
            return Value::Bool(false);
        }
        let values = self.spec.interest.values(name);
        let tried = match (self.spec.round, values.len()) {
            (0, _) | (_, 0) => None,
            (round, count) => {
                self.repeat_after(count);
                values.get((round - 1) % count)
            }
        };
        if let Some(value) = tried.and_then(|literal| fitting(scalar, literal)) {
            return value;
        }
        if let Some(Ok(value)) = default.map(|text| parse(text.as_bytes())) {
            return value.into_owned();
        }
        match scalar {
            // A field that is omitted when false is never false.
            Scalar::Bool => {
                self.repeat_after(2);
                Value::Bool(self.spec.round.is_multiple_of(2) || presence == Presence::UnlessEmpty)
            }
            // More than the least that a policy may set.
            Scalar::Int32 if name == "maxReplicas" => Value::from(100),
            Scalar::Int32 | Scalar::Int64 | Scalar::Float => Value::from(1),
            Scalar::IntOrString => Value::from(80),
            Scalar::Quantity => Value::from(self.spec.quantity),
            Scalar::Bytes => Value::from("ZXhhbXBsZQ=="),
            Scalar::Time => Value::from("2025-01-01T00:00:00Z"),
            Scalar::MicroTime => Value::from("2025-01-01T00:00:00.000000Z"),
            Scalar::Duration => Value::from("1m0s"),
            Scalar::Json => Object::new().into(),
            Scalar::String => Value::from(plausible_text(holder.last().map_or("", String::as_str), name)),
        }
    }

    /// The alternatives of a type to build; none if it has no alternatives.
    fn members(&self, of: &StructType) -> Vec<String> {
        let all: Vec<&str> = of
            .fields
            .iter()
            .filter(|field| is_alternative(of, field))
            .map(|field| field.name)
            .collect();
        let is_left_out = |name: &str| match self.spec.without {
            Some([holder @ .., last]) => last == name && holder == self.path,
            _ => false,
        };
        let wanted = |name: &&str| match self.spec.fill {
            OptionalFill::Named => self.spec.interest.names(name),
            OptionalFill::Towards(path) => leads_through(path, &self.path, name),
        };
        let present: Vec<String> = all
            .iter()
            .copied()
            .filter(wanted)
            .filter(|name| !is_left_out(name))
            .map(str::to_owned)
            .collect();
        if !present.is_empty() {
            return present;
        }
        let usual = USUAL.iter().copied().filter(|name| all.contains(name));
        let mut other = usual.chain(all.iter().copied()).filter(|name| !is_left_out(name));
        other.next().map(str::to_owned).into_iter().collect()
    }
}

/// The preferred alternatives where expressions name none.
const USUAL: [&str; 8] = [
    "emptyDir",
    "exec",
    "tcpSocket",
    "fieldRef",
    "service",
    "hostPath",
    "configMap",
    "podSelector",
];

/// Whether a text may name what there are quantities of: constants of a policy are quantities, too.
// Upstream: pkg/apis/core/validation/validation.go, validateContainerResourceName: what has no slash has to be known
fn is_resource_name(key: &str) -> bool {
    const KNOWN: [&str; 5] = ["cpu", "memory", "storage", "ephemeral-storage", "pods"];
    // Of containers, of any domain, and of a quota.
    const STARTS: [&str; 4] = ["hugepages-", "requests.", "limits.", "count/"];
    let of_domain = key.split_once('/').is_some_and(|(domain, name)| {
        domain.contains('.') && name.starts_with(|c: char| c.is_ascii_alphabetic())
    });
    KNOWN.contains(&key) || of_domain || STARTS.iter().any(|start| key.starts_with(start))
}

/// Of its fields, `kind` says which others there are.
const SUBJECT: &str = "rbac/v1.Subject";

/// Whether the text that selects among the fields of a type requires one: a metric of the type `Resource` has the field `resource`.
fn is_required_by(of: &StructType, field: &str, text: &str) -> bool {
    if of.name == SUBJECT {
        return field == "namespace" && text == "ServiceAccount";
    }
    let mut letters = field.chars();
    let mut rest = text.chars();
    let is_named = letters.next() == rest.next().map(|first| first.to_ascii_lowercase())
        && letters.as_str() == rest.as_str();
    is_named || (field == "localhostProfile" && matches!(text, "Localhost" | "localhost"))
}

/// Whether a path leads through a field or key of what is at another path.
pub(super) fn leads_through(path: &[String], holder: &[String], name: &str) -> bool {
    path.starts_with(holder) && path.get(holder.len()).is_some_and(|next| next == name)
}

/// Structs of which exactly one field is set.
const ALTERNATIVES: [&str; 5] = [
    "core/v1.EnvVarSource",
    "core/v1.LifecycleHandler",
    "core/v1.VolumeProjection",
    "networking/v1.IngressBackend",
    "networking/v1.NetworkPolicyPeer",
];

/// Embedded structs of which exactly one field is set.
const SOURCES: [&str; 3] = ["VolumeSource", "PersistentVolumeSource", "ProbeHandler"];

fn is_alternative(of: &StructType, field: &Field) -> bool {
    ALTERNATIVES.contains(&of.name) || field.embedded().is_some_and(|name| SOURCES.contains(&name))
}

fn is_type_meta(field: &Field) -> bool {
    field.embedded() == Some("TypeMeta")
}

/// A constant as a value of a field.
fn fitting(scalar: Scalar, literal: &Literal) -> Option<Value<'static>> {
    match (scalar, literal) {
        (Scalar::String | Scalar::IntOrString | Scalar::Quantity, Literal::String(text)) => {
            // A field that is omitted when empty is never empty.
            (!text.is_empty()).then(|| Value::String(Cow::Owned((**text).to_owned())))
        }
        (Scalar::Int32 | Scalar::Int64 | Scalar::IntOrString, Literal::Int(number)) => {
            (*number != 0).then(|| Value::from(*number))
        }
        (Scalar::Bool, Literal::Bool(true)) => Some(Value::Bool(true)),
        _ => None,
    }
}

/// An element beside one that is the same but for its name.
pub(super) fn rename_element(mut element: Value<'static>, index: usize) -> Value<'static> {
    if let Value::Object(members) = &mut element
        && members.contains_key("name")
    {
        members.insert("name", Value::from(format!("example-{index}")));
    }
    element
}

/// A plausible value of a string field.
fn plausible_text(holder: &str, field: &str) -> &'static str {
    match (holder, field) {
        ("roleRef", "kind") => return "ClusterRole",
        // Of what else is scaled the version has to be there.
        ("scaleTargetRef", "kind") => return "ReplicationController",
        ("scaleTargetRef", "apiVersion") => return "v1",
        _ => {}
    }
    match field {
        "image" => "registry.example.com/example:1.0",
        "namespace" => "default",
        "uid" => "01234567-89ab-cdef-0123-456789abcdef",
        "path" | "mountPath" | "hostPath" => "/example",
        "host" | "hostname" | "externalName" => "example.com",
        "clusterIP" | "clusterIPs" | "podIP" | "hostIP" | "ip" | "loadBalancerIP" => "10.0.0.1",
        "accessModes" => "ReadWriteOnce",
        "ipFamilies" => "IPv4",
        "ipFamilyPolicy" => "SingleStack",
        "internalTrafficPolicy" => "Cluster",
        "restartPolicy" => "Always",
        "preemptionPolicy" => "PreemptLowerPriority",
        "qosClass" => "BestEffort",
        "phase" => "Pending",
        "schedule" => "0 4 * * *",
        "timeZone" => "Etc/UTC",
        "effect" => "NoSchedule",
        "addressType" => "IPv4",
        "controller" | "reportingController" | "signerName" | "finalizers" => "example.com/example",
        _ => "example",
    }
}
