//! Violations of checks, and the lists of names in their messages.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter, Write};

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
        // Writing to a String cannot fail.
        let _ = write!(all, "{violation}");
    }
}

/// The reasons only.
// Upstream: pod-security-admission/policy/checks.go, AggregateCheckResult.ForbiddenReason
pub fn reasons(violations: &[Violation]) -> String {
    let reasons: Vec<&str> = violations.iter().map(|violation| violation.reason).collect();
    reasons.join(", ")
}

/// Names in quotes: `"a", "b"`.
pub(crate) struct QuotedNames<I>(pub(crate) I);

impl<I: IntoIterator<Item = T> + Clone, T: Display> Display for QuotedNames<I> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.clone().into_iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}\"{name}\"")?;
        }
        Ok(())
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

impl Display for FailedContainers<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let word = plural(self.0.len(), "container", "containers");
        write!(f, "{word} {}", QuotedNames(&self.0))
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

impl Display for FieldSetters<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if self.pod {
            f.write_str("pod")?;
            separator = " and ";
        }
        if !self.containers.is_empty() {
            write!(f, "{separator}{}", self.containers)?;
            separator = " and ";
        }
        match self.annotations {
            0 => Ok(()),
            count => write!(f, "{separator}{}", plural(count, "annotation", "annotations")),
        }
    }
}

/// Values in bytewise order, each once.
pub(crate) type SortedValues<'a> = BTreeSet<&'a str>;
