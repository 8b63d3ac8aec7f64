//! Policies among the inputs.

use pratique_manifest::ManifestFile;
use pratique_stream::Limits;
use pratique_types::{ADMISSION_GROUP, GroupVersionResource};

use crate::exit::CliError;
use crate::output;
use crate::output::text::text;
use crate::stream::read::Inputs;

/// Whether objects of a resource configure admission.
pub(super) fn configures_admission(resource: &GroupVersionResource) -> bool {
    resource.group == ADMISSION_GROUP
}

/// The documents of the inputs that may configure admission. What can be read only once is copied before, so that they count for
/// what stands before them as well.
///
/// # Errors
/// An input cannot be copied.
pub(super) fn files(inputs: &mut Inputs, limits: Limits) -> Result<Vec<ManifestFile>, CliError> {
    inputs.copy_pipes()?;
    inputs.mentioning(ADMISSION_GROUP, limits)
}

/// Reports what is done with policies among the inputs.
pub(super) fn report(count: usize, evaluates: bool) {
    if count == 0 {
        return;
    }
    let objects = match count {
        1 => "1 policy, binding or webhook configuration among the inputs is",
        _ => "policies, bindings and webhook configurations among the inputs are",
    };
    output::eprint(&if evaluates {
        text!("{} reviewed, and evaluated for all inputs\n", objects)
    } else {
        output::warning(&text!(
            "{} reviewed as objects, and not evaluated: --input-policies evaluates them as well",
            objects
        ))
    });
}
