//! Optional fields that are read without a test of their presence.
//!
//! # What
//!
//! An expression reads an optional field, and fails for objects without it with `no such key`.
//!
//! Rules of CustomResourceDefinitions (`x-kubernetes-validations`) get it as well: the objects are those of the schema.
//!
//! Of policies and match conditions the warning is only given for built-in kinds, and for those whose definition is among the
//! inputs, and only if an evaluation over an object without the field failed. So
//! `has`, `?.`, `in`, conditionals, variables, match conditions, selectors and other operands of `&&` and `||` count as
//! guards. Fields that all objects have give no warning: required fields, fields that a server sets by default
//! (`restartPolicy`, also where that depends on others: the requests of a container that has limits) or by its default
//! admission plugins (`serviceAccountName` of Pods), and fields that its validation requires (`image`). Fields that a
//! server sets in some objects only give a warning with the condition: `spec.strategy.rollingUpdate` is not defaulted
//! in a Deployment whose strategy has the type `Recreate`. Of a namespace (`namespaceObject`) only the label
//! `kubernetes.io/metadata.name` is always there, unless a selector asks for others, and of a request not all `options`, nor the
//! `uid` and `extra` of the user. An element by its index that a list may not have is told as well, as is one of the parts of a text
//! (`image.split(':')[1]`), and a field that the definition of a custom resource does not declare.
//!
//! # Why
//!
//! The request is denied, or allowed if `failurePolicy` is `Ignore`: the expression below denies every Pod without init
//! containers.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: images}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//!   validations: [{expression: "!object.spec.initContainers.exists(c, c.image == 'a')"}]
//! ```
//!
//! Test first, as in `!has(object.spec.initContainers) || …` or `'team' in object.metadata.labels` before
//! `object.metadata.labels['team'] == 'a'`, read it as `object.spec.?initContainers.orValue([])`, or put the test into
//! a match condition.

mod chain_read;
mod short_list;

use std::collections::BTreeMap;

use pratique_gotext::suggest::{did_you_mean, nearest};
use pratique_sample::CustomKinds;
use pratique_schema::Release;
use pratique_types::GroupVersionKind;

use super::type_check::kinds_text;
use crate::analysis::{ParsedExpressions, TextRange};
use crate::definition_rules::report_unguarded_fields;
use crate::lint::{Lint, LintContext, PolicySubject};
use crate::lint_meta::LintMeta;
use crate::observations::PolicyObservations;
use crate::report::{LintFinding, LintReport, listed};
use crate::subject::{ExpressionSite, PolicyView};
use crate::typing::OBJECT_META;
use chain_read::{RequestRoots, list_missing, read};
use short_list::report_short_lists;

/// The lint `unguarded-field`.
pub(crate) struct UnguardedField;

impl Lint for UnguardedField {
    const META: &'static LintMeta = &LintMeta {
        name: "unguarded-field",
        summary: "An expression reads an optional field without testing whether it is there, and fails for objects without it.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        if let Some(definition) = context.definition() {
            report_unguarded_fields(definition, Self::META, report);
        }
        if let Some(subject) = context.evaluated() {
            check_policy(subject, &context.options.custom_kinds, report);
            report_short_lists(subject, report);
        }
    }
}

/// A read that fails.
struct FailingRead {
    site: usize,
    place: TextRange,
    /// The field as written, and optional fields that are read below it.
    names: Vec<String>,
    /// The key that is missing.
    key: String,
    /// Where defaults do not fill it, if they do in other objects.
    unfilled: Option<String>,
    kinds: Vec<GroupVersionKind>,
    /// Whether some object has it, or may have it.
    is_known: bool,
}

fn check_policy(subject: &PolicySubject<'_>, custom: &CustomKinds, report: &mut LintReport) {
    let policy = subject.policy;
    for read in join_chains(reads(policy, subject.parsed(), subject.observations(), custom)) {
        let Some(site) = policy.sites.get(read.site) else {
            continue;
        };
        let undeclared = find_undeclared(&read, policy.release, custom);
        if undeclared.is_none() && !read.is_known {
            continue;
        }
        let finding = undeclared.map_or_else(
            || finding(policy, site, &read),
            |undeclared| undeclared_finding(policy, site, &read, undeclared),
        );
        report.add_in(&policy.origin, &site.path, read.place, finding);
    }
}

/// The reads that fail, each once in an expression: where it is first.
fn reads(
    policy: &PolicyView<'_>,
    parsed: &ParsedExpressions,
    observations: &PolicyObservations,
    custom: &CustomKinds,
) -> Vec<FailingRead> {
    let mut by_name: BTreeMap<(usize, String), FailingRead> = BTreeMap::new();
    let roots = RequestRoots::new(policy);
    let known = observations.kinds.iter().map(|kind| (kind, true));
    let unknown = observations.unknown.iter().map(|kind| (kind, false));
    for (kind, is_defined) in known.chain(unknown) {
        let is_custom = is_defined && custom.find(&kind.served.kind).is_some();
        let of_data = kind.missing().into_iter().map(|missing| (missing, false, true));
        let all = list_missing(kind);
        let of_request = all.iter().map(|missing| (missing.clone(), true, true));
        // What no object has may be what no definition declares.
        let undeclared = all.iter().filter(|_| is_custom || !is_defined);
        let undeclared = undeclared.map(|missing| (missing.clone(), false, false));
        for (missing, is_of_request, is_known) in of_data.chain(of_request).chain(undeclared) {
            let Some(Some(ast)) = parsed.asts.get(missing.site) else {
                continue;
            };
            let Some((place, name)) = read(ast, &missing, &roots) else {
                continue;
            };
            // Of what has no definition the metadata is known, as that of all objects is.
            if !is_defined && metadata_field(&name).is_none() {
                continue;
            }
            let is_known =
                is_known || metadata_field(&name).is_some_and(|field| OPTIONAL_METADATA.contains(&field));
            if is_of_request != (name.starts_with("request.") || name.starts_with("namespaceObject.")) {
                continue;
            }
            let read = by_name
                .entry((missing.site, name.clone()))
                .or_insert_with(|| FailingRead {
                    site: missing.site,
                    place: place.clone(),
                    names: vec![name],
                    key: missing.key,
                    unfilled: missing.unfilled.clone(),
                    kinds: Vec::new(),
                    is_known,
                });
            read.is_known |= is_known;
            if place.start < read.place.start {
                read.place = place;
            }
            if read.unfilled != missing.unfilled {
                // Only a condition that is common to all kinds and places is reported.
                read.unfilled = read.unfilled.take().and(missing.unfilled).map(|_| String::new());
            }
            if !read.kinds.contains(&kind.served.kind) {
                read.kinds.push(kind.served.kind.clone());
            }
        }
    }
    by_name.into_values().collect()
}

/// The fields of the metadata of all objects that most objects lack.
const OPTIONAL_METADATA: [&str; 6] = [
    "annotations",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "labels",
    "ownerReferences",
];

/// What is read below the metadata of the object or of the old one.
fn metadata_field(name: &str) -> Option<&str> {
    ["object.metadata.", "oldObject.metadata."]
        .iter()
        .find_map(|root| name.strip_prefix(root))
}

/// Merges the steps of one field chain: one guard covers all of them.
fn join_chains(reads: Vec<FailingRead>) -> Vec<FailingRead> {
    let mut joined: Vec<FailingRead> = Vec::new();
    for read in reads {
        let is_below = |outer: &&mut FailingRead| {
            let rest = read.names.first().zip(outer.names.first());
            let rest = rest.and_then(|(name, outer)| name.strip_prefix(outer.as_str()));
            outer.site == read.site
                && outer.kinds == read.kinds
                && rest.is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        match joined.iter_mut().find(is_below) {
            Some(outer) => outer.names.extend(read.names),
            None => joined.push(read),
        }
    }
    joined
}

/// A field that no object has, and the declared one whose name is near.
struct UndeclaredField<'k> {
    nearest: Option<&'k str>,
}

/// Whether the definitions of all kinds of a read leave out its field.
fn find_undeclared<'k>(
    read: &FailingRead,
    release: &'static Release,
    custom: &'k CustomKinds,
) -> Option<UndeclaredField<'k>> {
    let name = read.names.first()?;
    let (holder, field) = name.rsplit_once('.')?;
    if metadata_field(name) == Some(&*read.key) {
        let schema = release.schema();
        let fields = &schema.get(schema.named(OBJECT_META)?).fields;
        let declared = || fields.iter().map(|declared| declared.name);
        let is_declared = declared().any(|declared| declared == field);
        return (!is_declared).then(|| UndeclaredField {
            nearest: nearest(field, declared()),
        });
    }
    let of_maps = [".labels", ".annotations", ".metadata"];
    if field != read.key || of_maps.iter().any(|map| holder.ends_with(map)) {
        return None;
    }
    let mut nearest_field = None;
    for kind in &read.kinds {
        let declared = custom.find(kind)?.declared_fields()?;
        if declared.contains(field) {
            return None;
        }
        nearest_field = nearest_field.or_else(|| nearest(field, declared));
    }
    Some(UndeclaredField {
        nearest: nearest_field,
    })
}

fn undeclared_finding(
    policy: &PolicyView<'_>,
    site: &ExpressionSite<'_>,
    read: &FailingRead,
    undeclared: UndeclaredField<'_>,
) -> LintFinding {
    let (kinds, names, key) = (kinds_text(&read.kinds), listed(&read.names), &read.key);
    let outcome = policy.outcome_of_errors(site.usage);
    let message =
        format!("{kinds}: {names} is none of its fields: then \"no such key: {key}\", and {outcome}");
    let help = undeclared.nearest.map_or_else(
        || "read a field that the definition declares".to_owned(),
        did_you_mean,
    );
    LintFinding::new(UnguardedField::META, message).help(help)
}

fn finding(policy: &PolicyView<'_>, site: &ExpressionSite<'_>, read: &FailingRead) -> LintFinding {
    let outcome = policy.outcome_of_errors(site.usage);
    let (kinds, names, key) = (kinds_text(&read.kinds), listed(&read.names), &read.key);
    let unfilled = match read.unfilled.as_deref() {
        None => String::new(),
        Some("") => format!(", as {key} is defaulted in some objects only"),
        Some(condition) => format!(", as {key} is not defaulted where {condition}"),
    };
    let message =
        format!("{kinds}: {names} may be left out{unfilled}: then \"no such key: {key}\", and {outcome}");
    let name = read.names.first().map_or("", String::as_str);
    // Fields of an optional value are optional as well.
    let rest = read
        .names
        .iter()
        .filter_map(|text| text.strip_prefix(name))
        .max_by_key(|rest| rest.len());
    let rest = rest.unwrap_or_default();
    if let Some(whole) = dotted_key(site.text, read) {
        let help = format!("a key with dots is written ['{whole}'], after a test: '{whole}' in …");
        return LintFinding::new(UnguardedField::META, message).help(help);
    }
    let text_before = site.text.get(..read.place.start).unwrap_or_default();
    let help = match name.rsplit_once('.') {
        Some((holder, field)) if field == key && text_before.trim_end().ends_with(" in") => {
            format!("read it as an optional value: … in {holder}.?{field}.orValue({{}})")
        }
        Some((holder, field)) if field == key => {
            format!("test it first, as in !has({name}) || …, or read {holder}.?{field}{rest}.orValue(…)")
        }
        _ => format!("test it first, as in '{key}' in …, or read it with [?'{key}']{rest}.orValue(…)"),
    };
    LintFinding::new(UnguardedField::META, message).help(help)
}

/// The key of a label or an annotation with dots, where it is written as a chain of fields.
fn dotted_key(text: &str, read: &FailingRead) -> Option<String> {
    let written = text.get(read.place.start..)?;
    read.names.iter().find_map(|name| {
        let (holder, first) = name.rsplit_once('.')?;
        let is_map = holder.ends_with(".labels") || holder.ends_with(".annotations");
        let rest = written
            .strip_prefix(name.as_str())?
            .strip_prefix('.')
            .filter(|_| is_map)?;
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "._-".contains(c)));
        let (rest, after) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        (!after.starts_with('(')).then(|| format!("{first}.{rest}"))
    })
}

#[cfg(test)]
mod tests;
