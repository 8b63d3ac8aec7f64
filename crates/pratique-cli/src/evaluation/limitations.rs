//! Limitations of a review: what an API server does and the review does not, reported once for the whole run.

use std::collections::{BTreeMap, BTreeSet};

use pratique::api_objects::ApiObjects;
use pratique_objects::is_builtin;
use pratique_review::is_validated;
use pratique_types::{AdmissionRequest, Operation};
use serde::{Deserialize, Serialize};

use crate::arguments::ReviewFormat;
use crate::evaluation::assumptions::AssumedKinds;
use crate::evaluation::definitions::UnusableDefinitions;
use crate::evaluation::input_request::InputRequest;
use crate::exit::CliError;
use crate::output;
use crate::output::counted_nouns::counted;
use crate::output::finding::AnnotationLevel;
use crate::output::notice::{InputNotice, InputNotices};
use crate::output::text::{PrintableText, text};

/// The rule of objects whose definition is not known.
pub(crate) const NO_DEFINITION: &str = "no-definition";

/// The rule of kinds whose resource is not known.
pub(crate) const UNKNOWN_KIND: &str = "unknown-kind";

/// What removes the limitation of one kind, and of several.
const GIVE_IT: &str = "give it with --objects";
const GIVE_THEM: &str = "give them with --objects";

/// How many kinds without a definition are named.
const MAX_KINDS: usize = 100;

/// How many kinds without a resource are counted.
const MAX_UNKNOWN: usize = 10_000;

/// How many characters of the name of such a kind are kept.
const MAX_NAME: usize = 400;

/// The limitations that apply to some objects.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ObjectLimitations {
    /// The numbers of objects of built-in kinds that were not validated, as there are no rules for their kinds.
    unvalidated: BTreeMap<String, CountedKind>,
    /// The numbers of objects that were neither defaulted nor validated, by kind.
    undefined: BTreeMap<String, CountedKind>,
    /// Those of them that have a definition which cannot be used.
    unusable: BTreeSet<String>,
    /// Those whose kinds are not named.
    others: CountedKind,
    /// Kinds whose resources are not known, and of which no decision depends on the resource: `Widget of example.com/v1`.
    unknown: BTreeSet<String>,
    /// Where the first object of such a kind is.
    unknown_place: String,
}

/// How many objects there are of a kind, and where the first is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CountedKind {
    count: usize,
    place: String,
}

impl CountedKind {
    fn add(&mut self, other: CountedKind) {
        if self.count == 0 {
            self.place = other.place;
        }
        self.count = self.count.saturating_add(other.count);
    }
}

/// A limitation, as it is reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ReportedLimitation {
    pub(crate) message: String,
    /// The version and kind of the objects, and how many there were.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    objects: Option<usize>,
    /// Where the first of the objects is.
    #[serde(skip)]
    place: String,
    /// The stable name of what it is about.
    #[serde(skip)]
    rule: &'static str,
    /// Whether more input would remove it.
    #[serde(skip)]
    is_warning: bool,
    /// Whether it is about a kind whose definition nobody gave.
    #[serde(skip)]
    lacks_definition: bool,
}

impl ReportedLimitation {
    fn notice(&self) -> InputNotice {
        InputNotice::new(self.rule, self.place.clone(), &self.message)
    }
}

/// A line of output.
#[derive(Serialize)]
struct LimitationLine<'a> {
    note: &'a ReportedLimitation,
}

impl ObjectLimitations {
    /// Counts the object of a request that is completed with what `objects` knows.
    pub(crate) fn count(
        &mut self,
        objects: &ApiObjects,
        input: &InputRequest<'_>,
        unusable: &UnusableDefinitions,
        validates: bool,
    ) {
        let request = &input.request;
        let is_stored = matches!(request.operation, Operation::Create | Operation::Update);
        if !is_stored || request.object.is_null() {
            return;
        }
        if is_builtin(&request.kind) {
            self.count_unvalidated(input, validates);
        } else if !objects.knows(&request.kind) {
            let kind = &request.kind;
            let counted = CountedKind {
                count: 1,
                place: input.place(),
            };
            let name = format!("{} {}", kind.api_version(), kind.kind);
            if unusable.of_kind(kind).is_some() && self.unusable.len() < MAX_KINDS {
                self.unusable.insert(name.clone());
            }
            self.add_undefined(name, counted);
        }
    }

    /// Counts the object of a request if it is of a built-in kind that has no rules.
    pub(crate) fn count_unvalidated(&mut self, input: &InputRequest<'_>, validates: bool) {
        let request = &input.request;
        let is_stored = matches!(request.operation, Operation::Create | Operation::Update);
        let needs_rules = validates && is_stored && !input.is_sent && is_builtin(&request.kind);
        if needs_rules && !is_validated(request) {
            let counted = CountedKind {
                count: 1,
                place: input.place(),
            };
            self.add_unvalidated(unvalidated_kind(request), counted);
        }
    }

    /// Counts a kind whose resource is not known, and of which no decision depends on the resource; an object of it is at a place.
    pub(crate) fn count_unknown(&mut self, kind: String, place: &str) {
        if self.unknown.is_empty() {
            place.clone_into(&mut self.unknown_place);
        }
        // The kinds of a hostile input are without end, and so may be their names.
        if self.unknown.len() < MAX_UNKNOWN {
            self.unknown.insert(kind.chars().take(MAX_NAME).collect());
        }
    }

    fn add_undefined(&mut self, kind: String, more: CountedKind) {
        let is_full = self.undefined.len() >= MAX_KINDS;
        match self.undefined.get_mut(&kind) {
            Some(counted) => counted.add(more),
            None if is_full => self.others.add(more),
            None => {
                self.undefined.insert(kind, more);
            }
        }
    }

    fn add_unvalidated(&mut self, kind: String, more: CountedKind) {
        // There are only so many built-in kinds.
        self.unvalidated.entry(kind).or_default().add(more);
    }

    /// How many built-in kinds there are whose objects were not validated.
    pub(crate) fn unvalidated_count(&self) -> usize {
        self.unvalidated.len()
    }

    /// The notes about these kinds, without numbers of objects.
    pub(crate) fn unvalidated_notes(&self) -> impl Iterator<Item = String> {
        self.unvalidated.keys().map(|kind| kind_not_validated(kind))
    }

    /// Adds the limitations of a later part.
    pub(crate) fn add(&mut self, other: ObjectLimitations) {
        for (kind, counted) in other.unvalidated {
            self.add_unvalidated(kind, counted);
        }
        self.others.add(other.others);
        self.unusable.extend(other.unusable);
        for kind in other.unknown {
            self.count_unknown(kind, &other.unknown_place);
        }
        for (kind, counted) in other.undefined {
            self.add_undefined(kind, counted);
        }
    }

    /// Notices about the kinds without a definition, and without a known resource, however many objects there are, and wherever:
    /// alike ones together.
    pub(crate) fn kind_notices(&self) -> impl Iterator<Item = InputNotice> {
        let undefined = |is_unusable: bool| {
            let kinds = self.undefined.keys();
            let kinds: Vec<&str> = kinds
                .filter(|kind| self.unusable.contains(*kind) == is_unusable)
                .map(String::as_str)
                .collect();
            // Of those beyond a number, only the objects are counted.
            let has_others = !is_unusable && self.others.count > 0;
            let message = match (kinds.as_slice(), is_unusable) {
                ([], _) => return None,
                (kinds, false) if has_others => format!(
                    "objects of {} and of others were neither defaulted nor validated, as their CustomResourceDefinitions are not known: \
                     {GIVE_THEM}: {}",
                    counted(kinds.len(), "kind", "kinds"),
                    kinds.join(", ")
                ),
                ([kind], true) => format!(
                    "objects of kind {kind} were neither defaulted nor validated, as their CustomResourceDefinition defines nothing"
                ),
                ([kind], false) => format!(
                    "objects of kind {kind} were neither defaulted nor validated, as their CustomResourceDefinition is not known: \
                     {GIVE_IT}"
                ),
                (kinds, is_unusable) => format!(
                    "objects of {} were neither defaulted nor validated, as their CustomResourceDefinitions {}: {}",
                    counted(kinds.len(), "kind", "kinds"),
                    if is_unusable {
                        "define nothing".to_owned()
                    } else {
                        format!("are not known: {GIVE_THEM}")
                    },
                    kinds.join(", ")
                ),
            };
            Some(InputNotice::new(NO_DEFINITION, "", message))
        };
        let unknown = match self.unknown.first() {
            None => None,
            Some(kind) if self.unknown.len() == 1 => Some(format!(
                "not known: kind {kind}; no decision depends on its resource"
            )),
            Some(_) => Some(self.unknown_kinds()),
        };
        let unknown = unknown.map(|message| InputNotice::new(UNKNOWN_KIND, "", message));
        [undefined(false), undefined(true), unknown].into_iter().flatten()
    }

    /// `not known: 2 kinds (Gadget of example.com/v1, Widget of example.com/v1); no decision …`
    fn unknown_kinds(&self) -> String {
        let count = counted(self.unknown.len(), "kind", "kinds");
        let named: Vec<&str> = self.unknown.iter().take(MAX_KINDS).map(String::as_str).collect();
        let its = if named.len() == 1 {
            "its resource"
        } else {
            "their resources"
        };
        let more = if self.unknown.len() > named.len() {
            ", …"
        } else {
            ""
        };
        format!(
            "not known: {count} ({}{more}); no decision depends on {its}",
            named.join(", ")
        )
    }

    /// All limitations; with `quiet`, only those that more input would remove.
    pub(crate) fn list(&self, quiet: bool) -> Vec<ReportedLimitation> {
        let of_kind = |(kind, counted): (&String, &CountedKind)| ReportedLimitation {
            message: undefined(
                &format!("of kind {kind}"),
                counted.count,
                self.unusable.contains(kind),
            ),
            kind: Some(kind.clone()),
            objects: Some(counted.count),
            place: counted.place.clone(),
            rule: NO_DEFINITION,
            is_warning: true,
            lacks_definition: !self.unusable.contains(kind),
        };
        let others = ReportedLimitation {
            message: undefined("of other kinds", self.others.count, false),
            kind: None,
            objects: Some(self.others.count),
            place: self.others.place.clone(),
            rule: NO_DEFINITION,
            is_warning: true,
            lacks_definition: false,
        };
        let unvalidated = self.unvalidated.iter().map(|(kind, counted)| ReportedLimitation {
            message: not_validated(kind, counted.count),
            kind: Some(kind.clone()),
            objects: Some(counted.count),
            place: counted.place.clone(),
            rule: "not-validated",
            is_warning: false,
            lacks_definition: false,
        });
        let unknown = ReportedLimitation {
            message: self.unknown_kinds(),
            kind: None,
            objects: None,
            place: self.unknown_place.clone(),
            rule: UNKNOWN_KIND,
            is_warning: true,
            lacks_definition: false,
        };
        let kinds = self.undefined.iter().map(of_kind);
        kinds
            .chain((self.others.count > 0).then_some(others))
            .chain((!self.unknown.is_empty()).then_some(unknown))
            .chain(unvalidated.filter(|_| !quiet))
            .collect()
    }
}

/// The kind of a request whose object is not validated: `v1 Pod`, `v1 Pod, status`.
fn unvalidated_kind(request: &AdmissionRequest<'_>) -> String {
    let kind = format!("{} {}", request.kind.api_version(), request.kind.kind);
    match request.sub_resource.as_str() {
        "" => kind,
        part => format!("{kind}, {part}"),
    }
}

fn not_validated(kind: &str, count: usize) -> String {
    let was = if count == 1 { "was" } else { "were" };
    format!(
        "{} of kind {kind} {was} not validated as an API server does: there are no rules for the kind",
        counted(count, "object", "objects")
    )
}

/// The note about a kind whose objects are not validated: the same, wherever they are.
fn kind_not_validated(kind: &str) -> String {
    format!(
        "objects of kind {kind} were not validated as an API server does: there are no rules for the kind"
    )
}

fn undefined(which: &str, count: usize, is_unusable: bool) -> String {
    let (were, their) = match count {
        1 => ("was", "its"),
        _ => ("were", "their"),
    };
    let objects = counted(count, "object", "objects");
    let why = if is_unusable {
        "defines nothing".to_owned()
    } else {
        format!("is not known: {GIVE_IT}")
    };
    format!(
        "{objects} {which} {were} neither defaulted nor validated, as {their} CustomResourceDefinition {why}"
    )
}

/// Prints a line of JSON for each limitation that more input would remove. What no review simulates is no line: scripts read
/// one answer for one object.
pub(crate) fn print_lines(limitations: &[ReportedLimitation]) -> Result<(), CliError> {
    let mut limitations = limitations.iter().filter(|limitation| limitation.is_warning);
    limitations.try_for_each(|limitation| output::print_json_line(&LimitationLine { note: limitation }))
}

/// Reports on standard error what the output does not have in itself; with `quiet`, beside text only what more input would remove.
pub(crate) fn report(limitations: &[ReportedLimitation], format: ReviewFormat, quiet: bool) {
    let is_text = matches!(format, ReviewFormat::Human | ReviewFormat::Diff);
    let is_silenced = |limitation: &ReportedLimitation| quiet && is_text && !limitation.is_warning;
    let has = |limitation: &ReportedLimitation| match format {
        ReviewFormat::Sarif => true,
        ReviewFormat::Json | ReviewFormat::Ndjson | ReviewFormat::Junit | ReviewFormat::Github => {
            limitation.is_warning
        }
        ReviewFormat::Human | ReviewFormat::Diff | ReviewFormat::Yaml => false,
    };
    let others = limitations
        .iter()
        .filter(|limitation| !has(limitation) && !is_silenced(limitation));
    tell(others);
}

/// Tells limitations on standard error: those of several kinds whose definitions nobody gave on one line.
pub(crate) fn tell<'l>(limitations: impl IntoIterator<Item = &'l ReportedLimitation>) {
    let (lacking, others): (Vec<_>, Vec<_>) = limitations
        .into_iter()
        .partition(|limitation| limitation.lacks_definition);
    match lacking.as_slice() {
        [] => {}
        [one] => output::eprint(&human(one)),
        several => output::eprint(&output::warning(&text!("{}", without_definitions(several)))),
    }
    others
        .iter()
        .for_each(|limitation| output::eprint(&human(limitation)));
}

/// `6 objects of 3 kinds were neither defaulted nor validated, …: example.com/v1 Gadget (2), …`
fn without_definitions(limitations: &[&ReportedLimitation]) -> String {
    let count: usize = limitations
        .iter()
        .filter_map(|limitation| limitation.objects)
        .sum();
    let kinds: Vec<String> = limitations
        .iter()
        .map(|limitation| {
            let kind = limitation.kind.as_deref().unwrap_or_default();
            format!("{kind} ({})", limitation.objects.unwrap_or_default())
        })
        .collect();
    format!(
        "{} of {} were neither defaulted nor validated, as their CustomResourceDefinitions are not known: {GIVE_THEM}: {}",
        counted(count, "object", "objects"),
        counted(kinds.len(), "kind", "kinds"),
        kinds.join(", ")
    )
}

fn human(limitation: &ReportedLimitation) -> PrintableText {
    if limitation.is_warning {
        output::warning(&text!("{}", limitation.message))
    } else {
        output::note(&text!("{}", limitation.message))
    }
}

/// What no review simulates, in a SARIF log: notifications of the run.
pub(crate) fn notifications(limitations: &[ReportedLimitation]) -> Vec<(AnnotationLevel, String)> {
    let others = limitations.iter().filter(|limitation| !limitation.is_warning);
    others
        .map(|limitation| (AnnotationLevel::Note, limitation.message.clone()))
        .collect()
}

/// The limitations that more input would remove, as notices: those of several kinds whose definitions nobody gave as one, at the
/// first of their objects.
pub(crate) fn notices(limitations: &[ReportedLimitation]) -> impl Iterator<Item = InputNotice> {
    let warnings = limitations.iter().filter(|limitation| limitation.is_warning);
    let (lacking, others): (Vec<_>, Vec<_>) = warnings.partition(|limitation| limitation.lacks_definition);
    let lacking = match lacking.as_slice() {
        [first, _, ..] => vec![InputNotice::new(
            first.rule,
            first.place.clone(),
            without_definitions(&lacking),
        )],
        one => one.iter().map(|limitation| limitation.notice()).collect(),
    };
    let others: Vec<InputNotice> = others.into_iter().map(ReportedLimitation::notice).collect();
    lacking.into_iter().chain(others)
}

/// Tells and adds notices about the kinds that a whole run did not know.
pub(crate) fn tell_kinds(
    assumed: &AssumedKinds,
    limitations: &ObjectLimitations,
    notices: &mut InputNotices,
) {
    for notice in assumed.notices("") {
        notices.tell(notice);
    }
    notices.extend(limitations.kind_notices());
}
