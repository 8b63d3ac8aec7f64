//! Policies among the inputs.

use std::fs;
use std::path::{Path, PathBuf};

use pratique_types::GroupVersionResource;

use super::read::{Inputs, mentions};
use crate::exit::CliError;
use crate::input::STDIN;
use crate::output;
use crate::output::text::text;

/// The API group of policies, their bindings, and webhook configurations.
const GROUP: &str = "admissionregistration.k8s.io";

/// Whether objects of a resource configure admission.
pub(super) fn configures_admission(resource: &GroupVersionResource) -> bool {
    resource.group == GROUP
}

/// The files of the inputs that may have policies.
///
/// # Errors
/// An input can be read only once: standard input, or a pipe.
pub(super) fn files(inputs: &Inputs) -> Result<Vec<PathBuf>, CliError> {
    let mut files = Vec::new();
    for file in inputs.all().iter().flat_map(|input| &input.files) {
        let is_file = file != Path::new(STDIN) && fs::metadata(file).is_ok_and(|found| found.is_file());
        if !is_file {
            let path = crate::input::shown(file);
            return Err(CliError::PoliciesOfPipe { path });
        }
        // What cannot be read is told when it is reviewed.
        if mentions(file, &[GROUP]).unwrap_or_default() {
            files.push(file.clone());
        }
    }
    Ok(files)
}

/// Tells what is done with policies among the inputs.
pub(super) fn tell(count: usize, evaluates: bool) {
    if count == 0 {
        return;
    }
    let objects = match count {
        1 => "1 policy, binding or webhook configuration among the inputs is",
        _ => "policies, bindings and webhook configurations among the inputs are",
    };
    output::note(&match evaluates {
        true => text!("{} reviewed, and evaluated for all inputs\n", objects),
        false => output::warning(&text!(
            "{} reviewed as objects, and not evaluated: --input-policies evaluates them as well",
            objects
        )),
    });
}
