//! Violations of checks, and the lists of names in their messages.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use crate::pod::{Pod, PodContainer};

/// A check that a pod does not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The forbidden feature, in short: `host namespaces`.
    pub reason: &'static str,
    /// The place, and the allowed values: `hostNetwork=true`.
    pub detail: String,
}

impl Violation {
    pub(crate) fn new(reason: &'static str, detail: String) -> Self {
        Violation { reason, detail }
    }
}

impl Display for Violation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason)?;
        match self.detail.as_str() {
            "" => Ok(()),
            detail => write!(f, " ({detail})"),
        }
    }
}

/// The violations of a pod with their details, as messages list them.
// Upstream: pod-security-admission/policy/checks.go, AggregateCheckResult.ForbiddenDetail
pub fn details(violations: &[Violation]) -> String {
    let mut all = String::new();
    write_details(&mut all, violations);
    all
}

/// Adds the [`details`] to a text.
pub(crate) fn write_details(all: &mut String, violations: &[Violation]) {
    let each = violations.iter();
    all.reserve(
        each.map(|violation| violation.reason.len() + violation.detail.len() + 5)
            .sum(),
    );
    for (index, violation) in violations.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        all.push_str(separator);
        all.push_str(violation.reason);
        if !violation.detail.is_empty() {
            for part in [" (", &violation.detail, ")"] {
                all.push_str(part);
            }
        }
    }
}

/// The reasons only.
// Upstream: pod-security-admission/policy/checks.go, AggregateCheckResult.ForbiddenReason
pub fn reasons(violations: &[Violation]) -> String {
    let reasons: Vec<&str> = violations.iter().map(|violation| violation.reason).collect();
    reasons.join(", ")
}

/// A part of the detail of a violation. Parts are added without formatting, which takes three times as long.
// Row `plugins-pss-no` of `benches/`: details were half of the instructions of a refusal.
pub(crate) trait DetailPart {
    fn add_to(&self, detail: &mut String);
}

/// As long as most details are.
const DETAIL_BYTES: usize = 128;

/// The detail of these parts.
pub(crate) fn detail(parts: &[&dyn DetailPart]) -> String {
    let mut detail = String::with_capacity(DETAIL_BYTES);
    for part in parts {
        part.add_to(&mut detail);
    }
    detail
}

impl DetailPart for &str {
    fn add_to(&self, detail: &mut String) {
        detail.push_str(self);
    }
}

/// Names in quotes: `"a", "b"`.
pub(crate) struct QuotedNames<I>(pub(crate) I);

impl<I: IntoIterator<Item = T> + Clone, T: AsRef<str>> DetailPart for QuotedNames<I> {
    fn add_to(&self, detail: &mut String) {
        for (index, name) in self.0.clone().into_iter().enumerate() {
            detail.push_str(if index == 0 { "\"" } else { ", \"" });
            detail.push_str(name.as_ref());
            detail.push('"');
        }
    }
}

/// The singular or plural for a count.
pub(crate) fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// Containers that do not pass a check, in order: `containers "a", "b"`.
#[derive(Default)]
pub(crate) struct FailedContainers<'a>(pub(crate) Vec<&'a str>);

impl<'a> FailedContainers<'a> {
    /// The containers of a pod that have something bad.
    pub(crate) fn with(pod: &Pod<'a>, mut is_bad: impl FnMut(&PodContainer<'a>) -> bool) -> Self {
        let bad = pod.containers.iter().filter(|container| is_bad(container));
        FailedContainers(bad.map(|container| container.name).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The verb that goes with them.
    pub(crate) fn uses(&self) -> &'static str {
        plural(self.0.len(), "uses", "use")
    }
}

impl DetailPart for FailedContainers<'_> {
    fn add_to(&self, detail: &mut String) {
        detail.push_str(plural(self.0.len(), "container ", "containers "));
        QuotedNames(&self.0).add_to(detail);
    }
}

/// Whatever sets something bad: the pod, its containers, annotations.
#[derive(Default)]
pub(crate) struct FieldSetters<'a> {
    pub(crate) pod: bool,
    pub(crate) containers: FailedContainers<'a>,
    pub(crate) annotations: usize,
}

impl<'a> FieldSetters<'a> {
    /// The pod and the containers whose security contexts have a forbidden setting.
    pub(crate) fn with(
        pod: &Pod<'a>,
        mut is_bad: impl FnMut(&crate::pod::SecurityContext<'a>) -> bool,
    ) -> Self {
        FieldSetters {
            pod: is_bad(&pod.context),
            containers: FailedContainers::with(pod, |container| is_bad(&container.context)),
            annotations: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.pod && self.containers.is_empty() && self.annotations == 0
    }
}

impl DetailPart for FieldSetters<'_> {
    fn add_to(&self, detail: &mut String) {
        let mut separator = "";
        if self.pod {
            detail.push_str("pod");
            separator = " and ";
        }
        if !self.containers.is_empty() {
            detail.push_str(separator);
            self.containers.add_to(detail);
            separator = " and ";
        }
        if self.annotations > 0 {
            detail.push_str(separator);
            detail.push_str(plural(self.annotations, "annotation", "annotations"));
        }
    }
}

/// Values in bytewise order, each once.
pub(crate) type SortedValues<'a> = BTreeSet<&'a str>;
