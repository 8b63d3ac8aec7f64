//! Random objects of built-in kinds: the errors for which a server refuses them, here and in its own registry.
//!
//! A case is one of the conformance suite `validation`. Its `objects` are generated from the types of their `kinds`, or are
//! changed ones of the project's golden cases, with values at which rules turn.
#![allow(
    clippy::indexing_slicing,
    reason = "values of JSON give null for what they have not"
)]

mod kinds;
mod objects;
mod question;

use std::path::PathBuf;

use pratique_harness::{RandomDice, ToolError};
use pratique_schema::Release;
use serde_json::{Value, json};

use self::kinds::{ComparedKind, KINDS};
use self::objects::{RandomObjects, remove_empty_lists};
pub(super) use self::question::GoldenValidation;
use super::area::{ComparedArea, RunReport};
use super::golden;
use super::reference::ReferenceProgram;
use super::release::ComparedRelease;
use super::shrink::{AllowedCuts, CaseDifference, RemovablePart};

/// The members of metadata that say which object it is.
const IDENTITY: &[&str] = &["name", "namespace", "uid", "resourceVersion", "creationTimestamp"];

/// Options to compare what is refused.
#[derive(clap::Args)]
pub(super) struct ValidationArguments {
    #[command(flatten)]
    pub(super) span: super::RunSpan,
    /// Objects of this kind only, such as `Pod`.
    #[arg(long)]
    kind: Option<String>,
    /// Begin with the objects of the cases in this directory, too.
    #[arg(long, value_name = "DIR")]
    cases: Option<PathBuf>,
}

/// The area.
pub(super) struct ValidationArea {
    kinds: Vec<&'static ComparedKind>,
    objects: RandomObjects,
    compared: ComparedRelease,
}

impl ValidationArea {
    pub(super) fn new(run: &ValidationArguments) -> Result<Self, ToolError> {
        let compared = run.span.release.find()?;
        let release = compared.release;
        let is_wanted = |kind: &&ComparedKind| {
            run.kind.as_ref().is_none_or(|wanted| wanted == kind.kind) && kind.is_known_to(release)
        };
        let kinds = KINDS.iter().filter(is_wanted);
        // As often as it has many rules.
        let kinds: Vec<&ComparedKind> = kinds
            .flat_map(|kind| std::iter::repeat_n(kind, kind.weight()))
            .collect();
        if kinds.is_empty() {
            return Err("there is no such kind, or it is not compared".into());
        }
        let mut cases = golden::cases(Self::NAME)?;
        if let Some(more) = &run.cases {
            cases.extend(pratique_conformance::cases_below(more)?);
        }
        Ok(ValidationArea {
            kinds,
            objects: RandomObjects::new(release, &cases),
            compared,
        })
    }

    /// A case as one of the release that is compared.
    fn of_release(&self, mut case: Value) -> Value {
        if self.compared.version.is_some() {
            case["kubernetesVersion"] = self.compared.minor().into();
        }
        case
    }
}

/// Random objects to create, so many that the rules here accept and so many that they refuse, of those that are wanted.
///
/// # Errors
/// The golden cases cannot be read, or random objects are hardly ever such.
pub fn random_objects(
    seed: u64,
    [mut accepted, mut refused]: [usize; 2],
    is_wanted: &mut dyn FnMut(&mut Value) -> bool,
) -> Result<Vec<Value>, ToolError> {
    let random = RandomObjects::new(Release::latest(), &golden::cases(ValidationArea::NAME)?);
    let mut dice = RandomDice::new(seed);
    let mut objects = Vec::new();
    for _ in 0..MAX_DRAWS * (accepted + refused) {
        if accepted + refused == 0 {
            break;
        }
        let Some(kind) = dice.pick(KINDS) else { break };
        let mut object = random.random(&mut dice, kind);
        let answer = pratique_conformance::validation_answer(&creation(kind, object.clone()))?;
        if answer.get("notValidated").is_some() {
            continue;
        }
        let left = if answer["accepted"] == true {
            &mut accepted
        } else {
            &mut refused
        };
        if *left > 0 && is_wanted(&mut object) {
            *left -= 1;
            objects.push(object);
        }
    }
    if accepted + refused > 0 {
        return Err(format!(
            "{accepted} objects are missing that are accepted, and {refused} that are refused"
        )
        .into());
    }
    Ok(objects)
}

/// How many random objects there may be to one that is wanted.
const MAX_DRAWS: usize = 20;

/// The case in which an object is created.
fn creation(kind: &ComparedKind, object: Value) -> Value {
    let namespace = if kind.is_namespaced { "default" } else { "" };
    json!({"resource": kind.path(), "namespace": namespace, "object": object})
}

/// How many objects are tried as stored ones.
const MAX_TRIES: usize = 6;

impl ValidationArea {
    /// An object that a server may have stored; none where those that were tried are refused.
    fn stored_object(
        &self,
        dice: &mut RandomDice,
        kind: &ComparedKind,
        case_of: &dyn Fn(Value) -> Value,
    ) -> Option<Value> {
        (0..MAX_TRIES)
            .map(|_| stored(self.objects.random(dice, kind)))
            .find(|old| is_storable(&case_of(old.clone())))
    }
}

/// Whether a server may have stored the object of a case: it was created, and then got its status.
fn is_storable(case: &Value) -> bool {
    let is_accepted = |answer: Result<Value, ToolError>| answer.map(|answer| answer["accepted"] == true);
    if !matches!(
        is_accepted(pratique_conformance::validation_answer(case)),
        Ok(true)
    ) {
        return false;
    }
    if case["object"].get("status").is_none() {
        return true;
    }
    let mut created = case["object"].clone();
    if let Some(members) = created.as_object_mut() {
        members.remove("status");
    }
    let mut of_status = case.clone();
    of_status["operation"] = "UPDATE".into();
    of_status["subresource"] = "status".into();
    of_status["oldObject"] = created;
    // An error is that of a kind whose status is no part that is written by itself.
    is_accepted(pratique_conformance::validation_answer(&of_status)).unwrap_or(true)
}

fn kind_of(case: &Value) -> Option<&'static ComparedKind> {
    KINDS.iter().find(|kind| case["resource"] == kind.path())
}

fn differs(ours: &Value, theirs: &Value) -> Option<&'static str> {
    let field = |path: &str| ours.pointer(path) == theirs.pointer(path);
    if theirs.get("crash").is_some() {
        return Some("Crash");
    }
    if !field("/status/code") {
        return Some("Code");
    }
    // What cannot be decoded is compared by the conformance suite `defaults`.
    let is_undecodable = ours.pointer("/status/code") == Some(&json!(400));
    (!is_undecodable && causes(ours) != causes(theirs)).then_some("Causes")
}

/// Whether a difference is intended.
fn is_known(case: &Value, ours: &Value, theirs: &Value) -> bool {
    // The reference crashes where the path of a field is looked up in a schema that is none, where what succeeds is
    // compared with a number of completions that is missing, and where an old Service has an address, but no list of
    // addresses: a stored one has both.
    // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceSelectableFields;
    // pkg/apis/batch/validation/validation.go, validateSuccessPolicyRule; pkg/apis/core/validation/validation.go,
    // validateUpgradeDowngradeClusterIPs
    let is_crash = || {
        let object = case["object"].to_string();
        let mut fields = ["selectableFields", "successPolicy"].iter();
        fields.any(|field| object.contains(field)) || has_address_alone(&case["oldObject"]["spec"])
    };
    let is_refused = ours.pointer("/status/code") == Some(&json!(422));
    ours.get("notValidated").is_some() || theirs.get("crash").is_some() && is_refused && is_crash()
}

/// A case in the form that the reference reads.
fn question(case: &Value, times: usize) -> Value {
    let kind = kind_of(case)
        .map(|kind| json!({"group": kind.group(), "version": kind.version(), "kind": kind.kind}));
    let resource = kind_of(case).map(|kind| kind.resource);
    json!({"kind": kind, "resource": resource, "namespace": case["namespace"],
        "subresource": case.get("subresource"), "object": case["object"], "oldObject": case.get("oldObject"), "times": times})
}

impl ComparedArea for ValidationArea {
    type Case = Value;

    const NAME: &'static str = "validation";

    fn start(&self) -> Result<ReferenceProgram, ToolError> {
        ReferenceProgram::start(&self.compared, "validation", &[])
    }

    fn random(&self, dice: &mut RandomDice) -> Value {
        let Some(kind) = dice.pick(&self.kinds) else {
            return Value::Null;
        };
        let case_of = |object| self.of_release(creation(kind, object));
        let old = dice.chance(40).then(|| self.stored_object(dice, kind, &case_of));
        let Some(old) = old.flatten() else {
            return case_of(self.objects.random(dice, kind));
        };
        let part = dice.pick(kind.parts).filter(|_| dice.chance(50));
        let object = match part {
            Some(part) => self.objects.with_changed_part(dice, kind, (&old, part)),
            None => self.objects.changed(dice, kind, &old),
        };
        let mut case = case_of(object);
        case["operation"] = "UPDATE".into();
        if let Some(part) = part {
            case["subresource"] = (*part).into();
        }
        case["oldObject"] = old;
        // Who writes sends what identifies the stored object.
        for name in IDENTITY {
            let member = case["oldObject"]["metadata"][name].clone();
            case["object"]["metadata"][name] = member;
        }
        case
    }

    fn question(&self, case: &Value, times: usize) -> Value {
        question(case, times)
    }

    fn ours(&self, case: &Value) -> Result<Vec<Value>, ToolError> {
        pratique_conformance::validation_answer(case).map(|answer| vec![answer])
    }

    fn with_question(&self, case: &Value, _: usize) -> Value {
        case.clone()
    }

    fn differs(&self, ours: &Value, theirs: &Value) -> Option<&'static str> {
        differs(ours, theirs)
    }

    fn is_known(&self, case: &Value, ours: &Value, theirs: &Value) -> bool {
        is_known(case, ours, theirs)
    }

    fn may_fail(&self, error: &str) -> bool {
        // What cannot be decoded was never stored.
        error.starts_with("old object: ")
    }

    fn smaller(&self, case: &Value) -> Vec<Value> {
        let cuts = AllowedCuts {
            may_go: &may_go,
            texts: &|_, _| Vec::new(),
        };
        let mut cases = Vec::new();
        for name in ["object", "oldObject"] {
            let Some(object) = case.get(name) else { continue };
            for (_, smaller) in cuts.list_cuts(object, &mut Vec::new()) {
                let mut case = case.clone();
                case[name] = smaller;
                if name == "object" || is_storable(&of_stored(&case)) {
                    cases.push(case);
                }
            }
        }
        cases
    }

    fn texts(&self, outcome: &Value) -> String {
        let causes: Vec<String> = causes(outcome).into_iter().map(|(_, text)| text).collect();
        causes.join("\n")
    }

    fn counts(&self, _: &Value, theirs: &Value) -> Vec<(&'static str, bool)> {
        vec![("accepted", theirs["accepted"] == true)]
    }

    fn describe(&self, difference: &CaseDifference<Value>) -> String {
        let CaseDifference { case, kind, .. } = difference;
        let [ours, theirs] = [&difference.ours, &difference.theirs].map(causes);
        let only = |one: &[(String, String)], other: &[(String, String)]| {
            let missing = one.iter().filter(|cause| !other.contains(cause));
            missing
                .map(|(field, text)| format!("\n    {field}: {text}"))
                .collect::<String>()
        };
        format!(
            "{kind} of {}:\n  ours only:{}\n  reference only:{}\n  case: {case}\n",
            case["resource"],
            only(&ours, &theirs),
            only(&theirs, &ours)
        )
    }

    fn summary(&self, report: &RunReport) -> String {
        format!(
            "{} objects: {} accepted; {} not validated here, {} that the reference answers in different ways\n{} differences",
            report.questions,
            report.count("accepted"),
            report.known,
            report.varies,
            report.differences()
        )
    }
}

/// What may go from an object: not what names it.
fn may_go(path: &[String], part: RemovablePart<'_>) -> bool {
    match (path, part) {
        ([], RemovablePart::Member(name)) => !["apiVersion", "kind", "metadata"].contains(&name),
        ([metadata], RemovablePart::Member(name)) if metadata == "metadata" => !IDENTITY.contains(&name),
        _ => true,
    }
}

/// The fields and texts of the errors, sorted: Go's maps decide the order of some.
fn causes(outcome: &Value) -> Vec<(String, String)> {
    let causes = outcome
        .pointer("/status/details/causes")
        .and_then(Value::as_array);
    let text = |cause: &Value, name: &str| cause[name].as_str().unwrap_or_default().to_owned();
    let mut causes: Vec<(String, String)> = causes
        .into_iter()
        .flatten()
        .map(|cause| (text(cause, "field"), text(cause, "message")))
        .collect();
    causes.sort_unstable();
    causes
}

/// The creation of the stored object of a case.
fn of_stored(case: &Value) -> Value {
    let mut stored =
        json!({"resource": case["resource"], "namespace": case["namespace"], "object": case["oldObject"]});
    if let Some(version) = case.get("kubernetesVersion") {
        stored["kubernetesVersion"] = version.clone();
    }
    stored
}

/// An object as it is stored.
fn stored(mut object: Value) -> Value {
    remove_empty_lists(&mut object);
    let metadata = &mut object["metadata"];
    if metadata["name"].as_str().is_none_or(str::is_empty) {
        metadata["name"] = "a".into();
    }
    metadata["uid"] = "u".into();
    metadata["resourceVersion"] = "1".into();
    metadata["creationTimestamp"] = "2020-01-01T00:00:00Z".into();
    if object["apiVersion"] == "v1" && object["kind"] == "Service" {
        allocate_address(&mut object["spec"]);
    }
    object
}

/// Whether a Service has an address, and no list of addresses.
fn has_address_alone(spec: &Value) -> bool {
    let has_address = spec["clusterIP"]
        .as_str()
        .is_some_and(|address| !address.is_empty());
    has_address && !spec["clusterIPs"].is_array()
}

/// Gives a Service the address that a server allocates.
fn allocate_address(spec: &mut Value) {
    let is_external = spec["type"] == "ExternalName";
    let has_addresses = spec.get("clusterIPs").is_some_and(Value::is_array);
    if is_external || has_addresses || !spec.is_object() {
        return;
    }
    let address = match spec["clusterIP"].as_str() {
        None | Some("") => "10.0.0.7",
        Some(address) => address,
    };
    let address = address.to_owned();
    spec["clusterIPs"] = json!([address]);
    spec["clusterIP"] = address.into();
    spec["ipFamilies"] = json!(["IPv4"]);
    spec["ipFamilyPolicy"] = "SingleStack".into();
}
