//! Where the failure of a program that makes objects stands.

use std::path::{Path, PathBuf};

use pratique_manifest::path_text;

use super::chart_path::{below_chart, downward};
use crate::output::place::InputPlace;

/// The file of a directory that a failure is about: the one that its message names, or else the one that the directory is built
/// from.
pub(super) fn locate_failure(root: &Path, main_file: Option<PathBuf>, message: &str) -> InputPlace {
    named_template(root, message).unwrap_or_else(|| InputPlace {
        file: path_text(&main_file.unwrap_or_else(|| root.to_owned())),
        ..InputPlace::default()
    })
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
            let expected = InputPlace {
                file: path_text(&path(file)),
                line,
                column,
            };
            let place = locate_failure(chart.path(), Some(path("Chart.yaml")), message);
            assert_eq!(place, expected, "{message}");
        }
    }
}
