//! The command line.

mod check;
mod cluster;
mod listen;
mod review;
mod serve;
mod test;
mod warnings;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser, Subcommand};
use pratique_manifest::Plugin;

pub(crate) use check::{CheckArguments, CheckFormat};
pub(crate) use cluster::ClusterArguments;
#[cfg(feature = "kube")]
pub(crate) use cluster::Followable;
pub(crate) use listen::Listen;
pub(crate) use review::{PolicyArguments, RequestArguments, ReviewArguments, ReviewFormat};
pub(crate) use serve::{
    AuditLevel, CertificateArguments, LimitArguments, LogFormat, LogLevel, RegistrationArguments,
    ServeArguments,
};
pub(crate) use test::{TestArguments, TestFormat};
pub(crate) use warnings::{WARNINGS, WarningArguments};

/// Kubernetes admission control without a cluster.
///
/// Exit codes: 0 all is valid, allowed, as expected; 1 something is not; 2 wrong usage or a file that does not open;
/// 3 nothing is denied, but something is undecided, or nothing was evaluated: it depends on what was not given.
#[derive(Debug, Parser)]
#[command(name = "pratique", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The arguments of the command line.
///
/// # Errors
/// They are wrong, or ask for help.
pub(crate) fn parse() -> Result<Arguments, clap::Error> {
    Arguments::try_parse().map_err(|mut error| {
        if error.kind() == ErrorKind::InvalidSubcommand {
            let names: Vec<String> = Arguments::command()
                .get_subcommands()
                .map(|command| command.get_name().to_owned())
                .collect();
            let tip = format!("the commands are {}", names.join(", "));
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        }
        error
    })
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(CheckArguments),
    Review(Box<ReviewArguments>),
    Serve(Box<ServeArguments>),
    Test(Box<TestArguments>),
}

fn plugin() -> impl clap::builder::TypedValueParser<Value = Plugin> {
    use clap::builder::TypedValueParser as _;
    // The names above are the only ones that get this far.
    clap::builder::PossibleValuesParser::new(Plugin::START_ORDER.map(Plugin::name))
        .map(|name| Plugin::from_name(&name).unwrap_or(Plugin::ValidatingAdmissionPolicy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
