//! Loads the policies that `--policies` names.

use pratique::expressions::Expressions;
use pratique::{Admission, AdmissionBuilder};
use pratique_manifest::{ConfigurationOptions, ManifestFile};
use pratique_policy::Origin;
use pratique_review::OriginSets;
#[cfg(feature = "kube")]
use pratique_review::add_sets;
use pratique_review::sorted_objects::SortedPolicies;
use pratique_schema::FeatureGates;

use super::failure::LoadFailure;
#[cfg(feature = "kube")]
use super::failure::unusable;
use super::files::read;
use super::origin_name::OriginName;
#[cfg(feature = "kube")]
use super::skipped_files::report_passed_over;
use super::skipped_files::report_skipped;
use crate::arguments::PolicyPathArguments;
use crate::exit::CliError;
use crate::input::{FileSelection, format_paths};
use crate::memory;
use crate::output::excerpt::FileTexts;

/// The options of loading an AdmissionConfiguration.
pub(crate) fn configuration_options(
    expressions: &Expressions,
    gates: FeatureGates,
) -> ConfigurationOptions<'_> {
    ConfigurationOptions {
        manifests: expressions.options(),
        feature_gates: gates,
    }
}

/// A builder for policies of any origin, checked as the registry of an API server does.
pub(crate) fn builder(gates: FeatureGates) -> AdmissionBuilder {
    Admission::builder()
        .max_load_bytes(memory::load())
        .feature_gates(gates)
        .registry_checks(true)
}

/// Loads policies of any origin, and reports what else is among them.
pub(crate) fn load(
    arguments: &PolicyPathArguments,
    files: &FileSelection,
    expressions: &Expressions,
) -> Result<OriginSets, LoadFailure> {
    if arguments.policies.is_empty() {
        return Ok(Vec::new());
    }
    let sorted = read(&arguments.policies, arguments.origin.origin, files)?;
    report_read(arguments, &sorted, files)?;
    load_sorted(&sorted, expressions)
}

/// Reports what else is among policies that were read.
///
/// # Errors
/// There are none.
pub(crate) fn report_read(
    arguments: &PolicyPathArguments,
    sorted: &SortedPolicies,
    files: &FileSelection,
) -> Result<(), CliError> {
    let display_paths = format_paths(&arguments.policies).join(", ");
    report_skipped(&display_paths, sorted, files);
    if sorted.groups().is_empty() && !sorted.has_failures() {
        let count = sorted.others().values().sum();
        return Err(CliError::NoManifests {
            path: display_paths,
            count,
        });
    }
    Ok(())
}

/// Loads the policies of files that were read.
pub(crate) fn load_files(
    files: Vec<ManifestFile>,
    origin: Option<OriginName>,
    expressions: &Expressions,
) -> Result<OriginSets, LoadFailure> {
    load_sorted(
        &SortedPolicies::of_files(files, origin.map(Origin::from)),
        expressions,
    )
}

/// Loads files with the policies of a cluster.
pub(crate) fn load_of_cluster(
    files: Vec<ManifestFile>,
    expressions: &Expressions,
) -> Result<OriginSets, LoadFailure> {
    load_sorted(&SortedPolicies::of_api(files), expressions)
}

/// Loads policies of paths, or else those of a cluster, to know what they need. Their webhooks are not called.
#[cfg(feature = "kube")]
pub(crate) fn load_api_policies(
    arguments: &PolicyPathArguments,
    gates: FeatureGates,
    of_cluster: Option<Vec<ManifestFile>>,
) -> Result<(Admission, OriginSets), LoadFailure> {
    let builder = builder(gates);
    let files = FileSelection::new(&arguments.files.exclude)?;
    let mut sets = load(arguments, &files, builder.expressions())?;
    report_passed_over(&files);
    if let Some(files) = of_cluster {
        sets.extend(load_of_cluster(files, builder.expressions())?);
    }
    let builder = add_sets(builder.https(), sets.iter().cloned());
    Ok((builder.build().map_err(unusable)?, sets))
}

/// Loads policies that were read.
pub(crate) fn load_sorted(
    sorted: &SortedPolicies,
    expressions: &Expressions,
) -> Result<OriginSets, LoadFailure> {
    sorted.load_sets(expressions).map_err(|refused| {
        let mut texts = FileTexts::default();
        let files = sorted.files.iter();
        files.for_each(|file| texts.insert(&file.path, &file.content));
        LoadFailure::Invalid {
            errors: refused.errors,
            texts,
        }
    })
}
