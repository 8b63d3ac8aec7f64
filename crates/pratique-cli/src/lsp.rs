//! `pratique lsp`: serves editors.

use std::path::Path;
use std::sync::Arc;

use pratique::expressions::{Cache, Expressions};
use pratique_lsp::{FileKind, Findings, LspError};
use pratique_manifest::ManifestFile;
use pratique_schema::FeatureGates;

use crate::arguments::LspArguments;
use crate::exit::{CliError, ExitStatus};
use crate::{check, memory, project};

/// Serves one editor on standard input and output until it ends the session.
pub(crate) fn run(arguments: &LspArguments) -> Result<ExitStatus, CliError> {
    let arguments = arguments.gates.of_server(None)?;
    let gates = arguments.feature_gates;
    let (connection, threads) = pratique_lsp::stdio().map_err(LspError::Io)?;
    let served = pratique_lsp::run_with(
        &connection,
        &[&ProjectFile, &AdmissionConfiguration::new(gates)],
        gates,
        arguments.written(),
    );
    drop(connection);
    // The session knows only that nothing more came.
    if let Some(error) = threads.read_error() {
        return Err(LspError::Io(error).into());
    }
    served?;
    threads.join().map_err(CliError::Write)?;
    Ok(ExitStatus::Success)
}

/// The project file, whose fields are the flags of the commands.
struct ProjectFile;

impl FileKind for ProjectFile {
    fn check_file(&self, file: &ManifestFile) -> Option<Findings> {
        let is_named_so = Path::new(&file.path)
            .file_name()
            .is_some_and(|name| name == project::FILE);
        let problems = project::problems(file).filter(|_| is_named_so)?;
        Some(Findings {
            problems,
            ..Findings::default()
        })
    }
}

/// The file of `--admission-control-config-file`, which starts plugins as a server does.
struct AdmissionConfiguration {
    expressions: Expressions,
    gates: FeatureGates,
}

impl AdmissionConfiguration {
    fn new(gates: FeatureGates) -> Self {
        AdmissionConfiguration {
            gates,
            expressions: Expressions::new(Arc::new(Cache::new())).with_max_load_bytes(memory::load()),
        }
    }
}

impl FileKind for AdmissionConfiguration {
    fn check_file(&self, file: &ManifestFile) -> Option<Findings> {
        let text = String::from_utf8_lossy(&file.content);
        // It may be incomplete, and is so to YAML.
        let mut fields = text.split(['\n', ',', '{', '}']);
        let is_one = text.contains("apiserver.config.k8s.io/")
            && fields.any(|field| field.replace(['"', '\'', ' ', '\r'], "") == "kind:AdmissionConfiguration");
        is_one.then(|| check::configuration_findings(file.clone(), &self.expressions, self.gates))
    }
}
