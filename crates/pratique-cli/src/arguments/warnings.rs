//! The arguments that select warnings about policies.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// The name that stands for all warnings.
pub(crate) const WARNINGS: &str = "warnings";

/// Which warnings are reported, and which of them fail the command.
#[derive(Debug, Args)]
pub(crate) struct WarningArguments {
    /// Do not report warnings of this name; `warnings` stands for all.
    #[arg(long, env = "PRATIQUE_ALLOW", value_name = "NAME", value_delimiter = ',', value_parser = lint(),
          hide_possible_values = true)]
    pub(crate) allow: Vec<String>,
    /// Report warnings of this name that are reported on request only, as described in docs/warnings.md.
    #[arg(long, env = "PRATIQUE_WARN", value_name = "NAME", value_delimiter = ',', value_parser = requestable(),
          hide_possible_values = true)]
    pub(crate) warn: Vec<String>,
    /// Fail if a warning of this name is reported; `warnings` stands for all that are reported. A name takes precedence
    /// over `warnings`, and includes warnings that are reported on request only.
    #[arg(long, env = "PRATIQUE_DENY", value_name = "NAME", value_delimiter = ',', value_parser = lint(),
          hide_possible_values = true)]
    pub(crate) deny: Vec<String>,
}

fn requestable() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(pratique_lint::list_lints().map(|lint| lint.name))
}

fn lint() -> impl TypedValueParser<Value = String> {
    let names = pratique_lint::list_lints().map(|lint| lint.name);
    PossibleValuesParser::new(names.chain([WARNINGS]))
}
