//! Where custom resources have a Pod template.

use std::str::FromStr;

/// The Pod template of a kind: `Rollout.argoproj.io=spec.template`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodTemplate {
    /// The group of the kind.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The fields that lead to the template.
    pub path: Vec<String>,
}

/// Why a text names no Pod template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected KIND.GROUP=PATH, as in Rollout.argoproj.io=spec.template")]
pub struct PodTemplateError;

impl FromStr for PodTemplate {
    type Err = PodTemplateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (named, path) = text.split_once('=').ok_or(PodTemplateError)?;
        let (kind, group) = named.split_once('.').ok_or(PodTemplateError)?;
        let path: Vec<String> = path
            .trim_start_matches('.')
            .split('.')
            .map(str::to_owned)
            .collect();
        if kind.is_empty() || group.is_empty() || path.iter().any(String::is_empty) {
            return Err(PodTemplateError);
        }
        Ok(PodTemplate {
            group: group.to_owned(),
            kind: kind.to_owned(),
            path,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_named() {
        let found: PodTemplate = "Rollout.argoproj.io=.spec.template".parse().unwrap();
        assert_eq!(
            (found.kind.as_str(), found.group.as_str()),
            ("Rollout", "argoproj.io")
        );
        assert_eq!(found.path, ["spec", "template"]);
        for wrong in [
            "Rollout=spec",
            "Rollout.a",
            "Rollout.a=",
            ".a=b",
            "Rollout.a=b..c",
        ] {
            assert_eq!(wrong.parse::<PodTemplate>(), Err(PodTemplateError), "{wrong}");
        }
    }
}
