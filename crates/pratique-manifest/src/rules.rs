//! Document by document to the objects of a set: decoding, defaulting, validation, and the rules of static manifests.

mod faults;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use k8s_openapi::Metadata;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::decode;
use crate::kind::Kind;
use crate::load::{FileDocument, Options, Texts};
use crate::parse::{self, Parsed};
use crate::plugin::Plugin;
use crate::problem::{Failure, ObjectName};
use crate::registry::{self, Registered};
use crate::report::{self, Report};
use crate::schema;
use crate::set::{Loaded, ManifestSet, ObjectSource};
use crate::tree::{NodeId, Value};
use crate::{default, validate};

/// The reserved suffix of static manifests' names.
pub(crate) const SUFFIX: &str = ".static.k8s.io";

/// Where objects are to live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// In the directory of a plugin.
    Plugin(Plugin),
    /// In the API, where none of the rules of static manifests holds.
    Api,
}

impl Home {
    fn accepts(self, kind: Kind) -> bool {
        match self {
            Home::Plugin(plugin) => plugin.accepts(kind),
            Home::Api => true,
        }
    }
}

/// How many lists may be in each other. The server has no bound.
const MAX_LISTS: usize = 128;

/// The file that first had a name, by kind and name.
type Names = HashMap<(Kind, Box<str>), Arc<str>>;

/// Takes documents one after the other and keeps what they hold and what is wrong with them.
pub(crate) struct StaticRules<'a> {
    home: Home,
    options: &'a Options<'a>,
    texts: Texts,
    set: ManifestSet,
    /// The objects of the file that documents are being taken of.
    of_file: ManifestSet,
    failures: Vec<Failure>,
    /// How many failures there were before that file.
    failures_before: usize,
    /// The file that first had a name, by its kind and name.
    names: Names,
    /// Names of policies at fault, so that bindings are not blamed for it.
    policies: HashSet<String>,
}

/// Why a value is refused, and the value nevertheless, where all of it has the right type.
struct Refused {
    report: Report,
    decoded: Option<(Registered, Json)>,
}

impl From<Report> for Refused {
    fn from(report: Report) -> Self {
        Refused {
            report,
            decoded: None,
        }
    }
}

/// An object on its way through the rules.
struct Candidate<'a> {
    kind: Kind,
    value: Json,
    source: ObjectSource,
    file: &'a Arc<str>,
}

impl<'a> StaticRules<'a> {
    pub(crate) fn new(home: Home, options: &'a Options<'a>, texts: Texts) -> Self {
        Self {
            home,
            options,
            texts,
            set: ManifestSet::default(),
            of_file: ManifestSet::default(),
            failures: Vec::new(),
            failures_before: 0,
            names: HashMap::new(),
            policies: HashSet::new(),
        }
    }

    /// Takes a document of a file with this text.
    pub(crate) fn accept(&mut self, document: FileDocument, text: &Arc<String>) {
        let file = Arc::clone(&document.file);
        let parsed = parse::parse(document).map(|parsed| match self.texts {
            Texts::Kept => parsed.share(text),
            Texts::LetGo => parsed,
        });
        match parsed {
            Ok(parsed) => self.accept_value(&parsed, parsed.root, &file, 0),
            Err(fault) => self.fail(&file, *fault),
        }
    }

    /// Ends a file, and gives its objects if they are wanted and nothing is wrong with any.
    pub(crate) fn end_file(&mut self, wanted: bool) -> Option<ManifestSet> {
        let mut objects = std::mem::take(&mut self.of_file);
        let is_good = self.failures.len() == self.failures_before;
        self.failures_before = self.failures.len();
        let given = (wanted && is_good).then(|| objects.clone());
        self.set.append(&mut objects);
        given
    }

    /// Takes a file's objects that were taken before, unless another file has one of their names.
    pub(crate) fn accept_known(&mut self, objects: &ManifestSet, file: &str) -> bool {
        let names: Vec<_> = objects
            .names()
            .map(|(kind, name)| (kind, Box::from(name)))
            .collect();
        if names.iter().any(|name| self.names.contains_key(name)) {
            return false;
        }
        let file: Arc<str> = file.into();
        self.names
            .extend(names.into_iter().map(|name| (name, Arc::clone(&file))));
        self.set.append(&mut objects.clone());
        true
    }

    /// Takes a document's value, or an item of a list in so many lists in it.
    fn accept_value(&mut self, parsed: &Parsed, id: NodeId, file: &Arc<str>, lists: usize) {
        let decoded = self.decode(parsed, id).unwrap_or_else(|refused| {
            let mut report = refused.report;
            if id != parsed.root {
                report.text = format!("failed to decode list item: {}", report.text);
            }
            self.fail(file, report);
            // The server stops here; what else is wrong is told as well, if there is a value to look at.
            refused.decoded
        });
        match decoded {
            None => {}
            Some((Registered::List, _)) if lists >= MAX_LISTS => {
                let text = format!("lists are nested more than {MAX_LISTS} levels deep");
                self.fail(file, report::unsupported(parsed, id, text));
            }
            Some((Registered::List, _)) => {
                for item in list_items(parsed, id) {
                    self.accept_value(parsed, item, file, lists + 1);
                }
            }
            Some((registered, value)) => self.accept_registered(parsed, id, file, registered, value),
        }
    }

    fn decode(&mut self, parsed: &Parsed, id: NodeId) -> Result<Option<(Registered, Json)>, Refused> {
        let header = report::header(parsed, id)?;
        let registered = registry::find(&header)
            .ok_or_else(|| report::unsupported(parsed, id, registry::not_registered(&header)))?;
        let shape = match &registered {
            Registered::Object(kind) => schema::kind_type(*kind),
            Registered::TypedList(kind) => schema::list_type(*kind),
            Registered::List => &schema::LIST,
            Registered::Other {
                shape: Some(shape), ..
            } => shape,
            Registered::Other { shape: None, .. } => return Ok(Some((registered, Json::Null))),
        };
        let decoded = decode::decode(parsed.tree(), id, shape, &header.version);
        match report::decoding(parsed, id, &decoded) {
            None => Ok(Some((registered, decoded.value))),
            Some(report) => {
                self.note_names(&registered, &decoded.value);
                let is_whole = decoded.fatal.is_empty() && decoded.types.is_empty();
                let decoded = is_whole.then_some((registered, decoded.value));
                Err(Refused { report, decoded })
            }
        }
    }

    fn accept_registered(
        &mut self,
        parsed: &Parsed,
        id: NodeId,
        file: &Arc<str>,
        registered: Registered,
        value: Json,
    ) {
        match registered {
            Registered::Object(kind) if self.home.accepts(kind) => {
                self.accept_objects(parsed, file, kind, vec![(id, value)]);
            }
            Registered::TypedList(kind) if self.home.accepts(kind) => {
                let items = list_items(parsed, id)
                    .into_iter()
                    .zip(into_items(value))
                    .collect();
                self.accept_objects(parsed, file, kind, items);
            }
            // Its items are taken one by one.
            Registered::List => {}
            Registered::Object(kind) => self.refuse_type(parsed, id, file, &format!("*v1.{kind}")),
            Registered::TypedList(kind) => self.refuse_type(parsed, id, file, &format!("*v1.{kind}List")),
            Registered::Other { type_name, .. } => self.refuse_type(parsed, id, file, &type_name),
        }
    }

    fn refuse_type(&mut self, parsed: &Parsed, id: NodeId, file: &str, type_name: &str) {
        self.fail(
            file,
            report::unsupported(parsed, id, format!("unsupported resource type {type_name}")),
        );
    }

    /// Defaults and validates all objects of a document, and then looks at each one's name and what it may not have.
    fn accept_objects(&mut self, parsed: &Parsed, file: &Arc<str>, kind: Kind, items: Vec<(NodeId, Json)>) {
        let mut candidates = Vec::with_capacity(items.len());
        for (id, mut value) in items {
            default::apply(kind, &mut value);
            let source = ObjectSource::new(Arc::clone(&parsed.document), id);
            let candidate = Candidate {
                kind,
                value,
                source,
                file,
            };
            let valid = self.validate(&candidate);
            candidates.push((candidate, valid));
        }
        for (candidate, valid) in candidates {
            self.accept_object(candidate, valid);
        }
    }

    fn validate(&mut self, candidate: &Candidate<'_>) -> bool {
        let errors = validate::validate(candidate.kind, &candidate.value, self.options.expressions);
        if errors.is_empty() {
            return true;
        }
        let name = pratique_cel::quote::quoted(candidate.name());
        let text = format!("{} {name}: {}", candidate.kind, validate::aggregate(&errors));
        let object = candidate.object_name();
        let problems = errors
            .into_iter()
            .flat_map(|error| faults::field(&candidate.source, &object, error))
            .collect();
        self.fail(candidate.file, Report { text, problems });
        false
    }

    fn accept_object(&mut self, candidate: Candidate<'_>, valid: bool) {
        let fault = match self.home {
            Home::Plugin(_) => {
                faults::static_name(&candidate, &mut self.names).or_else(|| faults::static_rule(&candidate))
            }
            Home::Api => faults::repeated_name(&candidate, &mut self.names),
        };
        if fault.is_some() && !candidate.kind.is_binding() {
            self.policies.insert(candidate.name().to_owned());
        }
        match fault {
            // A name that is not there has been complained about.
            Some(_) if candidate.name().is_empty() => {}
            Some(report) => self.fail(candidate.file, report),
            None if valid => self.put(candidate),
            None => {}
        }
    }

    /// The place of a binding's policy may yet be asked for, if the policy was not there before.
    fn put(&mut self, candidate: Candidate<'_>) {
        let source = match self.texts {
            Texts::LetGo if !self.lacks_policy(&candidate) => candidate.source.without_text(),
            Texts::LetGo | Texts::Kept => candidate.source,
        };
        put(&mut self.of_file, candidate.kind, candidate.value, source);
    }

    /// Whether it is a binding whose policy is not known yet.
    fn lacks_policy(&self, candidate: &Candidate<'_>) -> bool {
        let policy = candidate.pointer("/spec/policyName").and_then(Json::as_str);
        candidate.kind.is_binding() && !self.is_named(policy_kind(candidate.kind), policy.unwrap_or_default())
    }

    fn is_named(&self, kind: Kind, policy: &str) -> bool {
        self.names.contains_key(&(kind, policy.into())) || self.policies.contains(policy)
    }

    /// Keeps the names of policies that did not decode, so that bindings are not blamed for it.
    fn note_names(&mut self, registered: &Registered, value: &Json) {
        let values = match registered {
            Registered::Object(_) => std::slice::from_ref(value),
            Registered::TypedList(_) => value
                .get("items")
                .and_then(Json::as_array)
                .map_or(&[][..], Vec::as_slice),
            _ => &[],
        };
        let names = values
            .iter()
            .filter_map(|value| value.pointer("/metadata/name"))
            .filter_map(Json::as_str);
        self.policies.extend(names.map(str::to_owned));
    }

    fn fail(&mut self, file: &str, report: Report) {
        let text = format!("error loading {file}: {}", report.text);
        self.failures.push(Failure {
            text,
            problems: report.problems,
        });
    }

    /// Looks at the bindings' policies, and gives the set, sorted by name, and everything that is wrong.
    pub(crate) fn finish(mut self) -> (ManifestSet, Vec<Failure>) {
        if self.home != Home::Api {
            let missing = missing_policies(&self.set, |kind, policy| self.is_named(kind, policy));
            self.failures.extend(missing);
        }
        drop((self.names, self.policies));
        if self.texts == Texts::LetGo {
            let_go(&mut self.set.validating_bindings);
            let_go(&mut self.set.mutating_bindings);
        }
        sort(&mut self.set);
        (self.set, self.failures)
    }
}

impl Candidate<'_> {
    fn name(&self) -> &str {
        name_of(&self.value)
    }

    fn object_name(&self) -> ObjectName {
        ObjectName {
            kind: self.kind,
            name: self.name().to_owned(),
        }
    }

    fn pointer(&self, pointer: &str) -> Option<&Json> {
        self.value.pointer(pointer).filter(|value| !value.is_null())
    }
}

fn name_of(value: &Json) -> &str {
    let name = value.get("metadata").and_then(|metadata| metadata.get("name"));
    name.and_then(Json::as_str).unwrap_or_default()
}

/// The nodes of a list's items.
fn list_items(parsed: &Parsed, id: NodeId) -> Vec<NodeId> {
    let items = parsed.tree().entry(id, "items").map(|entry| entry.value);
    match items.map(|items| &parsed.tree().get(items).value) {
        Some(Value::List(items)) => items.clone(),
        _ => Vec::new(),
    }
}

fn into_items(mut list: Json) -> Vec<Json> {
    match list.get_mut("items").map(Json::take) {
        Some(Json::Array(items)) => items,
        _ => Vec::new(),
    }
}

fn put(set: &mut ManifestSet, kind: Kind, value: Json, source: ObjectSource) {
    match kind {
        Kind::ValidatingAdmissionPolicy => typed(&mut set.validating_policies, kind, value, source),
        Kind::ValidatingAdmissionPolicyBinding => typed(&mut set.validating_bindings, kind, value, source),
        Kind::MutatingAdmissionPolicy => typed(&mut set.mutating_policies, kind, value, source),
        Kind::MutatingAdmissionPolicyBinding => typed(&mut set.mutating_bindings, kind, value, source),
        Kind::ValidatingWebhookConfiguration => typed(&mut set.validating_webhooks, kind, value, source),
        Kind::MutatingWebhookConfiguration => typed(&mut set.mutating_webhooks, kind, value, source),
    }
}

/// Everything in the value has the type that its field has, so this cannot fail; were it to, the object is left out.
fn typed<T: DeserializeOwned>(list: &mut Vec<Loaded<T>>, kind: Kind, mut value: Json, source: ObjectSource) {
    if let Some(fields) = value.as_object_mut() {
        fields.insert("apiVersion".to_owned(), "admissionregistration.k8s.io/v1".into());
        fields.insert("kind".to_owned(), kind.name().into());
    }
    if let Ok(object) = serde_json::from_value(value) {
        let object = Arc::new(object);
        list.push(Loaded { object, source });
    }
}

fn let_go<T>(list: &mut [Loaded<T>]) {
    for loaded in list.iter_mut().filter(|loaded| loaded.source.has_text()) {
        loaded.source = loaded.source.without_text();
    }
}

/// The bindings whose policies are not among those named.
fn missing_policies(set: &ManifestSet, is_named: impl Fn(Kind, &str) -> bool) -> Vec<Failure> {
    let validating = set.validating_bindings.iter().map(|binding| {
        let policy = Some(binding.object.spec.policy_name.as_str());
        (
            Kind::ValidatingAdmissionPolicyBinding,
            &binding.object.metadata,
            policy,
            &binding.source,
        )
    });
    let mutating = set.mutating_bindings.iter().map(|binding| {
        let policy = binding
            .object
            .spec
            .as_ref()
            .and_then(|spec| spec.policy_name.as_deref());
        (
            Kind::MutatingAdmissionPolicyBinding,
            &binding.object.metadata,
            policy,
            &binding.source,
        )
    });
    let failure = |(kind, metadata, policy, source): (Kind, &ObjectMeta, Option<&str>, &ObjectSource)| {
        let policy = policy.unwrap_or_default();
        let name = metadata.name.as_deref().unwrap_or_default();
        (!is_named(policy_kind(kind), policy)).then(|| faults::missing_policy(kind, name, policy, source))
    };
    validating.chain(mutating).filter_map(failure).collect()
}

/// The kind of the policies of a kind of bindings.
fn policy_kind(of: Kind) -> Kind {
    match of {
        Kind::MutatingAdmissionPolicyBinding => Kind::MutatingAdmissionPolicy,
        _ => Kind::ValidatingAdmissionPolicy,
    }
}

fn sort(set: &mut ManifestSet) {
    by_name(&mut set.validating_policies);
    by_name(&mut set.validating_bindings);
    by_name(&mut set.mutating_policies);
    by_name(&mut set.mutating_bindings);
    by_name(&mut set.validating_webhooks);
    by_name(&mut set.mutating_webhooks);
}

fn by_name<T: Metadata<Ty = ObjectMeta>>(list: &mut Vec<Loaded<T>>) {
    list.shrink_to_fit();
    let name = |loaded: &Loaded<T>| loaded.object.metadata().name.clone();
    if !list.is_sorted_by(|a, b| a.object.metadata().name <= b.object.metadata().name) {
        list.sort_by_cached_key(name);
    }
}
