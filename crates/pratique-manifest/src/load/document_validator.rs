//! What a document comes to by itself: decoded, defaulted, validated, and held against the rules that are about one
//! object alone. Nothing here knows of other documents, so that several can be examined at the same time.

use std::sync::Arc;

use serde_json::Value as Json;

use super::options::{Options, Texts};
use super::set::Object;
use crate::budget::{Budget, DOCUMENT};
use crate::decode::failures;
use crate::decode::registry::{self, Registered};
use crate::kind::Kind;
use crate::parse::file_document::FileDocument;
use crate::parse::source::ObjectSource;
use crate::parse::{self, Parsed};
use crate::plugin::Plugin;
use crate::position::Location;
use crate::problem::{Failure, ObjectName, Problem};
use crate::tree::{NodeId, Step, Value};
use crate::validate::problems::{self, Subject};
use crate::validate::static_rules;
use crate::validate::wrong_fields::WrongFields;
use crate::{decode, default, schema, validate};

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

/// How documents are examined.
#[derive(Clone, Copy)]
pub(crate) struct Examiner<'a> {
    pub(crate) home: Home,
    pub(crate) options: &'a Options<'a>,
    pub(crate) texts: Texts,
    pub(crate) budget: &'a Budget,
    /// Whether objects that do not belong to the home are left to others, rather than refused.
    pub(crate) passes_over: bool,
}

/// Something that a document says.
pub(crate) enum Finding {
    /// What is wrong.
    Fault(Failure),
    /// The name of a policy that did not decode.
    Undecoded(String),
    /// The text of a document in which there may be anything, as it cannot be read.
    Unread(Box<str>),
    /// An object.
    Object(Box<Candidate>),
    /// Text that follows it, and that the server does not read.
    PassedOver(Location),
}

/// An object that has to be looked at beside others yet.
pub(crate) struct Candidate {
    pub(crate) name: ObjectName,
    /// What only objects of the API may have, if it has it and is none.
    pub(crate) faults: Vec<Failure>,
    /// The policy that it binds, if it binds one.
    pub(crate) policy: Option<String>,
    /// `None` if it is not valid.
    pub(crate) object: Option<Object>,
    pub(crate) source: ObjectSource,
}

/// Why a value is refused, and the value nevertheless, as far as it has the right types.
struct Refused {
    failure: Failure,
    decoded: Option<Box<Decoded>>,
}

/// A value, and what of it does not have its type.
struct Decoded {
    registered: Registered,
    value: Json,
    wrong: WrongFields,
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Refused {
            failure,
            decoded: None,
        }
    }
}

impl<'a> Examiner<'a> {
    pub(crate) fn new(home: Home, options: &'a Options<'a>, texts: Texts, budget: &'a Budget) -> Self {
        Examiner {
            home,
            options,
            texts,
            budget,
            passes_over: false,
        }
    }

    /// All that a document of a file with this text says, in order, and what it took of the budget. Once there is no more
    /// of that, documents say nothing.
    pub(crate) fn examine(&self, document: FileDocument, text: &Arc<String>) -> (Vec<Finding>, u64) {
        if self.budget.is_exceeded() {
            return Default::default();
        }
        let mut examination = Examination {
            examiner: self,
            file: Arc::clone(&document.file),
            findings: Vec::new(),
            cost: DOCUMENT,
        };
        let written = String::from_utf8_lossy(&document.raw.bytes)
            .into_owned()
            .into_boxed_str();
        let parsed = parse::parse(document, self.budget).map(|parsed| match self.texts {
            Texts::Kept => parsed.share(text),
            Texts::LetGo => parsed,
        });
        match parsed {
            Ok(parsed) => {
                examination.cost += parsed.cost;
                examination.value(&parsed, parsed.root, 0);
                let passed_over = parsed.rest_location().map(Finding::PassedOver);
                examination.findings.extend(passed_over);
            }
            Err(fault) => {
                examination.fail(*fault);
                examination.findings.push(Finding::Unread(written));
            }
        }
        (examination.findings, examination.cost)
    }
}

/// The findings about a document so far.
struct Examination<'e> {
    examiner: &'e Examiner<'e>,
    file: Arc<str>,
    findings: Vec<Finding>,
    /// What the document took of the budget.
    cost: u64,
}

impl Examination<'_> {
    /// Takes a document's value, or an item of a list in so many lists in it.
    fn value(&mut self, parsed: &Parsed, id: NodeId, lists: usize) {
        if self.examiner.budget.is_exceeded() {
            return;
        }
        if self.examiner.passes_over && !self.may_belong(parsed, id) {
            return;
        }
        let decoded = self.decode(parsed, id).unwrap_or_else(|refused| {
            let mut failure = refused.failure;
            if id != parsed.root {
                failure = failure.prefixed("failed to decode list item: ");
            }
            self.fail(failure);
            // The server stops here; what else is wrong is told as well, if there is a value to look at.
            refused.decoded.map(|decoded| *decoded)
        });
        match decoded {
            None => {}
            Some(Decoded {
                registered: Registered::List,
                ..
            }) if lists >= MAX_LISTS => {
                let text = format!("lists are nested more than {MAX_LISTS} levels deep");
                self.fail(failures::unsupported(parsed, id, text));
            }
            Some(Decoded {
                registered: Registered::List,
                ..
            }) => {
                for item in list_items(parsed, id) {
                    self.value(parsed, item, lists + 1);
                }
            }
            Some(decoded) => self.registered(parsed, id, decoded),
        }
    }

    /// Whether a value is of a kind that belongs to the home, or a list that may have such items.
    fn may_belong(&self, parsed: &Parsed, id: NodeId) -> bool {
        let entry = parsed.tree().entry(id, "kind");
        let Some(Value::String(name, _)) = entry.map(|entry| &parsed.tree().get(entry.value).value) else {
            return false;
        };
        let of_items = || Kind::from_name(name.strip_suffix("List")?);
        match Kind::from_name(name).or_else(of_items) {
            Some(kind) => self.examiner.home.accepts(kind),
            None => &**name == "List",
        }
    }

    fn decode(&mut self, parsed: &Parsed, id: NodeId) -> Result<Option<Decoded>, Refused> {
        let known = failures::header(parsed, id).and_then(|header| {
            let registered = registry::find(&header);
            let unknown = || failures::unsupported(parsed, id, registry::not_registered(&header));
            registered
                .ok_or_else(unknown)
                .map(|registered| (header, registered))
        });
        let (header, registered) = known.inspect_err(|_| {
            let name = name_in(parsed, id);
            self.findings.extend(name.map(Finding::Undecoded));
        })?;
        let shape = match &registered {
            Registered::Object(kind) => schema::kind_type(*kind),
            Registered::TypedList(kind) => schema::list_type(*kind),
            Registered::List => &schema::LIST,
            Registered::Other {
                shape: Some(shape), ..
            } => shape,
            Registered::Other { shape: None, .. } => {
                return Ok(Some(Decoded::whole(registered, Json::Null)));
            }
        };
        let decoded = decode::decode(parsed.tree(), id, shape, &header.version);
        match failures::decoding(parsed, id, &decoded) {
            None => Ok(Some(Decoded::whole(registered, decoded.value))),
            Some(failure) => {
                self.note_names(&registered, &decoded.value);
                let wrong = decoded.fatal.into_iter().chain(decoded.types);
                let wrong = WrongFields::new(wrong.map(|fault| fault.field).collect());
                let decoded = decoded.value.is_object().then_some(Decoded {
                    registered,
                    value: decoded.value,
                    wrong,
                });
                let decoded = decoded.map(Box::new);
                Err(Refused { failure, decoded })
            }
        }
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
        self.findings
            .extend(names.map(|name| Finding::Undecoded(name.to_owned())));
    }

    fn registered(&mut self, parsed: &Parsed, id: NodeId, decoded: Decoded) {
        let Decoded {
            registered,
            value,
            wrong,
        } = decoded;
        let home = self.examiner.home;
        match registered {
            Registered::Object(kind) if home.accepts(kind) => {
                self.objects(parsed, kind, vec![(id, value, wrong)]);
            }
            Registered::TypedList(kind) if home.accepts(kind) => {
                let items = list_items(parsed, id).into_iter().zip(into_items(value));
                let items = items.enumerate();
                let items = items.map(|(index, (id, value))| (id, value, wrong.of_item(index)));
                self.objects(parsed, kind, items.collect());
            }
            // Its items are taken one by one.
            Registered::List => {}
            Registered::Object(kind) => self.refuse_type(parsed, id, &format!("*v1.{kind}")),
            Registered::TypedList(kind) => self.refuse_type(parsed, id, &format!("*v1.{kind}List")),
            Registered::Other { type_name, .. } => self.refuse_type(parsed, id, &type_name),
        }
    }

    fn refuse_type(&mut self, parsed: &Parsed, id: NodeId, type_name: &str) {
        let text = format!("unsupported resource type {type_name}");
        self.fail(failures::unsupported(parsed, id, text));
    }

    /// Defaults and validates all objects of a document; what is not valid comes before what else there is to say.
    fn objects(&mut self, parsed: &Parsed, kind: Kind, items: Vec<(NodeId, Json, WrongFields)>) {
        let mut candidates = Vec::with_capacity(items.len());
        for (id, mut value, wrong) in items {
            wrong.fill(kind, &mut value);
            default::apply(kind, &mut value);
            let name = ObjectName {
                kind,
                name: name_of(&value).to_owned(),
            };
            let source = ObjectSource::new(Arc::clone(&parsed.document), id);
            let subject = Subject {
                name: &name,
                source: &source,
                file: &self.file,
            };
            let faults = match self.examiner.home {
                Home::Plugin(_) => static_rules::static_rules(&subject, &value),
                Home::Api => Vec::new(),
            };
            let invalid = self.validate(&subject, &value, &wrong);
            let is_valid = invalid.is_none() && wrong.is_empty();
            self.findings.extend(invalid);
            let policy = kind
                .is_binding()
                .then(|| value.pointer("/spec/policyName").and_then(Json::as_str));
            let policy = policy.flatten().map(str::to_owned);
            candidates.push(Finding::Object(Box::new(Candidate {
                object: is_valid.then(|| Object::from_json(kind, value)).flatten(),
                name,
                faults,
                policy,
                source,
            })));
        }
        self.findings.append(&mut candidates);
    }

    fn validate(&self, subject: &Subject<'_>, value: &Json, wrong: &WrongFields) -> Option<Finding> {
        let ObjectName { kind, name } = subject.name;
        let mut errors = validate::validate(*kind, value, self.examiner.options.expressions());
        errors.retain(|error| !wrong.explain(error));
        if errors.is_empty() {
            return None;
        }
        let name = pratique_gotext::strconv::quote(name);
        let text = format!("{kind} {name}: {}", validate::aggregate(&errors));
        let problems = errors
            .into_iter()
            .flat_map(|error| problems::of_field(subject, error))
            .collect();
        let failure = Failure { text, problems };
        // It is refused for that, then, not for this.
        self.spend(&failure);
        Some(Finding::Fault(failure.in_file(&self.file)))
    }

    fn fail(&mut self, failure: Failure) {
        // Of what is wrong once there is no more to spend, the first thing tells where that was.
        if self.spend(&failure) || self.findings.is_empty() {
            self.findings.push(Finding::Fault(failure.in_file(&self.file)));
        }
    }

    /// Spends what a failure takes of the budget; false if that is exceeded.
    fn spend(&self, failure: &Failure) -> bool {
        let texts = failure.problems.iter().map(|problem| problem.message.len());
        let problems = failure.problems.len().saturating_mul(size_of::<Problem>());
        let length = texts.fold(failure.text.len().saturating_add(problems), usize::saturating_add);
        let bytes = u64::try_from(length).unwrap_or(u64::MAX);
        self.examiner.budget.spend(bytes.saturating_add(DOCUMENT)).is_ok()
    }
}

impl Decoded {
    fn whole(registered: Registered, value: Json) -> Self {
        Decoded {
            registered,
            value,
            wrong: WrongFields::default(),
        }
    }
}

/// The name of a value of which not even the kind is known.
fn name_in(parsed: &Parsed, id: NodeId) -> Option<String> {
    let path = ["metadata", "name"].map(|name| Step::Field(name.to_owned()));
    let tree = parsed.tree();
    match &tree.get(tree.find(id, &path)?).value {
        Value::String(text, _) => Some(text.to_string()),
        _ => None,
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
