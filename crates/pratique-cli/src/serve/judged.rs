//! What is judged by, and kept current.

use std::fs;

use pratique::{Admission, AssumedNamespaces, Builder, Live, SharedObjects, StartError};
use pratique_manifest::{LoadErrors, Plugin};
use pratique_metrics::Metrics;
use pratique_server::Reloads;
use pratique_suite::ask::cluster::cluster;

use crate::arguments::ServeArguments;
use crate::baseline;
use crate::check::plugin_of;
use crate::exit::Trouble;
use crate::input::{self, Unread};
use crate::output::excerpt::Texts;
use crate::output::problems;
use crate::style::Style;

/// What requests are judged by.
pub(super) struct Judged {
    pub(super) live: Live,
    pub(super) reloads: Reloads,
    /// Whether the cluster is known.
    pub(super) knows_cluster: bool,
}

/// Why there is nothing to judge by.
pub(super) enum Unusable {
    /// Something does not load; this says what.
    Invalid(String),
    /// Something is not to be had.
    Trouble(Trouble),
}

/// Loads what the arguments name, the embedded standards if they name nothing, and keeps it current.
pub(super) fn start(arguments: &ServeArguments, metrics: &Metrics) -> Result<Judged, Unusable> {
    let reloads = Reloads::default();
    let live = builder(arguments)?
        .live()
        .witness(metrics.clone())
        .witness(reloads.clone());
    let objects = objects(arguments)?;
    let knows_cluster = objects.is_some();
    let live = match objects {
        Some(objects) => live.cluster(SharedObjects::new(objects)),
        None => live.cluster(AssumedNamespaces::default()),
    };
    let live = live.start().map_err(|error| match error {
        StartError::Load(errors) => invalid(&errors),
        error => Unusable::Trouble(Trouble::Serve(error.to_string())),
    })?;
    Ok(Judged {
        live,
        reloads,
        knows_cluster,
    })
}

fn builder(arguments: &ServeArguments) -> Result<Builder, Unusable> {
    let builder = Admission::builder()
        .manifest_gate(arguments.feature_gates.manifests)
        .guards(arguments.guards.guards());
    let policies = &arguments.policies;
    match (&policies.config, &policies.manifests) {
        (Some(path), _) => {
            openable(path)?;
            builder
                .configuration(path)
                .map_err(|refused| invalid(&refused.errors))
        }
        (None, Some(path)) => {
            openable(path)?;
            let plugin = policies
                .plugin
                .map_or_else(|| plugin_of(path), Ok)
                .map_err(Unusable::Trouble)?;
            builder.directory(path, plugin).map_err(|errors| invalid(&errors))
        }
        (None, None) => {
            let files = baseline::files(policies.level);
            builder
                .files(&files, Plugin::ValidatingAdmissionPolicy)
                .map_err(|errors| invalid(&errors))
        }
    }
}

/// What the cluster has; `None` if nobody said.
fn objects(arguments: &ServeArguments) -> Result<Option<pratique::Objects>, Unusable> {
    if arguments.cluster_objects.is_empty() {
        return Ok(None);
    }
    let mut all = Vec::new();
    for path in &arguments.cluster_objects {
        for file in input::files(path).map_err(Unusable::Trouble)? {
            let read = input::read(&file, MEBIBYTES).map_err(|unread| unusable(&file, unread))?;
            all.extend(read.given.into_iter().map(|given| given.object));
        }
    }
    Ok(Some(cluster(&all, [])))
}

/// The largest file of objects.
const MEBIBYTES: u32 = 256;

fn unusable(path: &str, unread: Unread) -> Unusable {
    match unread {
        Unread::Trouble(trouble) => Unusable::Trouble(trouble),
        Unread::TooLarge { mebibytes, .. } => {
            Unusable::Invalid(format!("error: {path}: larger than {mebibytes} MiB\n"))
        }
        Unread::Faulty { place, why } => Unusable::Invalid(format!("error: {place}: {why}\n")),
        Unread::Invalid { errors, .. } => invalid(&errors),
    }
}

fn invalid(errors: &LoadErrors) -> Unusable {
    Unusable::Invalid(problems::human(errors, &mut Texts::default(), Style::of_stderr()))
}

/// What the user names has to be there: that it is not is no fault of the policies.
fn openable(path: &str) -> Result<(), Unusable> {
    let unreadable = |error| {
        Unusable::Trouble(Trouble::Read {
            path: path.to_owned(),
            error,
        })
    };
    fs::metadata(path).map(|_| ()).map_err(unreadable)
}
