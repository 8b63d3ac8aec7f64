//! What ends a command as annotations of GitHub Actions, where its output has those: they stand beside a change, whose log few read.

use std::sync::atomic::{AtomicBool, Ordering};

use pratique_manifest::LoadErrors;

use super::finding::AnnotationLevel;
use super::github::WorkflowCommands;
use super::place::InputPlace;
use super::problems;
use crate::exit::CliError;

/// Whether the command that runs prints annotations. What ends it is reported in many places, of which few know its outputs.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// Says whether the command prints annotations.
pub(crate) fn set_printed(is_printed: bool) {
    PRINTED.store(is_printed, Ordering::Relaxed);
}

/// Prints the annotation of an error.
pub(crate) fn annotate(error: &CliError) {
    let mut commands = WorkflowCommands::default();
    commands.annotate_place(
        AnnotationLevel::Error,
        &place_of(error),
        "pratique: not evaluated",
        &error.to_string(),
    );
    print(&commands);
}

/// The file that an error is about; none for what is about the whole run.
fn place_of(error: &CliError) -> InputPlace {
    match error {
        CliError::Read { path, .. }
        | CliError::TooDeep { path }
        | CliError::TooLarge { path, .. }
        | CliError::NoManifests { path, .. }
        | CliError::Checkpoint { path, .. } => InputPlace {
            file: path.clone(),
            ..InputPlace::default()
        },
        CliError::NoOldObject { place } => InputPlace::parse(place),
        CliError::Render(error) => error.place(),
        _ => InputPlace::default(),
    }
}

/// Prints the annotations of what is wrong with manifests.
pub(crate) fn annotate_problems(errors: &LoadErrors) {
    let mut commands = WorkflowCommands::default();
    for finding in problems::findings(errors, false) {
        commands.annotate_finding(&finding);
    }
    print(&commands);
}

fn print(commands: &WorkflowCommands) {
    if PRINTED.load(Ordering::Relaxed) {
        // The command fails, whether this can be printed or not.
        let _ = super::print_github(commands);
    }
}
