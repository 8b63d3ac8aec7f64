//! Workloads whose Pods were not reviewed, and the policies that would have matched these Pods.

use std::collections::{BTreeMap, BTreeSet};

use pratique_review::{PodPolicies, WorkloadPods};
use pratique_types::GroupResource;
use serde::{Deserialize, Serialize};

use crate::evaluation::input_request::InputRequest;
use crate::output::counted_nouns::first_names;
use crate::output::notice::{InputNotice, NOT_EVALUATED};
use crate::policies::NAMED;

/// The most bytes of the fields that lead to a Pod template, to be shown.
const MAX_PATH: usize = 200;
/// The most Pod templates that are counted apart: definitions of hostile inputs may have any number.
const MAX_TEMPLATES: usize = 1_000;

/// Workloads whose Pods were not reviewed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnexpandedWorkloads {
    given: WorkloadCount,
    /// Those of exports of etcd, which have the Pods that there are beside them.
    stored: WorkloadCount,
    /// Custom resources with a Pod template.
    custom: CustomTemplates,
}

/// How many workloads there are.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadCount {
    /// By resource.
    #[serde(with = "resource_counts")]
    resources: BTreeMap<GroupResource, usize>,
    /// Where the first of them is.
    place: String,
}

/// Custom resources with a Pod template, of which nobody said that a controller makes Pods.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CustomTemplates {
    count: usize,
    /// Where the first of them is.
    place: String,
    /// How many of them have it where no flag can name it.
    unnameable: usize,
    /// Where the first templates are, as `--pod-template` names them.
    templates: BTreeSet<String>,
    /// Whether there are more of them.
    is_cut: bool,
}

/// Counts by resource as a list: keys of JSON are texts.
mod resource_counts {
    use std::collections::BTreeMap;

    use pratique_types::GroupResource;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        counts: &BTreeMap<GroupResource, usize>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(
            counts
                .iter()
                .map(|(resource, count)| (&resource.group, &resource.resource, count)),
        )
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<GroupResource, usize>, D::Error> {
        let counts = Vec::<(String, String, usize)>::deserialize(deserializer)?;
        let counts = counts
            .into_iter()
            .map(|(group, resource, count)| (GroupResource { group, resource }, count));
        Ok(counts.collect())
    }
}

impl UnexpandedWorkloads {
    /// Counts the workload of a request, if its Pods are not evaluated; `is_stored` is whether those of them that exist are inputs
    /// as well.
    pub(crate) fn count(&mut self, pods: &WorkloadPods, input: &InputRequest<'_>, is_stored: bool) {
        let counted = match pods {
            WorkloadPods::NotEvaluated if is_stored => &mut self.stored,
            WorkloadPods::NotEvaluated => &mut self.given,
            WorkloadPods::Custom(path) => return self.custom.count(path, input),
            WorkloadPods::None | WorkloadPods::Evaluated(_) => return,
        };
        counted.add(WorkloadCount {
            resources: BTreeMap::from([(input.request.resource.group_resource(), 1)]),
            place: input.place(),
        });
    }

    /// Adds those of a later part.
    pub(crate) fn add(&mut self, other: UnexpandedWorkloads) {
        self.given.add(other.given);
        self.stored.add(other.stored);
        self.custom.add(other.custom);
    }

    /// The warnings about the workloads: the policies that match Pods and not all of these.
    pub(crate) fn warnings(&self, policies: &PodPolicies<'_>) -> impl Iterator<Item = InputNotice> {
        let given = self.given.warning(policies, |count, policies| {
            let pods = match count {
                1 => "the Pods of 1 workload are",
                _ => "the Pods of workloads are",
            };
            format!("{pods} not reviewed, and {policies} not evaluated for them")
        });
        let stored = self.stored.warning(policies, |count, policies| {
            let (workloads, their) = match count {
                1 => ("a stored workload was".to_owned(), "its"),
                _ => (format!("{count} stored workloads were"), "their"),
            };
            format!(
                "{workloads} not expanded: {their} Pods are evaluated as far as they are among the inputs, and {policies} not \
                 evaluated for those to come"
            )
        });
        [given, stored, self.custom.warning()].into_iter().flatten()
    }
}

impl WorkloadCount {
    fn add(&mut self, other: WorkloadCount) {
        if self.resources.is_empty() {
            self.place = other.place;
        }
        for (resource, count) in other.resources {
            *self.resources.entry(resource).or_default() += count;
        }
    }

    /// The warning about so many workloads and the policies that are not evaluated, if there are any.
    fn warning(
        &self,
        policies: &PodPolicies<'_>,
        describe: impl FnOnce(usize, &str) -> String,
    ) -> Option<InputNotice> {
        let blind = policies.not_matching(self.resources.keys());
        if self.resources.is_empty() || blind.is_empty() {
            return None;
        }
        let count = self.resources.values().sum();
        let policies = match blind.len() {
            1 => "1 policy for Pods is",
            _ => "policies for Pods are",
        };
        let message = format!(
            "{} ({}): --expand does",
            describe(count, policies),
            first_names(&blind, NAMED)
        );
        Some(InputNotice::new(NOT_EVALUATED, self.place.clone(), message))
    }
}

impl CustomTemplates {
    fn count(&mut self, path: &str, input: &InputRequest<'_>) {
        let kind = &input.request.kind;
        // What is in a list cannot be named, and names of fields may be anything.
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        let is_nameable = path.len() <= MAX_PATH && path.bytes().all(is_plain);
        let template = is_nameable.then(|| format!("{}.{}={path}", kind.kind, kind.group));
        self.add(CustomTemplates {
            count: 1,
            place: input.place(),
            unnameable: usize::from(!is_nameable),
            templates: template.into_iter().collect(),
            is_cut: false,
        });
    }

    fn add(&mut self, other: CustomTemplates) {
        if self.count == 0 {
            self.place = other.place;
        }
        self.count += other.count;
        self.unnameable += other.unnameable;
        self.is_cut |= other.is_cut;
        for template in other.templates {
            if self.templates.len() < MAX_TEMPLATES || self.templates.contains(&template) {
                self.templates.insert(template);
            } else {
                self.is_cut = true;
            }
        }
    }

    fn warning(&self) -> Option<InputNotice> {
        let pods = match self.count {
            0 => return None,
            1 => "the Pods of 1 custom resource with a Pod template are".to_owned(),
            count => format!("the Pods of {count} custom resources with a Pod template are"),
        };
        let message = format!("{pods} not reviewed: {}", self.describe_flag());
        Some(InputNotice::new(NOT_EVALUATED, self.place.clone(), message))
    }

    /// What would have the Pods reviewed.
    fn describe_flag(&self) -> String {
        let templates: Vec<&str> = self.templates.iter().map(String::as_str).collect();
        if templates.is_empty() {
            return "no flag can name where the template is".to_owned();
        }
        let flag = if self.is_cut {
            let first = templates.get(..NAMED).unwrap_or(&templates);
            format!("--pod-template does, for {} and more", first.join(", "))
        } else if templates.len() > NAMED {
            format!("--pod-template does, for {}", first_names(&templates, NAMED))
        } else {
            format!("--pod-template {} does", templates.join(","))
        };
        match self.unnameable {
            0 => flag,
            count => format!("{flag}; no flag can name where the template of {count} of them is"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn templates(names: impl IntoIterator<Item = String>) -> CustomTemplates {
        let mut all = CustomTemplates::default();
        for name in names {
            all.add(CustomTemplates {
                count: 1,
                templates: BTreeSet::from([name]),
                ..CustomTemplates::default()
            });
        }
        all
    }

    #[test]
    fn what_is_not_named_is_told() {
        let named = |count: usize| templates((0..count).map(|index| format!("K{index:04}.g=t")));
        assert_eq!(
            named(2).describe_flag(),
            "--pod-template K0000.g=t,K0001.g=t does"
        );
        let first = "K0000.g=t, K0001.g=t, K0002.g=t, K0003.g=t, K0004.g=t";
        assert_eq!(
            named(NAMED + 2).describe_flag(),
            format!("--pod-template does, for {first} and 2 more")
        );
        assert_eq!(
            named(MAX_TEMPLATES + 1).describe_flag(),
            format!("--pod-template does, for {first} and more")
        );
        let mut mixed = named(1);
        mixed.add(CustomTemplates {
            count: 3,
            unnameable: 3,
            ..CustomTemplates::default()
        });
        let expected = "--pod-template K0000.g=t does; no flag can name where the template of 3 of them is";
        assert_eq!(mixed.describe_flag(), expected);
        let unnameable = CustomTemplates {
            count: 1,
            unnameable: 1,
            ..CustomTemplates::default()
        };
        assert_eq!(
            unnameable.describe_flag(),
            "no flag can name where the template is"
        );
    }
}
