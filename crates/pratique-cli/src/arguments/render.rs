//! Arguments about inputs that a program makes of sources.

use std::path::PathBuf;

use clap::Args;

/// How objects are made of sources, and where they come from.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RenderArguments {
    /// Make the objects of inputs that are charts or kustomizations with `helm template --include-crds`, or with `kustomize build` or
    /// `kubectl kustomize`, which have to be on the path. Findings point to the template, or to the file of a resource, and to its
    /// line as far as it can be found. No program runs on inputs that a project file names which is not trusted.
    // What a revision has is not rendered: all would be taken for new.
    #[arg(long, env = "PRATIQUE_RENDER", conflicts_with = "since")]
    pub(crate) render: bool,
    /// Values for the templates of charts, as with `helm template --values`. The flag can be repeated.
    #[arg(long, env = "PRATIQUE_HELM_VALUES", value_name = "FILE", requires = "render")]
    pub(crate) helm_values: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) stdin: StdinArguments,
}

/// Where objects of standard input come from.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct StdinArguments {
    /// What standard input stands for: a file, whose name findings have, or the directory of the chart or kustomization that was
    /// built. Without the flag, the comments of Helm (`# Source: …`) and the origin annotations of Kustomize name sources below the
    /// working directory.
    #[arg(long, env = "PRATIQUE_STDIN_FILENAME", value_name = "PATH")]
    pub(crate) stdin_filename: Option<PathBuf>,
}
