//! Arguments about what an API server does with objects besides admission.

use clap::{Args, ValueEnum};

use super::on_or_off;

/// What becomes of objects before policies see them.
#[derive(Debug, Args)]
pub(crate) struct ObjectArguments {
    /// Whether objects get what an API server sets in them: defaults before admission and after each mutation, metadata, and
    /// what their kind has between the phases. With `off`, policies see each object as it is given. An AdmissionReview has
    /// it from its server, so only what policies change is defaulted.
    #[arg(long, env = "PRATIQUE_DEFAULTS", value_name = "on|off", default_value = "on",
          action = clap::ArgAction::Set, value_parser = on_or_off())]
    pub(crate) defaults: bool,
    /// What becomes of fields that are unknown or given twice, as with `kubectl --validate`: objects are refused, or there is
    /// a warning, or nothing.
    #[arg(
        long,
        env = "PRATIQUE_FIELD_VALIDATION",
        value_name = "MODE",
        default_value = "Warn",
        ignore_case = true
    )]
    pub(crate) field_validation: FieldValidation,
    #[command(flatten)]
    pub(crate) validation: ValidationArguments,
}

/// Whether objects go through the API server's own validation.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ValidationArguments {
    /// Whether objects of built-in kinds are validated as an API server does before it stores them, after mutating and before
    /// validating admission: what is invalid is denied. What a server sent (an AdmissionReview) was validated there, and objects
    /// that stay as they are given are not.
    #[arg(long, env = "PRATIQUE_VALIDATION", value_name = "on|off", default_value = "on",
          action = clap::ArgAction::Set, value_parser = on_or_off())]
    pub(crate) validation: bool,
}

/// What becomes of unknown and duplicate fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FieldValidation {
    /// Objects with such fields are refused.
    #[value(name = "Strict")]
    Strict,
    /// There is a warning for each.
    #[value(name = "Warn")]
    Warn,
    /// Nothing is said.
    #[value(name = "Ignore")]
    Ignore,
}
