//! `cargo xtask deploy`: renders what is in `deploy/`, and looks whether it holds together.
//!
//! What is written there is looked at by the tests as well, as far as that goes without the programs that render it.
//! Kustomize and Helm are built from their published Go modules; without Go there is nothing to render with, which is
//! said and is no fault.
//!
//! `helm lint --strict` is one of the steps. `kubeconform`, a Go module as well, is not: it needs schemas from the network, and would
//! take the place of the dozen lines of `shape` that decode as an API server does, but not of the fields of kinds that others define.
//! `promtool`, of the module of Prometheus, says whether a query parses, and not whether a server has the metric and its labels, which
//! is what `alerts` looks for.

mod alerts;
mod dashboard;
mod metrics;
mod objects;
mod policies;
mod registration;
mod render;
mod rules;
mod shape;
mod values;
mod written_objects;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pratique_harness::{ToolError, entries, workspace};

pub use dashboard::dashboard;
pub use objects::{RenderedObject, items, part, read, text_at};
pub use values::misfits;
pub use written_objects::written;

pub use render::{RELEASED_INTO, RenderTools};

/// Renders what is deployed with Kustomize and Helm, and looks whether it holds together.
#[derive(clap::Parser, Debug)]
#[command(bin_name = "cargo xtask deploy")]
pub struct DeployArguments {
    /// A helm to render the chart with, instead of one that is built.
    #[arg(long)]
    helm: Option<PathBuf>,
    /// A kustomize to render kustomizations with, instead of one that is built.
    #[arg(long)]
    kustomize: Option<PathBuf>,
    /// Fail where there is nothing to render with, instead of saying so.
    #[arg(long)]
    required: bool,
}

/// The state of a set of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderState {
    /// The content of files, without patches.
    Written,
    /// The rendered objects.
    Rendered,
}

/// The version that the chart is packed with, as one that stands in no file.
const RELEASE: &str = "9.8.7";

/// The faults of objects that are applied together.
#[must_use]
pub fn faults(objects: &[RenderedObject], state: RenderState) -> Vec<String> {
    let mut faults = Vec::new();
    for object in objects {
        let shape_faults = shape::faults(object)
            .into_iter()
            .chain(policies::faults(object))
            .chain(registration::faults(object))
            .chain(alerts::faults(object));
        faults.extend(shape_faults.map(|fault| format!("{object}: {fault}")));
    }
    faults.extend(rules::faults(objects, state).unwrap_or_else(|error| vec![error.to_string()]));
    faults
}

/// Renders everything and prints what is wrong.
pub fn run(arguments: &DeployArguments) -> ExitCode {
    match check_all(arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn check_all(arguments: &DeployArguments) -> Result<bool, ToolError> {
    let tools = match render::RenderTools::find(arguments.helm.as_deref(), arguments.kustomize.as_deref()) {
        Ok(tools) => tools,
        Err(render::AbsentTools(why)) => {
            println!("nothing was rendered: {why}");
            return Ok(!arguments.required);
        }
    };
    let deploy = workspace::root().join("deploy");
    let mut whole = true;
    for directory in ["kustomize/base", "kustomize/example", "kustomize/scan"] {
        let rendered = tools.kustomize(&deploy.join(directory))?;
        whole &= report(directory, &rendered)?;
    }
    let chart = deploy.join("helm/pratique");
    let packed = tools.package(&chart, RELEASE, &workspace::target().join("deploy"))?;
    for values in tried(&chart)? {
        let rendered = tools.helm(&chart, &values)?;
        let name = values
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        whole &= report(&format!("helm/pratique with {name}"), &rendered)?;
        let released = tools.helm(&packed, &values)?;
        let name = format!("helm/pratique as an archive, with {name}");
        whole &= report(&name, &released)?;
        if !released.contains(&format!("app.kubernetes.io/version: \"{RELEASE}\"")) {
            println!("{name}: the version is not that of the release");
            whole = false;
        }
    }
    Ok(whole)
}

/// The files of values with which the chart is rendered.
pub fn tried(chart: &Path) -> Result<Vec<PathBuf>, ToolError> {
    entries(&chart.join("ci"))
}

fn report(name: &str, rendered: &str) -> Result<bool, ToolError> {
    let objects = read(name, rendered)?;
    let faults = faults(&objects, RenderState::Rendered);
    println!("{name}: {} objects, {} faults", objects.len(), faults.len());
    faults.iter().for_each(|fault| println!("  {fault}"));
    Ok(faults.is_empty())
}
