//! The cluster of the server: a real one, files of objects, both, or none.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use pratique::LiveBuilder;
use pratique::api_objects::{CustomDefaults, ObjectDefaults};
#[cfg(feature = "kube")]
use pratique::cluster::ClusterOverlay;
use pratique::cluster::{AssumedNamespaces, SharedObjects, WithState};
use pratique::plugins::{StateKind, StateObjects};
use pratique_json::{Value, text_at};
#[cfg(feature = "kube")]
use pratique_kube::{ApiServer, FollowedKinds};
use pratique_manifest::path_text;
use pratique_request::kind_of;
use pratique_review::SourceFiles;
#[cfg(feature = "kube")]
use pratique_schema::FeatureGates;
use pratique_schema::Release;
use pratique_server::{FollowedSource, KnownState};
use pratique_state::cluster::{cluster, is_namespace};

use super::admission::{LoadFailure, invalid, log_passed_over};
use super::followed_server::FollowedServer;
#[cfg(feature = "kube")]
use super::registration;
use super::undefined_resources::UndefinedKinds;
#[cfg(feature = "kube")]
use crate::arguments::FollowableKind;
use crate::arguments::ServeArguments;
use crate::exit::CliError;
use crate::input::sources::{report_sources, without_sources};
use crate::input::{self, FileSelection, InputError, InputObject, ParsedObjects};
use crate::output::problems;
use crate::output::text::text;

/// The known state of the cluster.
#[derive(Default)]
pub(super) struct ClusterContext {
    /// Which parts of the cluster are known.
    pub(super) cluster: KnownState,
    /// The admission configuration of the cluster, if it is followed.
    pub(super) followed: Option<FollowedSource>,
    /// A namespace that there is, where not every one is taken to exist.
    pub(super) sample_namespace: Option<String>,
    #[cfg(feature = "kube")]
    server: Option<ApiServer>,
}

impl ClusterContext {
    /// Problems for which state is not known yet.
    #[cfg(feature = "kube")]
    pub(super) fn problems(&self) -> impl Fn() -> Vec<String> + Send + Sync + 'static {
        let server = self.server.clone();
        let follows = self.followed.is_some();
        move || {
            let Some(server) = &server else {
                return Vec::new();
            };
            let mut problems = server.cluster().problems();
            if follows {
                problems.extend(server.source().problems());
            }
            problems
        }
    }

    /// Problems for which state is not known yet.
    #[cfg(not(feature = "kube"))]
    pub(super) fn problems(&self) -> impl Fn() -> Vec<String> + Send + Sync + 'static {
        Vec::new
    }
}

/// Configures the cluster that the arguments name.
pub(super) fn configure(
    arguments: &ServeArguments,
    live: LiveBuilder,
    server: FollowedServer,
) -> Result<(LiveBuilder, ClusterContext), LoadFailure> {
    let gates = server.gates;
    let files = FileSelection::new(&arguments.policies.paths.files.exclude)?;
    let objects = objects(&arguments.cluster.cluster_objects, &files, gates.release())?;
    log_passed_over("--cluster-objects", &files);
    #[cfg(feature = "kube")]
    if let Some(server) = server.api {
        return Ok(configure_real(arguments, live, (server, gates), objects));
    }
    let cluster = KnownState {
        objects: objects.is_some(),
        authorizer: false,
    };
    let sample_namespace = objects.as_ref().and_then(|objects| objects.namespace.clone());
    let live = match objects {
        Some(objects) => {
            let shared = SharedObjects::new(objects.cluster.with_release(gates.release()));
            let defaults = ObjectDefaults::new(objects.defaults).with_gates(gates);
            let model = UndefinedKinds::default().model(Arc::new(defaults), Arc::default());
            let live = live.object_models(move || model.clone());
            live.cluster(WithState::new(shared, objects.state))
        }
        None => live.cluster(AssumedNamespaces::of_release(gates.release())),
    };
    let cluster = ClusterContext {
        cluster,
        sample_namespace,
        ..ClusterContext::default()
    };
    Ok((live, cluster))
}

#[cfg(feature = "kube")]
fn configure_real(
    arguments: &ServeArguments,
    live: LiveBuilder,
    (server, gates): (ApiServer, FeatureGates),
    objects: Option<FileObjects>,
) -> (LiveBuilder, ClusterContext) {
    tracing::info!(server = server.url(), "Following the cluster");
    let live = live.decider(server.reviewer());
    // What is asked of the cluster first is kept: it has to be of the server's release.
    let api = server.cluster_of_release(gates.release());
    let undefined = UndefinedKinds::default();
    let (custom, files) = match objects {
        Some(objects) => (objects.defaults, Some((objects.cluster, objects.state))),
        None => (Vec::new(), None),
    };
    let of_files = Arc::new(ObjectDefaults::new(custom).with_gates(gates));
    let live = live.object_models(move || {
        let of_cluster = api.object_defaults();
        // A cluster defaults built-in kinds as the newest release does, unless the flags say that it is of another.
        let of_cluster = if gates == FeatureGates::default() {
            of_cluster
        } else {
            Arc::new(ObjectDefaults::clone(&of_cluster).with_gates(gates))
        };
        undefined.model(of_cluster, of_files.clone())
    });
    // Before the source: that waits for what the cluster knows of params.
    let live = match files {
        Some((objects, state)) => {
            let objects = objects.with_release(gates.release());
            live.cluster(ClusterOverlay::new(server.cluster(), objects).with_state(state))
        }
        None => live.cluster(server.cluster()),
    };
    let follow = &arguments.cluster.follow;
    let follow = FollowedKinds {
        policies: follow.contains(&FollowableKind::Policies),
        webhooks: follow.contains(&FollowableKind::Webhooks),
    };
    let followed = arguments.cluster.follows().then(|| {
        FollowedSource::new(
            server.source_of(follow),
            &format!("cluster {}", server.url().trim_end_matches('/')),
            registration::endpoint(&arguments.registration),
        )
    });
    let live = match &followed {
        Some(followed) => live.source(followed.clone()),
        None => live,
    };
    let cluster = ClusterContext {
        cluster: KnownState::ALL,
        followed,
        sample_namespace: None,
        server: Some(server),
    };
    (live, cluster)
}

/// The objects of files, as policies see them, as plugins do, and what of them defaults others.
struct FileObjects {
    cluster: pratique::Objects,
    state: StateObjects,
    defaults: Vec<Arc<CustomDefaults>>,
    /// A namespace that is among them: `default`, or else the first.
    namespace: Option<String>,
}

impl FileObjects {
    /// The objects are all that there are, but for pods where there is none among them. Every cluster has namespaces: where none
    /// is among them, any may exist.
    fn new(all: &[Value<'static>]) -> Result<Self, LoadFailure> {
        let (mut state, mut defaults) = (StateObjects::default(), Vec::new());
        state.complete(DEFINITION.group, DEFINITION.kind);
        for object in all {
            let Ok(kind) = kind_of(object) else { continue };
            let is = |of: StateKind| of.group == kind.group && of.kind == kind.kind;
            if is(DEFINITION) {
                defaults.extend(
                    CustomDefaults::read(object)
                        .map_err(unusable_definition)?
                        .map(Arc::new),
                );
            }
            if is(StateKind::POD) {
                state.complete(&kind.group, &kind.kind);
            }
            if is(DEFINITION) || is(StateKind::POD) {
                // What has no name is no object of a cluster.
                drop(state.insert(object.clone()));
            }
        }
        let namespaces = all.iter().filter(|object| is_namespace(object));
        let names: Vec<&str> = namespaces
            .map(|object| text_at(object, &["metadata", "name"]))
            .collect();
        let usual = names.iter().find(|name| **name == "default");
        let mut known = cluster(all, []);
        if names.is_empty() {
            tracing::warn!(
                "--cluster-objects have no Namespace: every namespace is taken to exist, and what reads more of one than its \
                 name is undecided, so that failure policies decide"
            );
            known.assume_namespaces();
        }
        Ok(FileObjects {
            namespace: usual.or(names.first()).map(|name| (*name).to_owned()),
            cluster: known,
            state,
            defaults,
        })
    }
}

const DEFINITION: StateKind = StateKind::CUSTOM_RESOURCE_DEFINITION;

fn unusable_definition(error: impl Display) -> LoadFailure {
    LoadFailure::Invalid(text!("error: {}\n", error.to_string()))
}

/// Reads the objects of files; `None` if there are none.
fn objects(
    paths: &[String],
    selection: &FileSelection,
    release: &'static Release,
) -> Result<Option<FileObjects>, LoadFailure> {
    if paths.is_empty() {
        return Ok(None);
    }
    let mut all = Vec::new();
    for path in paths {
        let (files, sources) = without_sources(
            selection.files(Path::new(path))?,
            &mut SourceFiles::default(),
            selection,
        );
        report_sources(&sources);
        for file in files {
            let read = input::read(&file, MEBIBYTES, release).and_then(ParsedObjects::whole);
            let inputs = read.map_err(|error| unusable(&path_text(&file), error))?;
            for input in inputs {
                all.push(may_exist(input)?);
            }
        }
    }
    FileObjects::new(&all).map(Some)
}

/// Checks that a server can decode an object.
fn may_exist(input: InputObject<'static>) -> Result<Value<'static>, LoadFailure> {
    match input.received {
        Ok(_) => Ok(input.object),
        Err(why) => Err(LoadFailure::Invalid(text!(
            "error: {}: {}\n",
            problems::place(&input.location),
            why
        ))),
    }
}

/// The maximum size of a file of objects, in MiB.
const MEBIBYTES: u32 = 256;

fn unusable(path: &str, error: InputError) -> LoadFailure {
    match error {
        InputError::Cli(error) => error.into(),
        InputError::TooLarge { mebibytes, .. } => {
            LoadFailure::Invalid(text!("error: {}: larger than {} MiB\n", path, mebibytes))
        }
        InputError::Unread { path, error } => CliError::Read { path, error }.into(),
        InputError::Faulty { place, why } => LoadFailure::Invalid(text!("error: {}: {}\n", place, why)),
        InputError::Invalid { errors, .. } => invalid(&errors),
    }
}
