//! Volumes: their names, and that each has one source.

use std::cell::LazyCell;
use std::collections::HashSet;

use pratique_gotext::validation::dns1123_label;

use super::volume_sources::{SOURCES, validate_source};
use crate::claims::template_names;
use crate::errors::Errors;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::pod::options::PodOptions;
use crate::seen_texts::SeenTexts;

/// The valid volumes of a Pod by name.
#[derive(Debug, Default)]
pub(crate) struct ValidVolumes<'v> {
    names: SeenTexts<'v>,
    /// The volumes that are, or become, claims.
    claims: SeenTexts<'v>,
}

impl ValidVolumes<'_> {
    pub(super) fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether a volume is a claim; `None` where there is no such volume.
    pub(super) fn is_claim(&self, name: &str) -> Option<bool> {
        self.contains(name).then(|| self.claims.contains(name))
    }
}

/// The volumes of a Pod's specification. A StatefulSet adds its claims before them, and they take the places of volumes of
/// the same name.
// Upstream: pkg/apis/core/validation/validation.go, ValidateVolumes; pkg/apis/apps/validation/validation.go,
// volumesToAddForTemplates
pub(super) fn validate_volumes<'v>(
    spec: &Node<'_, 'v>,
    pod_name: &str,
    claim_templates: Option<&Node<'_, 'v>>,
    options: PodOptions,
    errors: &mut Errors,
) -> ValidVolumes<'v> {
    let volumes = spec.child("volumes");
    let mut known = ValidVolumes::default();
    let mut added = 0;
    for template in claim_templates.iter().flat_map(|templates| templates.items()) {
        let metadata = template.child("metadata");
        let name = metadata.child("name").as_text();
        if known.claims.contains(name) {
            continue;
        }
        let volume_path = volumes.path().index(added);
        added += 1;
        let mut name_errors = Errors::of_gates(errors.gates());
        // The claim is looked at first, and has the name of the volume.
        if name.is_empty() {
            name_errors.required(volume_path.child("persistentVolumeClaim").child("claimName"), "");
        }
        validate_name(&Node::with_path(metadata.value(), volume_path), &mut name_errors);
        if name_errors.is_empty() {
            known.names.insert(name);
        }
        known.claims.insert(name);
        errors.extend(name_errors);
    }
    let templates = known.claims.len();
    let template_names = LazyCell::new(|| template_names(claim_templates));
    let created = LazyCell::new(|| -> HashSet<&str> {
        let volumes = volumes
            .items()
            .filter(|volume| volume.child("ephemeral").is_set());
        volumes.map(|volume| volume.child("name").as_text()).collect()
    });
    for (index, volume) in volumes.items().enumerate() {
        let name = volume.child("name").as_text();
        if templates > 0 && template_names.contains(name) {
            continue;
        }
        let printed_index = if templates > 0 { added } else { index };
        added += 1;
        let volume = Node::with_path(volume.value(), volumes.path().index(printed_index));
        validate_volume(&volume, pod_name, &mut known, options, errors);
        validate_not_created(&volume, pod_name, &|| &*created, errors);
    }
    known
}

fn validate_name(volume: &Node<'_, '_>, errors: &mut Errors) {
    let name = volume.child("name");
    if name.as_text().is_empty() {
        errors.required(name, "");
    } else {
        errors.invalid_each(&name, &dns1123_label(name.as_text()));
    }
}

fn validate_volume<'v>(
    volume: &Node<'_, 'v>,
    pod_name: &str,
    known: &mut ValidVolumes<'v>,
    options: PodOptions,
    errors: &mut Errors,
) {
    let count = errors.len();
    validate_sources(volume, pod_name, options, errors);
    validate_name(volume, errors);
    let name = volume.child("name");
    if known.names.contains(name.as_text()) {
        errors.duplicate(name, name.as_text());
    }
    if errors.len() == count {
        known.names.insert(name.as_text());
        if ["persistentVolumeClaim", "ephemeral"]
            .iter()
            .any(|source| volume.child(source).is_set())
        {
            known.claims.insert(name.as_text());
        }
    }
}

/// A claim that is made for this very Pod cannot be named as one that exists.
fn validate_not_created<'c>(
    volume: &Node<'_, '_>,
    pod_name: &str,
    created: &dyn Fn() -> &'c HashSet<&'c str>,
    errors: &mut Errors,
) {
    let source = volume.child("persistentVolumeClaim");
    if !source.is_set() || pod_name.is_empty() {
        return;
    }
    let name = source.child("claimName");
    let Some(rest) = name
        .as_text()
        .strip_prefix(pod_name)
        .and_then(|rest| rest.strip_prefix('-'))
    else {
        return;
    };
    if created().contains(rest) {
        errors.invalid_value(
            &name,
            "must not reference a PVC that gets created for an ephemeral volume",
        );
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateVolumeSource
fn validate_sources(volume: &Node<'_, '_>, pod_name: &str, options: PodOptions, errors: &mut Errors) {
    let mut count = 0;
    let name = volume.child("name");
    // Of so many sources, nearly all are absent: once all members but the name were met, no other is looked for.
    let members = volume.value().as_object();
    let is_there = |name: &str| members.is_some_and(|members| members.contains_key(name));
    let at_most = volume.len().saturating_sub(usize::from(name.is_set()));
    let sources = SOURCES.iter().filter(|source| is_there(source.name));
    for source in sources.take(at_most) {
        let value = volume.child_as(source.name, source.printed_name);
        if !value.is_set() {
            continue;
        }
        count += 1;
        // What is empty at first is never refused for being one source too many: it is looked at first.
        if count > 1 {
            errors.forbidden(
                volume.child(source.shown_if_forbidden),
                "may not specify more than 1 volume type",
            );
        } else {
            validate_source(source.name, &value, options, errors);
            if source.name == "ephemeral" && !pod_name.is_empty() && !name.as_text().is_empty() {
                validate_claim_name(&name, pod_name, errors);
            }
        }
        if source.name == "iscsi" {
            validate_initiator_length(&name, &value, errors);
        }
    }
    if count == 0 {
        errors.required(volume, "must specify a volume type");
    }
}

fn validate_claim_name(name: &Node<'_, '_>, pod_name: &str, errors: &mut Errors) {
    let claim = format!("{pod_name}-{}", name.as_text());
    for message in subdomain_name(&claim, false) {
        let detail = format!("PVC name {}: {message}", pratique_gotext::strconv::quote(&claim));
        errors.invalid_value(name, &detail);
    }
}

fn validate_initiator_length(name: &Node<'_, '_>, iscsi: &Node<'_, '_>, errors: &mut Errors) {
    let length = name.as_text().len() + 1 + iscsi.child("targetPortal").as_text().len();
    if iscsi.child("initiatorName").is_set() && length > 64 {
        errors.invalid_or_empty(
            name,
            "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is \
             specified.",
        );
    }
}
