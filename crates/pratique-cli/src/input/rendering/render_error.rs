//! Why no objects are made of a directory.

use std::io;
use std::path::Path;

use pratique_manifest::path_text;

use super::build_program::main_file;
use super::{below_chart, downward};
use crate::exit::plain;
use crate::output::place::InputPlace;

/// Why no objects are made of a directory.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RenderError {
    /// The program is not installed.
    #[error("{path}: --render runs {program}, and there is no such program on the path")]
    NoProgram { path: String, program: &'static str },
    /// The program cannot be run, or not read.
    #[error("{path}: {program}: {}", plain(.error))]
    Run {
        path: String,
        program: &'static str,
        error: io::Error,
    },
    /// The program fails.
    #[error("{path}: {program}: {status}{}", following(.message))]
    Failed {
        path: String,
        program: &'static str,
        status: String,
        message: String,
    },
    /// A file that is not trusted names the directory.
    #[error(
        "{path}: --render runs no program on what a project file names that may come with an unreviewed change: name it on the \
         command line, or trust the file with --trust-project-file"
    )]
    Untrusted { path: String },
    /// Nothing is rendered.
    #[error("--render: there is no chart and no kustomization among the inputs: name the directory of one")]
    NothingToRender,
}

impl RenderError {
    /// The file that it is about: the one that the program names, or else the one that the directory is built from.
    pub(crate) fn place(&self) -> InputPlace {
        let (RenderError::NoProgram { path, .. }
        | RenderError::Run { path, .. }
        | RenderError::Failed { path, .. }
        | RenderError::Untrusted { path }) = self
        else {
            return InputPlace::default();
        };
        let root = Path::new(path);
        let named = match self {
            RenderError::Failed { message, .. } => named_template(root, message),
            _ => None,
        };
        named.unwrap_or_else(|| InputPlace {
            file: path_text(&main_file(root).unwrap_or_else(|| root.to_owned())),
            ..InputPlace::default()
        })
    }
}

/// The first file of a chart that a message of Helm names, as in `shop/templates/web.yaml:3:5` and `(shop/values.yaml:3)`.
fn named_template(root: &Path, message: &str) -> Option<InputPlace> {
    let mut words =
        message.split(|character: char| character.is_whitespace() || "()<>\"'`,".contains(character));
    words.find_map(|word| {
        let mut parts = word.split(':');
        let path = below_chart(root, downward(parts.next()?)?).filter(|path| path.is_file())?;
        let mut number = || parts.next()?.parse().ok();
        Some(InputPlace {
            file: path_text(&path),
            line: number().unwrap_or_default(),
            column: number().unwrap_or_default(),
        })
    })
}

fn following(message: &str) -> String {
    match message {
        "" => String::new(),
        message => format!(": {message}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn helm_names_templates() {
        let chart = tempfile::tempdir().unwrap();
        let path = |name: &str| chart.path().join(name);
        for name in ["Chart.yaml", "values.yaml", "templates/web.yaml"] {
            fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            fs::write(path(name), "").unwrap();
        }
        for (message, file, line, column) in [
            (
                "Error: template: shop/templates/web.yaml:3:14: executing \"shop/templates/web.yaml\" at <.Values.a.b>: nil pointer",
                "templates/web.yaml",
                3,
                14,
            ),
            (
                "Error: parse error at (shop/templates/web.yaml:7): unclosed action",
                "templates/web.yaml",
                7,
                0,
            ),
            (
                "Error: YAML parse error on shop/templates/web.yaml: error converting YAML to JSON: yaml: line 4: did not find",
                "templates/web.yaml",
                0,
                0,
            ),
            (
                "Error: template: shop/templates/gone.yaml:3:14: a",
                "Chart.yaml",
                0,
                0,
            ),
            ("Error: template: ../../values.yaml:3:14: a", "Chart.yaml", 0, 0),
            ("", "Chart.yaml", 0, 0),
        ] {
            let error = RenderError::Failed {
                path: path_text(chart.path()),
                program: "helm template",
                status: "exit status: 1".to_owned(),
                message: message.to_owned(),
            };
            let expected = InputPlace {
                file: path_text(&path(file)),
                line,
                column,
            };
            assert_eq!(error.place(), expected, "{message}");
        }
    }
}
