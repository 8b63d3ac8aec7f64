//! Which warnings about policies are given, and which of them fail a command.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// The name that stands for all warnings.
pub(crate) const WARNINGS: &str = "warnings";

/// Warnings.
#[derive(Debug, Args)]
pub(crate) struct WarningArguments {
    /// Do not give a warning of this name; `warnings` stands for all.
    #[arg(long, env = "PRATIQUE_ALLOW", value_name = "NAME", value_delimiter = ',', value_parser = lint(),
          hide_possible_values = true)]
    pub(crate) allow: Vec<String>,
    /// Give a warning of this name also where it is told on request only, as docs/warnings.md says.
    #[arg(long, env = "PRATIQUE_WARN", value_name = "NAME", value_delimiter = ',', value_parser = requestable(),
          hide_possible_values = true)]
    pub(crate) warn: Vec<String>,
    /// Fail where a warning of this name is given; `warnings` stands for all that are given. A name counts more than
    /// `warnings`, and asks for what is told on request only.
    #[arg(long, env = "PRATIQUE_DENY", value_name = "NAME", value_delimiter = ',', value_parser = lint(),
          hide_possible_values = true)]
    pub(crate) deny: Vec<String>,
}

fn requestable() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(pratique_lint::all().iter().map(|lint| lint.name))
}

fn lint() -> impl TypedValueParser<Value = String> {
    let names = pratique_lint::all().iter().map(|lint| lint.name);
    PossibleValuesParser::new(names.chain([WARNINGS]))
}
