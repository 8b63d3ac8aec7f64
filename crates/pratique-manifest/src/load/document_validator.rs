//! Decodes, defaults and validates one document, and applies the rules of static manifests that are about one object.
//! Nothing here depends on other documents, so several can be validated at the same time.

use std::sync::Arc;

use pratique_gotext::strconv::quote;
use pratique_schema::Release;
use pratique_types::{ADMISSION_GROUP, aggregate};
use serde_json::Value as Json;

use super::options::{LoadOptions, SourceTexts};
use super::selection::ObjectSelection;
use super::set::{ManifestObject, OlderVersion, OptionalVersion};
use crate::budget::{Budget, DOCUMENT};
use crate::decode::registry::{self, ApiVersion, RegisteredKind, ServedVersions};
use crate::decode::{self, RawDecoding, failures};
use crate::expression::StoredExpressions;
use crate::kind::Kind;
use crate::list::list_items;
use crate::parse::file_document::FileDocument;
use crate::parse::source::ObjectSource;
use crate::parse::{self, ParsedContent};
use crate::plugin::ManifestPlugin;
use crate::position::Location;
use crate::problem::{Failure, ObjectName, Problem, Rule};
use crate::tree::{NodeId, PathStep, TreeValue};
use crate::validate::problems::{self, ProblemSubject};
use crate::validate::wrong_fields::WrongFields;
use crate::validate::{DeclarativeRules, FieldError, created_metadata, static_rules};
use crate::{default, validate};

/// The use of manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ManifestScope {
    /// The directory of a plugin.
    Plugin(ManifestPlugin),
    /// The API, whose objects are free of the rules of static manifests.
    Api,
}

impl ManifestScope {
    fn accepts(self, kind: Kind) -> bool {
        match self {
            ManifestScope::Plugin(plugin) => plugin.accepts(kind),
            ManifestScope::Api => true,
        }
    }

    /// The declarative rules that a server of a release applies to what is loaded.
    fn declarative_rules(self, release: &Release) -> DeclarativeRules {
        match self {
            // Upstream: api/admissionregistration/v1/types.go: +k8s:beta since 1.37, which the registry enforces; +k8s:alpha before.
            ManifestScope::Api if release.at_least(1, 37) => DeclarativeRules::Told,
            // Upstream: pkg/admission/plugin/policy/manifest/loader, ValidateDeclarativelyForManifest since 1.38.
            ManifestScope::Plugin(_) if release.at_least(1, 38) => DeclarativeRules::Told,
            _ => DeclarativeRules::Absent,
        }
    }

    /// A failure with the file that it is in, as messages of this scope have it: the API knows no files.
    pub(crate) fn placed(self, failure: Failure, file: &str) -> Failure {
        match self {
            ManifestScope::Plugin(_) => failure.in_file(file),
            ManifestScope::Api => failure,
        }
    }
}

/// How deep lists may nest. The server has no bound.
const MAX_LISTS: usize = 128;

/// Validates documents.
#[derive(Clone, Copy)]
pub(crate) struct DocumentValidator<'a> {
    pub(crate) scope: ManifestScope,
    pub(crate) options: &'a LoadOptions<'a>,
    pub(crate) texts: SourceTexts,
    pub(crate) budget: &'a Budget,
    /// Which objects are loaded.
    pub(crate) selection: ObjectSelection,
    /// The versions that the API serves.
    pub(crate) served: ServedVersions,
    /// Whether expressions are those of stored objects, which keep the ones that do not compile.
    pub(crate) has_stored_expressions: bool,
}

/// A result of validating a document.
pub(crate) enum DocumentFinding {
    /// An error.
    Failure(Failure),
    /// What does not compile of a stored object, which is there nevertheless.
    Uncompiled(Failure),
    /// The name of a policy that did not decode.
    UndecodedPolicy(String),
    /// The text of a document that does not parse.
    Unparsed(Box<str>),
    /// An object.
    Object(Box<UncheckedObject>),
    /// Text after the end of the document, which the server does not read.
    TrailingText(Location),
}

/// An object whose name and references have yet to be checked against other objects.
pub(crate) struct UncheckedObject {
    pub(crate) name: ObjectName,
    /// Violations of the rules of static manifests.
    pub(crate) failures: Vec<Failure>,
    /// The policy that it binds, if it is a binding.
    pub(crate) policy: Option<String>,
    /// The typed object; none if it is not valid.
    pub(crate) object: Option<ManifestObject>,
    /// The version that it is written in, where that has other defaults.
    pub(crate) older: Option<OlderVersion>,
    /// The same, where servers have that only if they are told to.
    pub(crate) optional: Option<OptionalVersion>,
    pub(crate) source: ObjectSource,
}

/// Why a value does not decode, and as much of it as does.
struct DecodeFailure {
    failure: Failure,
    decoded: Option<Box<DecodedDocument>>,
}

/// A decoded value, and its fields that have the wrong type.
struct DecodedDocument {
    registered: RegisteredKind,
    /// The version that it is written in.
    version: ApiVersion,
    value: Json,
    wrong: WrongFields,
}

impl From<Failure> for DecodeFailure {
    fn from(failure: Failure) -> Self {
        DecodeFailure {
            failure,
            decoded: None,
        }
    }
}

impl<'a> DocumentValidator<'a> {
    pub(crate) fn new(
        scope: ManifestScope,
        options: &'a LoadOptions<'a>,
        texts: SourceTexts,
        budget: &'a Budget,
    ) -> Self {
        DocumentValidator {
            scope,
            options,
            texts,
            budget,
            selection: ObjectSelection::Everything,
            served: ServedVersions::OfRelease,
            has_stored_expressions: false,
        }
    }

    /// The findings about a document of a file with this text, in order, and the part of the budget that it took. There
    /// are none once the budget is exceeded.
    pub(crate) fn validate(&self, document: FileDocument, text: &Arc<String>) -> (Vec<DocumentFinding>, u64) {
        if self.budget.is_exceeded() {
            return Default::default();
        }
        let mut validation = DocumentValidation {
            validator: self,
            file: Arc::clone(&document.file),
            findings: Vec::new(),
            cost: DOCUMENT,
        };
        let written = String::from_utf8_lossy(&document.raw.bytes)
            .into_owned()
            .into_boxed_str();
        let release = self.options.expressions().release();
        let parsed = parse::parse(document, self.budget, release).map(|parsed| match self.texts {
            SourceTexts::Kept => parsed.share(text),
            SourceTexts::Discarded => parsed,
        });
        match parsed {
            Ok(mut parsed) => {
                if self.scope == ManifestScope::Api {
                    parsed.resolve_merge_keys();
                }
                validation.cost += parsed.cost;
                validation.value(&parsed, parsed.root, 0);
                let trailing_text = parsed.rest_location().map(DocumentFinding::TrailingText);
                validation.findings.extend(trailing_text);
            }
            Err(fault) => {
                validation.fail(*fault);
                validation.findings.push(DocumentFinding::Unparsed(written));
            }
        }
        (validation.findings, validation.cost)
    }
}

/// The findings about a document so far.
struct DocumentValidation<'e> {
    validator: &'e DocumentValidator<'e>,
    file: Arc<str>,
    findings: Vec<DocumentFinding>,
    /// The cost of the document.
    cost: u64,
}

impl DocumentValidation<'_> {
    /// Validates a document's value, or an item within so many lists in it.
    fn value(&mut self, parsed: &ParsedContent, id: NodeId, lists: usize) {
        if self.validator.budget.is_exceeded() {
            return;
        }
        if self.validator.selection.skips_kinds() && !self.may_belong(parsed, id) {
            return;
        }
        if let Some(items) = self.client_list(parsed, id) {
            return self.items(parsed, id, items, lists);
        }
        let decoded = self.decode(parsed, id).unwrap_or_else(|error| {
            let mut failure = error.failure;
            if id != parsed.root {
                failure = failure.prefixed("failed to decode list item: ");
            }
            self.fail(failure);
            // The server stops here; other errors are reported as well if there is a value.
            error.decoded.map(|decoded| *decoded)
        });
        match decoded {
            None => {}
            Some(DecodedDocument {
                registered: RegisteredKind::List,
                ..
            }) => self.items(parsed, id, item_nodes(parsed, id), lists),
            Some(decoded) => self.registered(parsed, id, decoded),
        }
    }

    /// Validates the items of a list within so many others.
    fn items(&mut self, parsed: &ParsedContent, list: NodeId, items: &[NodeId], lists: usize) {
        if lists >= MAX_LISTS {
            let text = format!("lists are nested more than {MAX_LISTS} levels deep");
            let release = self.validator.options.expressions().release();
            return self.fail(failures::unsupported(parsed, list, text, release));
        }
        for item in items {
            self.value(parsed, *item, lists + 1);
        }
    }

    /// The items of an object of the API that is a list to clients, and whose kind is not one of lists. The server, which reads
    /// static manifests itself, knows lists by their kinds alone.
    fn client_list<'p>(&self, parsed: &'p ParsedContent, id: NodeId) -> Option<&'p [NodeId]> {
        let kind = text_of(parsed, parsed.tree().entry(id, "kind")?.value)?;
        let is_unusual = self.validator.scope == ManifestScope::Api && !kind.ends_with("List");
        is_unusual.then(|| list_items(parsed.tree(), id)).flatten()
    }

    /// Whether a value is of a kind in the scope, or a list that may have such items.
    fn may_belong(&self, parsed: &ParsedContent, id: NodeId) -> bool {
        let entry = parsed.tree().entry(id, "kind");
        let Some(TreeValue::String(name, _)) = entry.map(|entry| &parsed.tree().get(entry.value).value)
        else {
            return false;
        };
        let of_items = || Kind::from_name(name.strip_suffix("List")?);
        match (Kind::from_name(name), of_items()) {
            (Some(_), _) if self.client_list(parsed, id).is_some() => true,
            (Some(kind), _) => self.validator.scope.accepts(kind) && self.is_selected(parsed, id, kind),
            (None, Some(kind)) => self.validator.scope.accepts(kind),
            (None, None) => {
                &**name == "List" || self.client_list(parsed, id).is_some() || self.is_of_group(parsed, id)
            }
        }
    }

    /// Whether a value of a kind that is none is meant as an object of the API that configures admission, by its group.
    fn is_of_group(&self, parsed: &ParsedContent, id: NodeId) -> bool {
        let version = parsed.tree().entry(id, "apiVersion").map(|entry| entry.value);
        let group = version
            .and_then(|version| text_of(parsed, version))
            .and_then(|version| version.split_once('/'));
        self.validator.scope == ManifestScope::Api && group.is_some_and(|(group, _)| group == ADMISSION_GROUP)
    }

    /// Whether an object of a kind is one of those to load.
    fn is_selected(&self, parsed: &ParsedContent, id: NodeId, kind: Kind) -> bool {
        let name = text_in(parsed, id, ["metadata", "name"]).unwrap_or_default();
        let policy = text_in(parsed, id, ["spec", "policyName"]);
        self.validator.selection.has(kind, &name, policy.as_deref())
    }

    fn decode(
        &mut self,
        parsed: &ParsedContent,
        id: NodeId,
    ) -> Result<Option<DecodedDocument>, DecodeFailure> {
        let find = match self.validator.scope {
            ManifestScope::Plugin(_) => registry::find_static,
            ManifestScope::Api => registry::find_served,
        };
        let mut described = String::new();
        let release = self.validator.options.expressions().release();
        let document_kind = failures::kind_of(parsed, id, release).and_then(|kind| {
            described = format!("{} in version {}", kind.kind, quote(&kind.version));
            if self.validator.scope == ManifestScope::Api {
                if let Some(text) = registry::not_served(&kind, self.validator.served, release) {
                    return Err(failures::not_served(parsed, id, text, release));
                }
                if let Some(text) = registry::unknown_kind(&kind) {
                    return Err(failures::unsupported(parsed, id, text, release));
                }
            }
            find(&kind, release).ok_or_else(|| failures::not_registered(parsed, id, &kind, release))
        });
        let (registered, version) = document_kind.inspect_err(|_| {
            let name = name_in(parsed, id);
            self.findings.extend(name.map(DocumentFinding::UndecodedPolicy));
        })?;
        let (type_name, raw) = match &registered {
            RegisteredKind::Object(kind) => (
                format!("admissionregistration/{version}.{kind}"),
                RawDecoding::Kept,
            ),
            RegisteredKind::TypedList(kind) => (
                format!("admissionregistration/{version}.{kind}List"),
                RawDecoding::Kept,
            ),
            // Its items are decoded one by one.
            RegisteredKind::List => ("meta/v1.List".to_owned(), RawDecoding::LeftOut),
            RegisteredKind::Other {
                decoded_as: Some(type_name),
                ..
            } => (type_name.clone(), RawDecoding::Kept),
            RegisteredKind::Other { decoded_as: None, .. } => {
                return Ok(Some(DecodedDocument::whole(registered, version, Json::Null)));
            }
        };
        let release = self.validator.options.expressions().release();
        let decoded = decode::decode(release, parsed.tree(), id, &type_name, raw);
        match failures::decoding(parsed, id, &decoded) {
            None => Ok(Some(DecodedDocument::whole(registered, version, decoded.value))),
            Some(failure) => {
                let failure = match (self.validator.scope, &registered) {
                    // Upstream: apiserver/pkg/endpoints/handlers/rest.go, transformDecodeError
                    (ManifestScope::Api, RegisteredKind::Object(kind)) => {
                        failure.prefixed(&format!("{described} cannot be handled as a {kind}: "))
                    }
                    _ => failure,
                };
                self.record_names(&registered, &decoded.value);
                let wrong = decoded.fatal.into_iter().chain(decoded.types);
                let wrong = WrongFields::new(wrong.map(|fault| fault.field).collect());
                let decoded = decoded.value.is_object().then_some(DecodedDocument {
                    registered,
                    version,
                    value: decoded.value,
                    wrong,
                });
                let decoded = decoded.map(Box::new);
                Err(DecodeFailure { failure, decoded })
            }
        }
    }

    /// Records the names of policies that did not decode: they do not count as missing for bindings.
    fn record_names(&mut self, registered: &RegisteredKind, value: &Json) {
        let values = match registered {
            RegisteredKind::Object(_) => std::slice::from_ref(value),
            RegisteredKind::TypedList(_) => value
                .get("items")
                .and_then(Json::as_array)
                .map_or(&[][..], Vec::as_slice),
            _ => &[],
        };
        let names = values
            .iter()
            .filter_map(|value| value.pointer("/metadata/name"))
            .filter_map(Json::as_str);
        self.findings
            .extend(names.map(|name| DocumentFinding::UndecodedPolicy(name.to_owned())));
    }

    fn registered(&mut self, parsed: &ParsedContent, id: NodeId, decoded: DecodedDocument) {
        let DecodedDocument {
            registered,
            version,
            value,
            wrong,
        } = decoded;
        let scope = self.validator.scope;
        match registered {
            RegisteredKind::Object(kind) if scope.accepts(kind) => {
                self.objects(parsed, (kind, version), vec![(id, value, wrong)]);
            }
            RegisteredKind::TypedList(kind) if scope.accepts(kind) => {
                let items = item_nodes(parsed, id).iter().copied().zip(into_items(value));
                let items = items.enumerate();
                let items = items.map(|(index, (id, value))| (id, value, wrong.of_item(index)));
                let items = items.filter(|(id, ..)| self.is_selected(parsed, *id, kind));
                self.objects(parsed, (kind, version), items.collect());
            }
            // Its items are validated one by one.
            RegisteredKind::List => {}
            RegisteredKind::Object(kind) => self.refuse_type(parsed, id, &format!("*v1.{kind}")),
            RegisteredKind::TypedList(kind) => self.refuse_type(parsed, id, &format!("*v1.{kind}List")),
            RegisteredKind::Other { type_name, .. } => self.refuse_type(parsed, id, &type_name),
        }
    }

    fn refuse_type(&mut self, parsed: &ParsedContent, id: NodeId, type_name: &str) {
        let text = format!("unsupported resource type {type_name}");
        let release = self.validator.options.expressions().release();
        self.fail(failures::unsupported(parsed, id, text, release));
    }

    /// Defaults and validates all objects of a document; errors of validation come before the objects.
    fn objects(
        &mut self,
        parsed: &ParsedContent,
        (kind, version): (Kind, ApiVersion),
        items: Vec<(NodeId, Json, WrongFields)>,
    ) {
        let mut candidates = Vec::with_capacity(items.len());
        for (id, mut value, wrong) in items {
            wrong.fill(kind, &mut value);
            if self.validator.scope == ManifestScope::Api {
                created_metadata::prepare(
                    &mut value,
                    &parsed.document.source.location(parsed.tree().get(id).span),
                );
            }
            let other_defaults = default::apply(
                self.validator.options.expressions().release(),
                kind,
                version,
                &mut value,
            );
            let name = ObjectName {
                kind,
                name: name_of(&value).to_owned(),
            };
            let source = ObjectSource::new(Arc::clone(&parsed.document), id);
            let subject = ProblemSubject {
                name: &name,
                source: &source,
                file: &self.file,
            };
            let failures = match self.validator.scope {
                ManifestScope::Plugin(_) => static_rules::static_rules(&subject, &value),
                ManifestScope::Api => Vec::new(),
            };
            let (invalid, uncompiled) = self.validate(&subject, &value, &wrong);
            let is_valid = invalid.is_none() && wrong.is_empty();
            self.findings.extend(invalid.map(DocumentFinding::Failure));
            self.findings.extend(uncompiled.map(DocumentFinding::Uncompiled));
            let policy = kind
                .is_binding()
                .then(|| value.pointer("/spec/policyName").and_then(Json::as_str));
            let policy = policy.flatten().map(str::to_owned);
            candidates.push(DocumentFinding::Object(Box::new(UncheckedObject {
                object: is_valid.then(|| ManifestObject::from_json(kind, value)).flatten(),
                older: (!other_defaults.is_empty()).then(|| OlderVersion {
                    location: source.locate(&[]),
                    name: name.clone(),
                    version: version.name(),
                    defaults: other_defaults,
                }),
                optional: self.optional_version(&name, version, &source),
                name,
                failures,
                policy,
                source,
            })));
        }
        self.findings.append(&mut candidates);
    }

    /// The version of an object that no cluster is known to have, if servers have to be told to serve it.
    fn optional_version(
        &self,
        name: &ObjectName,
        version: ApiVersion,
        source: &ObjectSource,
    ) -> Option<OptionalVersion> {
        let release = self.validator.options.expressions().release();
        let is_optional = self.validator.scope == ManifestScope::Api
            && self.validator.served == ServedVersions::OfRelease
            && registry::is_optional(name.kind, version, release);
        is_optional.then(|| OptionalVersion {
            location: source.locate(&[]),
            name: name.clone(),
            version: format!("{ADMISSION_GROUP}/{version}"),
            usual: registry::usual_version(name.kind, release),
        })
    }

    /// Why an object is refused, and what does not compile of one that is stored.
    fn validate(
        &self,
        subject: &ProblemSubject<'_>,
        value: &Json,
        wrong: &WrongFields,
    ) -> (Option<Failure>, Option<Failure>) {
        let kind = subject.name.kind;
        let compiler = self.validator.options.expressions();
        let declarative = self.validator.scope.declarative_rules(compiler.release());
        let is_stored = self.validator.has_stored_expressions;
        let mut errors = if is_stored {
            validate::validate(kind, value, &StoredExpressions(compiler), declarative)
        } else {
            validate::validate(kind, value, compiler, declarative)
        };
        errors.retain(|error| !wrong.explains(error));
        let is_kept = is_stored && errors.iter().all(|error| error.rule == Rule::InvalidExpression);
        match self.failure(subject, errors) {
            Some(failure) if is_kept => (None, Some(failure)),
            failure => (failure, None),
        }
    }

    /// The failure of an object with errors, if there are any.
    fn failure(&self, subject: &ProblemSubject<'_>, errors: Vec<FieldError>) -> Option<Failure> {
        let ObjectName { kind, name } = subject.name;
        if errors.is_empty() {
            return None;
        }
        let (name, errors_text) = (quote(name), aggregate(errors.iter().map(|error| &error.text)));
        let text = match self.validator.scope {
            ManifestScope::Plugin(_) => format!("{kind} {name}: {errors_text}"),
            // Upstream: apimachinery/pkg/api/errors/errors.go, NewInvalid
            ManifestScope::Api => format!("{kind}.{ADMISSION_GROUP} {name} is invalid: {errors_text}"),
        };
        let problems = errors
            .into_iter()
            .flat_map(|error| problems::of_field(subject, error))
            .collect();
        let failure = Failure { text, problems };
        // If this exceeds the budget, the load fails for that alone.
        self.spend(&failure);
        Some(self.validator.scope.placed(failure, &self.file))
    }

    fn fail(&mut self, failure: Failure) {
        // Once the budget is exceeded, the first failure of a document says where.
        if self.spend(&failure) || self.findings.is_empty() {
            let failure = self.validator.scope.placed(failure, &self.file);
            self.findings.push(DocumentFinding::Failure(failure));
        }
    }

    /// Spends the memory of a failure; false if the budget is exceeded.
    fn spend(&self, failure: &Failure) -> bool {
        let texts = failure.problems.iter().map(|problem| problem.message.len());
        let problems = failure.problems.len().saturating_mul(size_of::<Problem>());
        let length = texts.fold(failure.text.len().saturating_add(problems), usize::saturating_add);
        let bytes = u64::try_from(length).unwrap_or(u64::MAX);
        self.validator
            .budget
            .spend(bytes.saturating_add(DOCUMENT))
            .is_ok()
    }
}

impl DecodedDocument {
    fn whole(registered: RegisteredKind, version: ApiVersion, value: Json) -> Self {
        DecodedDocument {
            registered,
            version,
            value,
            wrong: WrongFields::default(),
        }
    }
}

/// The name of a value whose kind is not known.
fn name_in(parsed: &ParsedContent, id: NodeId) -> Option<String> {
    text_in(parsed, id, ["metadata", "name"])
}

/// A text in a value that is not decoded.
fn text_in(parsed: &ParsedContent, id: NodeId, path: [&str; 2]) -> Option<String> {
    let path = path.map(|name| PathStep::Field(name.to_owned()));
    text_of(parsed, parsed.tree().find(id, &path)?).map(str::to_owned)
}

fn text_of(parsed: &ParsedContent, id: NodeId) -> Option<&str> {
    match &parsed.tree().get(id).value {
        TreeValue::String(text, _) => Some(text),
        _ => None,
    }
}

fn name_of(value: &Json) -> &str {
    let name = value.get("metadata").and_then(|metadata| metadata.get("name"));
    name.and_then(Json::as_str).unwrap_or_default()
}

/// The nodes of the items of an object of a kind of lists.
fn item_nodes(parsed: &ParsedContent, id: NodeId) -> &[NodeId] {
    let items = parsed.tree().entry(id, "items").map(|entry| entry.value);
    match items.map(|items| &parsed.tree().get(items).value) {
        Some(TreeValue::List(items)) => items,
        _ => &[],
    }
}

fn into_items(mut list: Json) -> Vec<Json> {
    match list.get_mut("items").map(Json::take) {
        Some(Json::Array(items)) => items,
        _ => Vec::new(),
    }
}
