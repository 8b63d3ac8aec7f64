//! The objects of a cluster, kind by kind and page by page: of the kinds that policies match.

mod kinds;
mod page;

use std::sync::Arc;

use pratique_kube::{
    ApiServer, ClusterReader, ListOf, ListPage, ListPages, ListPosition, PageOptions, RateLimit, ReadError,
};
use pratique_types::GroupVersion;
use pratique_types::builtin::ServedResource;

use crate::arguments::ListArguments;
use crate::exit::CliError;
use crate::input::InputError;
use crate::snapshot::snapshot_error::SnapshotError;
use crate::stream::checkpoint::{FileState, InputMark, MarkPlace};
use crate::stream::ordered_work::{WorkClosed, WorkSender};
use kinds::ListedKinds;
pub(crate) use kinds::MatchedObjects;
pub(crate) use page::objects;

/// The objects of a cluster that policies may match.
#[derive(Clone)]
pub(crate) struct ClusterObjects {
    reader: ClusterReader,
    /// Where the cluster is.
    url: String,
    collections: Vec<ObjectCollection>,
    options: PageOptions,
}

/// A part of the objects.
pub(crate) struct ListedPart {
    /// The path of the collection.
    pub(crate) collection: Arc<str>,
    /// Where it begins; `None` if that is not where the rest of the objects begins.
    pub(crate) start: Option<InputMark>,
    pub(crate) content: ListedContent,
}

/// The content of a part of the objects.
pub(crate) enum ListedContent {
    Page(ListPage),
    /// The rest of the collection cannot be listed.
    Fault {
        fault: InputError,
        /// The API version and kind of what cannot be listed, if these are known.
        kind: Option<(String, String)>,
    },
}

/// The objects of a kind, or of a server behind the cluster's.
#[derive(Clone)]
struct ObjectCollection {
    /// Such as `/apis/apps/v1/deployments`.
    path: Arc<str>,
    content: ListedCollection,
}

#[derive(Clone)]
enum ListedCollection {
    Kind(ServedResource),
    /// The resources of the version of a group are not known.
    Unknown {
        why: String,
    },
}

/// Why a collection ends before all of it was given.
enum EndedCollection {
    /// The receiver takes no more.
    Closed,
    /// The rest cannot be listed.
    Fault(Box<ListedContent>),
}

impl EndedCollection {
    fn fault(content: ListedContent) -> Self {
        EndedCollection::Fault(Box::new(content))
    }
}

impl ClusterObjects {
    /// The objects of the kinds that are matched.
    ///
    /// # Errors
    /// The resources that the cluster serves are not known.
    pub(crate) fn new(
        server: &ApiServer,
        matched: &MatchedObjects<'_>,
        arguments: &ListArguments,
    ) -> Result<Self, CliError> {
        let (reader, url) = (server.reader(), server.url().trim_end_matches('/').to_owned());
        let failed = |error: ReadError| {
            CliError::Snapshot(SnapshotError::Cluster {
                url: url.clone(),
                why: error.to_string(),
            })
        };
        let discovered = reader.discovered().map_err(failed)?;
        let kinds = ListedKinds::new(&discovered, matched);
        let listed = kinds.listed.into_iter().map(|served| {
            Ok(ObjectCollection {
                path: of_kind(&served).path().map_err(failed)?.into(),
                content: ListedCollection::Kind(served),
            })
        });
        let unknown = kinds.unavailable.into_iter().map(|(version, why)| {
            Ok(ObjectCollection {
                path: path_of(&version).into(),
                content: ListedCollection::Unknown { why },
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
        })
    }

    /// How many objects there are, as far as the cluster says it; `None` if it does not say it of any.
    pub(crate) fn count(&self) -> Option<u64> {
        let options = PageOptions {
            chunk_size: 1,
            ..self.options.clone()
        };
        let counts = self.collections.iter().filter_map(|collection| {
            let ListedCollection::Kind(served) = &collection.content else {
                return None;
            };
            let mut pages = self.pages(served, ListPosition::default(), &options).ok()?;
            // Collections that cannot be listed are reported when they are evaluated.
            let first = pages.next_page().ok()?;
            Some(first.map_or(0, |page| page.left().unwrap_or_default().saturating_add(1)))
        });
        counts.reduce(u64::saturating_add)
    }

    /// The collections; of their content nothing is known.
    pub(crate) fn states(&self) -> Vec<FileState> {
        let paths = self.collections.iter();
        let paths = paths.map(|collection| format!("{}{}", self.url, collection.path));
        paths.map(FileState::of_collection).collect()
    }

    /// Sends all pages in order: all, or those from a mark.
    pub(crate) fn send<U, R>(
        &self,
        from: Option<&InputMark>,
        sender: &WorkSender<U, R>,
        unit: impl Fn(ListedPart) -> U,
    ) {
        let (first, mut done) = from.map_or((0, 0), |mark| (mark.source, mark.done));
        for (index, collection) in self.collections.iter().enumerate().skip(first) {
            let begin = match from {
                Some(InputMark {
                    source,
                    at: MarkPlace::List(position),
                    ..
                }) if *source == index => position.clone(),
                _ => ListPosition::default(),
            };
            let send = |start, content| {
                sender.add(unit(ListedPart {
                    collection: Arc::clone(&collection.path),
                    start,
                    content,
                }))
            };
            let result = self.send_collection(collection, begin, |page| {
                let mark = InputMark {
                    source: index,
                    at: MarkPlace::List(page.position().clone()),
                    done,
                };
                done = done.saturating_add(page.len() as u64);
                send(Some(mark), ListedContent::Page(page))
            });
            let ended = match result {
                Ok(()) => Ok(()),
                Err(EndedCollection::Closed) => Err(WorkClosed),
                Err(EndedCollection::Fault(content)) => send(None, *content),
            };
            if ended.is_err() {
                return;
            }
        }
    }

    /// Sends the pages of a collection.
    fn send_collection(
        &self,
        collection: &ObjectCollection,
        begin: ListPosition,
        mut send: impl FnMut(ListPage) -> Result<(), WorkClosed>,
    ) -> Result<(), EndedCollection> {
        let served = match &collection.content {
            ListedCollection::Kind(served) => served,
            ListedCollection::Unknown { why } => {
                return Err(EndedCollection::fault(unlisted(collection, why, None)));
            }
        };
        let failed = |error: ReadError| {
            EndedCollection::fault(if error.is_of_connection() {
                // Nothing else can be listed either. A checkpoint stays, from which the run can go on.
                ListedContent::Fault {
                    fault: InputError::Cli(CliError::Snapshot(SnapshotError::Cluster {
                        url: self.url.clone(),
                        why: error.to_string(),
                    })),
                    kind: None,
                }
            } else {
                unlisted(collection, &error.to_string(), Some(served))
            })
        };
        let mut pages = self.pages(served, begin, &self.options).map_err(failed)?;
        while let Some(page) = pages.next_page().map_err(failed)? {
            send(page).map_err(|WorkClosed| EndedCollection::Closed)?;
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

/// The error that the objects of a collection, or the rest of them, are not evaluated.
fn unlisted(collection: &ObjectCollection, why: &str, served: Option<&ServedResource>) -> ListedContent {
    ListedContent::Fault {
        fault: InputError::Faulty {
            place: collection.path.to_string(),
            why: format!("its objects cannot be listed, and are not evaluated: {why}"),
        },
        kind: served.map(|served| (served.kind.api_version(), served.kind.kind.clone())),
    }
}
