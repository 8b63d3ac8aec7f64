//! Objects of the API among static manifests.
//!
//! # What
//!
//! A directory has objects of the API among static manifests, whose names end with `.static.k8s.io`. Both are checked,
//! each by its rules.
//!
//! # Why
//!
//! An API server with that directory does not start.
//!
//! # Example
//!
//! A policy `limit.static.k8s.io` and its binding `limit`. Complete the name, move one of them, or set the origin of
//! all of them with `--origin static` or `--origin api`.

use pratique_manifest::ObjectName;

use crate::lint::{Lint, LintContext, LintSubject};
use crate::lint_meta::LintMeta;
use crate::report::LintReport;
use crate::warning::Warning;

/// The lint `mixed-origins`.
pub(crate) struct MixedOrigins;

impl Lint for MixedOrigins {
    const META: &'static LintMeta = &LintMeta {
        name: "mixed-origins",
        summary: "An object of the API is among static manifests: a server does not load such a directory.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let LintSubject::MixedObject(name, location) = context.subject else {
            return;
        };
        let ObjectName { kind, name: called } = name;
        report.push(Warning {
            lint: Self::META,
            message: format!(
                "{kind} {called:?} is read as an object of the API, and static manifests are beside it: kube-apiserver \
                 loads no such directory"
            ),
            object: Some(name.clone()),
            field: "metadata.name".to_owned(),
            location: location.clone(),
            help: Some(
                format!(
                    "as a static manifest it is named {:?}; --origin static or --origin api says what all objects are",
                    format!("{called}.static.k8s.io")
                )
                .into(),
            ),
            example: None,
        });
    }
}
