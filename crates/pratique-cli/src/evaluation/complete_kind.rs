//! Kinds of which somebody says that all objects are given.

use std::collections::BTreeSet;
use std::str::FromStr;

use pratique_schema::Release;
use pratique_types::builtin::ServedResource;
use pratique_types::{GroupVersion, GroupVersionKind};

use crate::output::notice::{InputNotice, NO_OTHERS};

/// A kind of which all objects are given, in each of its versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompleteKind {
    /// As it was named.
    name: String,
    versions: Vec<GroupVersionKind>,
}

/// Why a name is none of a kind.
#[derive(Debug, thiserror::Error)]
#[error(
    "no resource of Kubernetes is called so: names are those of `kubectl api-resources`, with the group if it has one \
     (`resourcequotas`, `priorityclasses.scheduling.k8s.io`); a kind of custom resources is named Kind.version.group"
)]
pub(crate) struct UnknownKind;

impl CompleteKind {
    /// The kind, in each of its versions.
    pub(crate) fn versions(&self) -> impl Iterator<Item = &GroupVersionKind> {
        self.versions.iter()
    }

    /// What is told of such kinds; nothing if there are none.
    pub(crate) fn notice(kinds: &[CompleteKind]) -> Option<InputNotice> {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
        if names.is_empty() {
            return None;
        }
        let message = format!(
            "--none says that there are no other objects of these kinds: {}",
            names.join(", ")
        );
        Some(InputNotice::new(NO_OTHERS, "", message))
    }
}

impl FromStr for CompleteKind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let versions = match served(name) {
            Some(served) => versions(served),
            None => vec![custom_kind(name).ok_or(UnknownKind)?],
        };
        Ok(CompleteKind {
            name: name.to_owned(),
            versions,
        })
    }
}

/// All releases, the latest first: a name is read before it is known which release the server is of.
fn releases() -> impl Iterator<Item = &'static Release> {
    Release::latest().before_others()
}

/// The built-in resource of a name: plural, singular, short, or the kind; with its group, or without.
fn served(name: &str) -> Option<&'static ServedResource> {
    let lower = name.to_ascii_lowercase();
    let singular = || {
        let (kind, group) = match lower.split_once('.') {
            Some((kind, group)) => (kind, Some(group)),
            None => (lower.as_str(), None),
        };
        let mut all = releases().flat_map(|release| release.resources().served());
        all.find(|served| {
            served.subresource.is_empty()
                && served.kind.kind.eq_ignore_ascii_case(kind)
                && group.is_none_or(|group| served.kind.group == group)
        })
    };
    releases()
        .find_map(|release| release.resources().named(&lower))
        .or_else(singular)
}

fn versions(of: &ServedResource) -> Vec<GroupVersionKind> {
    let all = releases().flat_map(|release| {
        let resources = release.resources();
        resources.served().iter().chain(resources.optional())
    });
    let same = all.filter(|served| {
        let is_same = served.kind.group == of.kind.group && served.kind.kind == of.kind.kind;
        is_same && served.subresource.is_empty()
    });
    let versions: BTreeSet<&GroupVersionKind> = same.map(|served| &served.kind).collect();
    versions.into_iter().cloned().collect()
}

/// `Limits.v1.rules.example.com`
fn custom_kind(name: &str) -> Option<GroupVersionKind> {
    let (kind, rest) = name.split_once('.')?;
    let (version, group) = rest.split_once('.')?;
    let is_version = version.starts_with('v') && version.as_bytes().get(1)?.is_ascii_digit();
    let is_kind = kind.starts_with(|first: char| first.is_ascii_uppercase());
    let parsed = GroupVersion::parse(&format!("{group}/{version}")).ok()?;
    (is_version && is_kind).then(|| GroupVersionKind::new(&parsed.group, &parsed.version, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_many_names() {
        for (name, expected) in [
            ("resourcequotas", "ResourceQuota"),
            ("quota", "ResourceQuota"),
            ("resourcequota", "ResourceQuota"),
            ("LimitRange", "LimitRange"),
            ("priorityclasses.scheduling.k8s.io", "PriorityClass"),
            ("PriorityClass.scheduling.k8s.io", "PriorityClass"),
            ("Limits.v1.rules.example.com", "Limits"),
        ] {
            let kind: CompleteKind = name.parse().unwrap();
            assert_eq!(kind.versions().next().unwrap().kind, expected, "{name}");
        }
        for name in [
            "",
            "widgets",
            "widgets.example.com",
            "limits.v1.rules.example.com",
            "Limits.one.example.com",
        ] {
            assert!(name.parse::<CompleteKind>().is_err(), "{name}");
        }
    }

    #[test]
    fn a_kind_is_complete_in_all_versions() {
        let kind: CompleteKind = "hpa".parse().unwrap();
        let versions: Vec<&str> = kind.versions().map(|kind| kind.version.as_str()).collect();
        assert!(
            versions.contains(&"v1") && versions.contains(&"v2"),
            "{versions:?}"
        );
    }
}
