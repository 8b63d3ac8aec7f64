//! The inputs of a comparison, part by part: files, or the objects of a cluster.

use std::path::Path;
use std::sync::Arc;

use pratique_replay::is_log;
use pratique_review::SourceFile;
use pratique_stream::Limits;
#[cfg(feature = "kube")]
use pratique_types::Operation;

use crate::arguments::ExpandArguments;
#[cfg(feature = "kube")]
use crate::arguments::ListArguments;
use crate::evaluation::state::ClusterState;
use crate::exit::CliError;
use crate::input::FileSelection;
use crate::input::rendering::RenderedInputs;
use crate::output::notice::InputNotice;
use crate::replay::engine::ReadyPolicies;
use crate::replay::share::ReadShare;
use crate::replay::units::{LogPieces, LogUnit as FileUnit};
use crate::stream::checkpoint::FileState;
#[cfg(feature = "kube")]
use crate::stream::cluster_objects::{ClusterObjects, ListedContent, ListedPart, MatchedObjects};
use crate::stream::object_source::ObjectSource;
use crate::stream::ordered_work::WorkSender;
use crate::stream::read::UserInputs;

/// What is listed of a cluster.
#[derive(Clone, Copy)]
pub(crate) struct ListChoice<'a> {
    pub(crate) workloads: &'a ExpandArguments,
    /// Whether objects of kinds are listed that no policy matches.
    pub(crate) all_kinds: bool,
    #[cfg(feature = "kube")]
    pub(crate) list: &'a ListArguments,
}

/// The inputs of a comparison.
pub(crate) enum ImpactSources {
    Files(Box<UserInputs>),
    #[cfg(feature = "kube")]
    Cluster(Box<ClusterObjects>),
}

/// A part of it.
pub(crate) enum ImpactUnit {
    File(FileUnit),
    #[cfg(feature = "kube")]
    Listed(ListedPart),
}

impl From<FileUnit> for ImpactUnit {
    fn from(unit: FileUnit) -> Self {
        ImpactUnit::File(unit)
    }
}

impl ImpactSources {
    /// The files of a source, or the objects of a cluster that policies of either set may match. `stdin` is what standard input stands
    /// for.
    pub(crate) fn resolve(
        (source, stdin): (&ObjectSource, Option<&Path>),
        sets: [&ReadyPolicies; 2],
        choice: ListChoice<'_>,
        files: &FileSelection,
    ) -> Result<Self, CliError> {
        #[cfg(feature = "kube")]
        if let ObjectSource::Cluster(server) = source {
            let matched = MatchedObjects {
                sets: &sets.map(|policies| &policies.sets),
                operation: Operation::Create,
                by_others: &|served| choice.all_kinds || choice.workloads.always_expands(&served.kind),
            };
            let objects = ClusterObjects::new(server, &matched, choice.list)?;
            return Ok(ImpactSources::Cluster(Box::new(objects)));
        }
        let _ = (sets, choice.workloads, choice.all_kinds);
        let mut inputs = UserInputs::of_objects_or_logs(source.paths(), files)?;
        inputs.expect_rendered(stdin);
        Ok(ImpactSources::Files(Box::new(inputs)))
    }

    /// What its objects were made of; they have no other sources afterwards.
    pub(crate) fn take_rendered(&mut self) -> RenderedInputs {
        match self {
            ImpactSources::Files(inputs) => std::mem::take(&mut inputs.rendered),
            #[cfg(feature = "kube")]
            ImpactSources::Cluster(_) => RenderedInputs::default(),
        }
    }

    /// The files that are no objects of the API.
    pub(crate) fn not_evaluated(&self) -> &[SourceFile] {
        match self {
            ImpactSources::Files(inputs) => &inputs.sources,
            #[cfg(feature = "kube")]
            ImpactSources::Cluster(_) => &[],
        }
    }

    /// The files as they are now, or the collections.
    ///
    /// # Errors
    /// One of them can be read only once.
    pub(crate) fn states(&self) -> Result<Vec<FileState>, CliError> {
        match self {
            ImpactSources::Files(inputs) => inputs.states(),
            #[cfg(feature = "kube")]
            ImpactSources::Cluster(objects) => Ok(objects.states()),
        }
    }

    /// How much of it was read: nothing yet. A cluster is asked how much there is only if `asks`.
    pub(crate) fn share(&self, asks: bool) -> Arc<ReadShare> {
        #[cfg(not(feature = "kube"))]
        let _ = asks;
        match self {
            ImpactSources::Files(inputs) => ReadShare::new(inputs),
            #[cfg(feature = "kube")]
            ImpactSources::Cluster(objects) => ReadShare::of_total(asks.then(|| objects.count()).flatten()),
        }
    }

    /// Adds what it says of the cluster to what is known of that; a cluster was asked before. Gives notices of namespaces
    /// that it changes.
    pub(crate) fn survey(&self, limits: Limits, state: &mut ClusterState) -> Vec<InputNotice> {
        match self {
            // Of logs, whose objects came and went, nothing is known.
            ImpactSources::Files(inputs) => inputs.survey(limits, state, Some(is_log)),
            // A namespace that was created since is one of which only the name is known.
            #[cfg(feature = "kube")]
            ImpactSources::Cluster(_) => {
                state.view.objects.assume_namespaces();
                Vec::new()
            }
        }
    }

    /// Sends all parts in order, or those from a checkpoint.
    pub(crate) fn send<R>(&self, pieces: &LogPieces, sender: &WorkSender<ImpactUnit, R>) {
        match self {
            ImpactSources::Files(inputs) => pieces.send(inputs, sender),
            #[cfg(feature = "kube")]
            ImpactSources::Cluster(objects) => {
                let share = &pieces.share;
                share.read(pieces.from.as_ref().map_or(0, |from| from.done));
                objects.send(pieces.from.as_ref(), sender, |part| {
                    if let ListedContent::Page(page) = &part.content {
                        share.read(page.len() as u64);
                    }
                    ImpactUnit::Listed(part)
                });
            }
        }
    }
}
