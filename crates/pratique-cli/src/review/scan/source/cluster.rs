//! The objects of a cluster, kind by kind and page by page.

use std::sync::Arc;

use pratique_kube::{
    ApiServer, ClusterReader, ListOf, ListPages, ListPosition, Page, PageOptions, RateLimit, ReadError,
};
use pratique_report::Shard;
use pratique_types::builtin::ServedResource;
use pratique_types::{GroupVersion, Operation};

use super::kinds::Kinds;
use super::{Content, Unit};
use crate::arguments::ListArguments;
use crate::exit::CliError;
use crate::input::InputError;
use crate::review::checkpoint::{At, FileState, Mark};
use crate::review::ordered::{Closed, Intake};
use crate::review::replay::engine::Policies;
use crate::review::state::ClusterState;

/// The objects of a cluster that policies may match.
#[derive(Clone)]
pub(in crate::review::scan) struct ClusterObjects {
    reader: ClusterReader,
    /// Where the cluster is.
    url: String,
    collections: Vec<Collection>,
    options: PageOptions,
    /// The part of them that is scanned.
    pub(super) shard: Shard,
}

/// The objects of a kind, or of a server behind the cluster's.
#[derive(Clone)]
struct Collection {
    /// Such as `/apis/apps/v1/deployments`.
    path: Arc<str>,
    content: Listed,
}

#[derive(Clone)]
enum Listed {
    Kind(ServedResource),
    /// It is not known what the version of a group has.
    Unknown {
        why: String,
    },
}

/// Why a collection ends before all of it was given.
enum Ended {
    /// Nothing more is taken.
    Closed,
    /// The rest cannot be listed.
    Fault(Box<Content>),
}

impl Ended {
    fn fault(content: Content) -> Self {
        Ended::Fault(Box::new(content))
    }
}

impl ClusterObjects {
    /// The objects that policies may match in requests of an operation.
    ///
    /// # Errors
    /// It is not known what the cluster serves.
    pub(in crate::review::scan) fn of(
        server: &ApiServer,
        policies: &Policies,
        operation: Operation,
        arguments: &ListArguments,
        shard: Shard,
    ) -> Result<Self, CliError> {
        let (reader, url) = (server.reader(), server.url().trim_end_matches('/').to_owned());
        let failed = |error: ReadError| CliError::Cluster {
            url: url.clone(),
            why: error.to_string(),
        };
        let discovered = reader.discovered().map_err(failed)?;
        let kinds = Kinds::of(&discovered, policies, operation);
        let listed = kinds.listed.into_iter().map(|served| {
            Ok(Collection {
                path: of_kind(&served).path().map_err(failed)?.into(),
                content: Listed::Kind(served),
            })
        });
        let unknown = kinds.unavailable.into_iter().map(|(version, why)| {
            Ok(Collection {
                path: path_of(&version).into(),
                content: Listed::Unknown { why },
            })
        });
        let collections = listed.chain(unknown).collect::<Result<_, CliError>>()?;
        Ok(ClusterObjects {
            reader,
            collections,
            url,
            options: PageOptions {
                chunk_size: arguments.chunk_size,
                rate: Some(RateLimit::new(arguments.kube_api_qps, arguments.kube_api_burst)),
                timeout: arguments.request_timeout,
                patience: arguments.request_timeout.saturating_mul(2),
                ..PageOptions::default()
            },
            shard,
        })
    }

    /// How many objects there are, as far as the cluster says it; `None` if it does not say it of any.
    pub(super) fn count(&self) -> Option<u64> {
        let options = PageOptions {
            chunk_size: 1,
            ..self.options.clone()
        };
        let counts = self.collections.iter().filter_map(|collection| {
            let Listed::Kind(served) = &collection.content else {
                return None;
            };
            let mut pages = self.pages(served, ListPosition::default(), &options).ok()?;
            // What cannot be listed is told when it is scanned.
            let first = pages.next_page().ok()?;
            Some(first.map_or(0, |page| page.left().unwrap_or_default().saturating_add(1)))
        });
        counts.reduce(u64::saturating_add)
    }

    /// The collections; of their content nothing is known.
    pub(super) fn states(&self) -> Vec<FileState> {
        let paths = self.collections.iter();
        let paths = paths.map(|collection| format!("{}{}", self.url, collection.path));
        paths.map(FileState::of_collection).collect()
    }

    /// Gives all pages in order: all, or those from a mark.
    pub(super) fn give<R>(self, state: &Arc<ClusterState>, from: Option<Mark>, intake: &Intake<Unit, R>) {
        let first = from.as_ref().map_or(0, |mark| mark.source);
        let mut done = from.as_ref().map_or(0, |mark| mark.done);
        for (index, collection) in self.collections.iter().enumerate().skip(first) {
            let begin = match &from {
                Some(Mark {
                    source,
                    at: At::List(position),
                    ..
                }) if *source == index => position.clone(),
                _ => ListPosition::default(),
            };
            let give = |start, content| {
                intake.add(Unit {
                    file: Arc::clone(&collection.path),
                    start,
                    content,
                    is_shared: self.shard.of > 1,
                    state: Arc::clone(state),
                })
            };
            let given = self.give_collection(collection, begin, |page| {
                let mark = Mark {
                    source: index,
                    at: At::List(page.position().clone()),
                    done,
                };
                done = done.saturating_add(page.len() as u64);
                give(Some(mark), Content::Page(page))
            });
            let ended = match given {
                Ok(()) => Ok(()),
                Err(Ended::Closed) => Err(Closed),
                Err(Ended::Fault(content)) => give(None, *content),
            };
            if ended.is_err() {
                return;
            }
        }
    }

    /// Gives the pages of a collection.
    fn give_collection(
        &self,
        collection: &Collection,
        begin: ListPosition,
        mut give: impl FnMut(Page) -> Result<(), Closed>,
    ) -> Result<(), Ended> {
        let served = match &collection.content {
            Listed::Kind(served) => served,
            Listed::Unknown { why } => return Err(Ended::fault(unlisted(collection, why, None))),
        };
        let failed = |error: ReadError| {
            Ended::fault(match error.is_of_connection() {
                // Nothing else can be listed either. A checkpoint stays, from which the scan can go on.
                true => Content::fault(InputError::Cli(CliError::Cluster {
                    url: self.url.clone(),
                    why: error.to_string(),
                })),
                false => unlisted(collection, &error.to_string(), Some(served)),
            })
        };
        let mut pages = self.pages(served, begin, &self.options).map_err(failed)?;
        while let Some(page) = pages.next_page().map_err(failed)? {
            give(page).map_err(|Closed| Ended::Closed)?;
        }
        Ok(())
    }

    fn pages(
        &self,
        served: &ServedResource,
        from: ListPosition,
        options: &PageOptions,
    ) -> Result<ListPages, ReadError> {
        self.reader.pages(of_kind(served), from, options.clone())
    }
}

fn of_kind(served: &ServedResource) -> ListOf<'_> {
    ListOf {
        resource: &served.resource,
        kind: &served.kind,
        namespace: None,
    }
}

fn path_of(version: &GroupVersion) -> String {
    match version.group.as_str() {
        "" => format!("/api/{}", version.version),
        group => format!("/apis/{group}/{}", version.version),
    }
}

/// Says that the objects of a collection, or the rest of them, are not evaluated.
fn unlisted(collection: &Collection, why: &str, served: Option<&ServedResource>) -> Content {
    Content::Fault {
        fault: InputError::Faulty {
            place: collection.path.to_string(),
            why: format!("its objects cannot be listed, and are not evaluated: {why}"),
        },
        kind: served.map(|served| (served.kind.api_version(), served.kind.kind.clone())),
    }
}
