//! Connections to an API server.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use kube::config::{InferConfigError, KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use pratique::Release;

use super::background::{BackgroundRuntime, wait};
use super::bounded_client::{bounded, bounded_lists};
use super::cluster::ApiCluster;
use super::configuration_kinds::FollowedKinds;
use super::exec::ExecPlugin;
use super::failure;
use super::files;
use super::read::ClusterReader;
use super::renewed_client;
use super::review::SubjectAccessReviewer;
use super::source::ApiSource;
use super::wanted_params::WantedKinds;
use super::write::ClusterWriter;

/// An API server. A copy is the same; background tasks end when the last copy of it and of the views from it is
/// dropped.
#[derive(Clone, Debug)]
pub struct ApiServer(Arc<ServerInner>);

struct ServerInner {
    client: Client,
    /// The client of objects that are kept.
    followed: Client,
    /// Its URL; empty if only the client has it.
    url: String,
    wanted: Arc<WantedKinds>,
    source: OnceLock<ApiSource>,
    cluster: OnceLock<ApiCluster>,
    reviewer: OnceLock<SubjectAccessReviewer>,
    handle: tokio::runtime::Handle,
    background: Arc<BackgroundRuntime>,
}

/// Why there is no client of an API server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// There is neither a usable kubeconfig file nor the environment that pods have.
    #[error("no cluster is configured: {0}")]
    Infer(Box<InferConfigError>),
    /// A kubeconfig file is of no use.
    #[error("kubeconfig {path:?}: {error}")]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// The error.
        error: Box<KubeconfigError>,
    },
    /// A file that a kubeconfig names is none that is read.
    #[error("cannot read {}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A kubeconfig file that may run nothing has a user whose credentials a command gives.
    #[error(
        "kubeconfig {path:?}: the credentials of its user come from a command ({by}), which is not run for a kubeconfig that \
         an untrusted file names"
    )]
    Command {
        /// The file.
        path: PathBuf,
        /// What names the command: `exec` or `auth-provider`.
        by: &'static str,
    },
    /// The configuration is invalid: certificates, or credentials.
    #[error("cannot connect to {url}: {reason}")]
    Client {
        /// Where the API server is.
        url: String,
        /// The reason.
        reason: String,
    },
    /// The system gives no threads.
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}

impl ApiServer {
    /// The API server that the environment names: by the kubeconfig files of `KUBECONFIG`, by `~/.kube/config`, or, in a
    /// pod, by its service account.
    ///
    /// # Errors
    /// None is named, or its configuration is invalid. Whether it answers shows later.
    pub fn infer() -> Result<Self, ConnectError> {
        files::check_default_kubeconfigs()?;
        let background = BackgroundRuntime::start()?;
        let config = wait(background.handle()?, Config::infer())?;
        let config = config.map_err(|error| ConnectError::Infer(Box::new(error)))?;
        Self::connect(background, config)
    }

    /// The API server that the kubeconfig files of `KUBECONFIG`, or `~/.kube/config`, name by a context.
    ///
    /// # Errors
    /// The files cannot be used.
    pub fn context(context: &str) -> Result<Self, ConnectError> {
        let wrong = |error| ConnectError::Kubeconfig {
            path: PathBuf::from(std::env::var_os("KUBECONFIG").unwrap_or_else(|| "~/.kube/config".into())),
            error: Box::new(error),
        };
        files::check_default_kubeconfigs()?;
        let file = Kubeconfig::read().map_err(wrong)?;
        let (background, config) = Self::configuration(file, Some(context), wrong)?;
        Self::connect(background, config)
    }

    /// The API server that a kubeconfig file names by its current context, or by the one given.
    ///
    /// # Errors
    /// The file cannot be used.
    pub fn kubeconfig(path: impl AsRef<Path>, context: Option<&str>) -> Result<Self, ConnectError> {
        let (background, config) = Self::configuration_at(path.as_ref(), context)?;
        Self::connect(background, config)
    }

    /// The same of a kubeconfig file that somebody else names: no command in it is run.
    ///
    /// # Errors
    /// The file cannot be used, or a command gives the credentials of its user.
    pub fn kubeconfig_without_commands(
        path: impl AsRef<Path>,
        context: Option<&str>,
    ) -> Result<Self, ConnectError> {
        let path = path.as_ref();
        let (background, config) = Self::configuration_at(path, context)?;
        let user = &config.auth_info;
        // The client runs the `cmd-path` of an auth provider as well.
        let by = match (&user.exec, &user.auth_provider) {
            (Some(_), _) => "exec",
            (None, Some(_)) => "auth-provider",
            (None, None) => return Self::connect(background, config),
        };
        Err(ConnectError::Command {
            path: path.to_owned(),
            by,
        })
    }

    fn configuration_at(
        path: &Path,
        context: Option<&str>,
    ) -> Result<(BackgroundRuntime, Config), ConnectError> {
        let wrong = |error| ConnectError::Kubeconfig {
            path: path.to_owned(),
            error: Box::new(error),
        };
        files::check_kubeconfig(path)?;
        let file = Kubeconfig::read_from(path).map_err(wrong)?;
        Self::configuration(file, context, wrong)
    }

    /// The configuration of a context of a kubeconfig, by default of its current one.
    fn configuration(
        file: Kubeconfig,
        context: Option<&str>,
        wrong: impl FnOnce(KubeconfigError) -> ConnectError,
    ) -> Result<(BackgroundRuntime, Config), ConnectError> {
        files::check_roots(&file)?;
        let options = KubeConfigOptions {
            context: context.map(str::to_owned),
            ..KubeConfigOptions::default()
        };
        let background = BackgroundRuntime::start()?;
        let config = async move { Config::from_custom_kubeconfig(file, &options).await };
        let config = wait(background.handle()?, config)?.map_err(wrong)?;
        Ok((background, config))
    }

    /// The API server of a configuration.
    ///
    /// # Errors
    /// It cannot be used.
    pub fn configured(config: Config) -> Result<Self, ConnectError> {
        Self::connect(BackgroundRuntime::start()?, config)
    }

    /// The API server of a client. The runtime that the client was made in must outlive it.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn of_client(client: Client) -> Result<Self, ConnectError> {
        Ok(Self::new(BackgroundRuntime::start()?, client, String::new())?)
    }

    fn connect(background: BackgroundRuntime, config: Config) -> Result<Self, ConnectError> {
        files::check_credentials(&config)?;
        let url = config.cluster_url.to_string();
        let failed = |reason| ConnectError::Client {
            url: url.clone(),
            reason,
        };
        // The client uses the provider that is installed, and panics if there is none and several could be.
        pratique_crypto::install().map_err(|error| failed(error.to_string()))?;
        let plugin = ExecPlugin::from_config(&config).map_err(|error| failed(error.to_string()))?;
        let client = async move {
            match plugin {
                Some(plugin) => renewed_client::client(config, plugin).await,
                None => Ok(Client::try_from(config)?),
            }
        };
        let client =
            wait(background.handle()?, client)?.map_err(|error| failed(failure::cause_text(&*error)))?;
        Ok(Self::new(background, client, url)?)
    }

    fn new(background: BackgroundRuntime, client: Client, url: String) -> io::Result<Self> {
        Ok(ApiServer(Arc::new(ServerInner {
            followed: bounded_lists(client.clone(), background.handle()?),
            client: bounded(client, background.handle()?),
            url,
            wanted: Arc::new(WantedKinds::new()),
            source: OnceLock::new(),
            cluster: OnceLock::new(),
            reviewer: OnceLock::new(),
            handle: background.handle()?.clone(),
            background: Arc::new(background),
        })))
    }

    /// The URL of the API server; empty if only its client has it.
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// Its configuration of admission, which is watched from now on.
    pub fn source(&self) -> ApiSource {
        self.source_of(FollowedKinds::ALL)
    }

    /// [`source`](Self::source) with some kinds only. There is one source, with the kinds of the first call.
    pub fn source_of(&self, follow: FollowedKinds) -> ApiSource {
        let inner = &self.0;
        let start = || {
            ApiSource::start(
                follow,
                &inner.followed,
                &inner.handle,
                &inner.wanted,
                &inner.background,
            )
        };
        inner.source.get_or_init(start).clone()
    }

    /// Its namespaces, params and definitions, which are watched from now on. If this is called before
    /// [`source`](Self::source), the cluster has the params of the first policies before these take effect.
    pub fn cluster(&self) -> ApiCluster {
        self.cluster_of_release(Release::latest())
    }

    /// The same where it is a server of a release; unless set, it is taken for one of the latest. The first call says so for
    /// the ones that follow.
    pub fn cluster_of_release(&self, release: &'static Release) -> ApiCluster {
        let inner = &self.0;
        let start = || {
            ApiCluster::start(
                release,
                &inner.followed,
                &inner.handle,
                &inner.wanted,
                &inner.background,
            )
        };
        inner.cluster.get_or_init(start).clone()
    }

    /// Reads it once, without watching it.
    pub fn reader(&self) -> ClusterReader {
        let inner = &self.0;
        ClusterReader::new(inner.client.clone(), &inner.handle, &inner.background)
    }

    /// Writes objects to it.
    pub fn writer(&self) -> ClusterWriter {
        let inner = &self.0;
        ClusterWriter::new(inner.client.clone(), &inner.handle, &inner.background)
    }

    /// Its answers to authorization checks.
    pub fn reviewer(&self) -> SubjectAccessReviewer {
        let inner = &self.0;
        let new =
            || SubjectAccessReviewer::new(inner.client.clone(), &inner.url, &inner.handle, &inner.background);
        inner.reviewer.get_or_init(new).clone()
    }
}

impl std::fmt::Debug for ServerInner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ServerInner")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}
