//! The interface: an object is validated as the strategy of its kind does.

use pratique_gotext::net::Cidr;
use pratique_json::Value;
use pratique_schema::FeatureGates;
use pratique_types::field::ErrorKind;
use pratique_types::{GroupVersionKind, Status, StatusCause};

use crate::declarative::validate_declaratively;
use crate::direct_requests::{is_connected, validate_connected, validate_scale};
use crate::errors::Errors;
use crate::gates::FeatureSet;
use crate::kinds::{allocation_rule, rules_of};
use crate::node::Node;
use crate::object_meta::{validate_any_create, validate_any_update};
use crate::open_question::OpenQuestion;
use crate::reviews::review_rule;
use crate::rules::{DeviceCompiler, KindRules, NamespaceView, Request, Rule, ValidationSettings};
use crate::service_state::ServiceState;
use crate::version::internal_form;

/// An object to be validated, in the form in which a server validates it: decoded, defaulted, prepared.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The kind of the resource in the version of the request.
    pub kind: &'a GroupVersionKind,
    /// The part of the resource that is written, such as `status`; empty for the resource itself.
    pub subresource: &'a str,
    /// The object.
    pub object: &'a Value<'a>,
    /// Whether the request asks for nothing to be carried out, which an eviction may not contradict.
    pub is_dry_run: bool,
    /// The namespace of the object.
    pub namespace: NamespaceView<'a>,
    /// Of a Service, the others of its cluster; without it, what it asks for is free.
    pub services: Option<ServiceState<'a>>,
}

/// Why an object is not taken to be valid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Rejection {
    /// It is invalid: the server's answer, 422 with all causes; that of a question that lacks something is a bare 400, and
    /// that of a Binding, or of a port that cannot be had, 500 with their texts.
    #[error("{}", .0.message)]
    Invalid(Box<Status>),
    /// There are no rules here for the kind or its subresource: whether a server accepts the object is unknown.
    #[error("{0} is not validated")]
    NotValidated(String),
    /// It has no error, but for what is left open: whether a server accepts the object is unknown.
    #[error("{0} is not validated")]
    Open(OpenQuestion),
}

/// A field that is refused: the cause in the server's answer, and what is known besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldFault {
    /// Why it is refused.
    pub kind: ErrorKind,
    /// The cause as the server words it.
    pub cause: StatusCause,
    /// The values that would be taken; empty where that is no enumeration.
    pub supported: Vec<String>,
}

/// Validates objects as kube-apiserver does before it stores them. A valid object costs no allocation.
#[derive(Clone, Debug, Default)]
pub struct Validator {
    tables: Vec<&'static [KindRules]>,
    settings: ValidationSettings,
}

impl<'a> Candidate<'a> {
    /// An object of a kind.
    pub fn new(kind: &'a GroupVersionKind, object: &'a Value<'a>) -> Self {
        Candidate {
            kind,
            subresource: "",
            object,
            is_dry_run: false,
            namespace: NamespaceView::Unknown,
            services: None,
        }
    }

    /// The same in a namespace.
    #[must_use]
    pub fn in_namespace(self, namespace: NamespaceView<'a>) -> Self {
        Candidate { namespace, ..self }
    }

    /// The same for a Service in a cluster with others, which may have what it asks for.
    #[must_use]
    pub fn among_services(self, services: ServiceState<'a>) -> Self {
        Candidate {
            services: Some(services),
            ..self
        }
    }

    /// The same in a request that is not carried out.
    #[must_use]
    pub fn in_dry_run(self) -> Self {
        Candidate {
            is_dry_run: true,
            ..self
        }
    }

    /// A part of the resource.
    #[must_use]
    pub fn of_subresource(self, subresource: &'a str) -> Self {
        Candidate { subresource, ..self }
    }

    fn request<'r>(
        &self,
        object: &'r Value<'r>,
        old: &'r Value<'r>,
        settings: &'r ValidationSettings,
    ) -> Request<'r>
    where
        'a: 'r,
    {
        Request {
            settings,
            kind: self.kind,
            subresource: self.subresource,
            object: Node::root(object),
            old: Node::root(old),
            namespace: self.namespace,
            services: self.services,
            is_dry_run: self.is_dry_run,
        }
    }

    /// Adds the errors of the declarative rules, which are about the object in its version.
    pub(crate) fn validate_declaratively(&self, old: &Value<'_>, errors: &mut Errors) {
        validate_declaratively(self.kind, self.subresource, self.object, old, errors);
    }

    fn not_validated(&self) -> Rejection {
        let slash = if self.subresource.is_empty() { "" } else { "/" };
        Rejection::NotValidated(format!("{}{slash}{}", self.kind, self.subresource))
    }

    /// The verdict with these errors; `None` where there are no rules.
    fn conclude(&self, errors: Option<Errors>) -> Result<(), Rejection> {
        let mut errors = errors.ok_or_else(|| self.not_validated())?;
        if let Some(status) = errors.take_refusal() {
            return Err(Rejection::Invalid(status));
        }
        if !errors.is_empty() {
            return Err(self.rejection(errors));
        }
        match errors.left_open() {
            Some(what) => Err(Rejection::Open(what)),
            None => Ok(()),
        }
    }

    pub(crate) fn rejection(&self, errors: Errors) -> Rejection {
        let list = errors.into_list();
        let name = self.object.at(&["metadata", "name"]).and_then(Value::as_str);
        let GroupVersionKind { group, kind, .. } = self.kind;
        // Internally, the Events of both groups are those of the core.
        let group = if kind == "Event" { "" } else { group };
        Rejection::Invalid(Box::new(list.into_status(group, kind, name.unwrap_or_default())))
    }
}

impl Validator {
    /// The feature gates that rules depend on.
    pub const GATES: &'static [&'static str] = FeatureSet::NAMES;

    /// A validator of Kubernetes 1.37 with its defaults.
    pub fn new() -> Self {
        Validator::default()
    }

    /// The same, with the rules of more kinds.
    #[must_use]
    pub fn with_kinds(mut self, kinds: &'static [KindRules]) -> Self {
        self.tables.push(kinds);
        self
    }

    /// The same, with what compiles the expressions of claims to devices; without it, new objects with such expressions are not
    /// validated.
    #[must_use]
    pub fn with_device_expressions(mut self, compile: DeviceCompiler) -> Self {
        self.settings.compile_device_expression = Some(compile);
        self
    }

    /// The same, for a cluster that gives Services addresses of these networks, the first of its own family first. Of one whose
    /// networks are unknown, an address may be any.
    #[must_use]
    pub fn with_service_networks(mut self, networks: Vec<Cidr>) -> Self {
        self.settings.service_networks = networks;
        self
    }

    /// The same, for a server with these feature gates.
    ///
    /// ```
    /// use pratique_schema::FeatureGates;
    /// use pratique_validation::Validator;
    ///
    /// let gates = FeatureGates::default().with("TaintTolerationComparisonOperators", true);
    /// let validator = Validator::new().with_gates(gates);
    /// # let _ = validator;
    /// ```
    #[must_use]
    pub fn with_gates(mut self, gates: FeatureGates) -> Self {
        self.settings.gates = FeatureSet::new(gates);
        self
    }

    fn rules_of(&self, kind: &GroupVersionKind) -> Option<&'static KindRules> {
        let mut added = self.tables.iter().flat_map(|table| table.iter());
        added
            .find(|rules| rules.apply_to(kind))
            .or_else(|| rules_of(kind))
    }

    /// Whether there are rules for a kind, or for a part of its resource, where an object is created or updated.
    pub fn covers(&self, kind: &GroupVersionKind, subresource: &str, is_update: bool) -> bool {
        let absent = Value::Null;
        let candidate = Candidate::new(kind, &absent).of_subresource(subresource);
        let rules = self.rules_of(kind);
        let has_rules = if is_update {
            rules.is_some_and(|rules| update_rule(rules, &candidate).is_some())
        } else {
            rules.is_some() && subresource.is_empty()
        };
        has_rules || review_rule(kind).is_some() || is_connected(kind)
    }

    /// Validates a new object.
    ///
    /// # Errors
    /// It is invalid, or of a kind without rules.
    pub fn create(&self, candidate: &Candidate<'_>) -> Result<(), Rejection> {
        if let Some(rule) = review_rule(candidate.kind) {
            let absent = Value::Null;
            let request = candidate.request(candidate.object, &absent, &self.settings);
            return rule(&request).map_err(Rejection::Invalid);
        }
        validate_connected(candidate, self.settings.gates)
            .unwrap_or_else(|| candidate.conclude(self.create_errors(candidate)))
    }

    /// Validates a changed object beside the stored one.
    ///
    /// # Errors
    /// It is invalid, or of a kind without rules.
    pub fn update(&self, candidate: &Candidate<'_>, old: &Value<'_>) -> Result<(), Rejection> {
        validate_scale(candidate, old, self.settings.gates)
            .unwrap_or_else(|| candidate.conclude(self.update_errors(candidate, old)))
    }

    /// The fields for which an object is refused, in the server's order; none of a valid object, and of a kind without rules. The
    /// stored object is null where the object is new.
    pub fn faults(&self, candidate: &Candidate<'_>, old: &Value<'_>) -> Vec<FieldFault> {
        let errors = if old.is_null() {
            self.create_errors(candidate)
        } else {
            self.update_errors(candidate, old)
        };
        let list = errors.unwrap_or_default().into_list();
        let faults = list.into_vec().into_iter().map(|mut error| FieldFault {
            kind: error.kind,
            supported: std::mem::take(&mut error.supported),
            cause: error.into_cause(),
        });
        faults.collect()
    }

    /// The errors of a new object; `None` where there are no rules for it.
    // Upstream: apiserver/pkg/registry/rest/create.go, ValidateCreate
    fn create_errors(&self, candidate: &Candidate<'_>) -> Option<Errors> {
        let rules = self
            .rules_of(candidate.kind)
            .filter(|_| candidate.subresource.is_empty())?;
        let absent = Value::Null;
        let internal = internal_form(self.settings.release(), candidate.kind, candidate.object);
        let object = internal.as_ref().unwrap_or(candidate.object);
        let request = candidate.request(object, &absent, &self.settings);
        let mut errors = allocation_errors(&request);
        if errors.is_ended() {
            return Some(errors);
        }
        (rules.create)(&request, &mut errors);
        // Upstream: apiserver/pkg/registry/rest/create.go, BeforeCreate: before 1.37, declarative rules are part of the strategy, so
        // that what is common to all kinds is validated after them.
        let validates_common_last = !errors.release().at_least(1, 37);
        if validates_common_last {
            candidate.validate_declaratively(&absent, &mut errors);
        }
        if errors.is_empty() {
            let metadata = request.object.child("metadata");
            validate_any_create(&metadata, rules.is_namespaced, &mut errors);
        }
        if !validates_common_last {
            candidate.validate_declaratively(&absent, &mut errors);
        }
        Some(errors)
    }

    /// The errors of a changed object; `None` where there are no rules for it.
    // Upstream: apiserver/pkg/registry/rest/update.go, ValidateUpdate
    fn update_errors(&self, candidate: &Candidate<'_>, stored: &Value<'_>) -> Option<Errors> {
        let rules = self.rules_of(candidate.kind)?;
        let rule = update_rule(rules, candidate)?;
        let (internal, internal_old) = (
            internal_form(self.settings.release(), candidate.kind, candidate.object),
            internal_form(self.settings.release(), candidate.kind, stored),
        );
        let request = candidate.request(
            internal.as_ref().unwrap_or(candidate.object),
            internal_old.as_ref().unwrap_or(stored),
            &self.settings,
        );
        let mut errors = allocation_errors(&request);
        if errors.is_ended() {
            return Some(errors);
        }
        let (metadata, old) = (request.object.child("metadata"), request.old.child("metadata"));
        validate_any_update(&metadata, &old, rules.is_namespaced, &mut errors);
        // Upstream: apiserver/pkg/registry/rest/update.go, BeforeUpdate: before 1.37, declarative rules are part of the strategy, and
        // replace none of the errors that are common to all kinds.
        if !errors.release().at_least(1, 37) {
            let mut own = Errors::of_gates(request.settings.gates);
            rule(&request, &mut own);
            candidate.validate_declaratively(stored, &mut own);
            errors.extend(own);
            return Some(errors);
        }
        rule(&request, &mut errors);
        candidate.validate_declaratively(stored, &mut errors);
        Some(errors)
    }
}

/// The errors of what is allocated before the rest is looked at.
fn allocation_errors(request: &Request<'_>) -> Errors {
    let mut errors = Errors::of_gates(request.settings.gates);
    if let Some(rule) = allocation_rule(request.kind).filter(|_| request.subresource.is_empty()) {
        rule(request, &mut errors);
    }
    errors
}

fn update_rule(rules: &KindRules, candidate: &Candidate<'_>) -> Option<Rule> {
    // A workload whose scale is written is validated whole.
    if matches!(candidate.subresource, "" | "scale") {
        return Some(rules.update);
    }
    let mut parts = rules.subresources.iter();
    parts
        .find(|(name, _)| *name == candidate.subresource)
        .map(|(_, rule)| *rule)
}
