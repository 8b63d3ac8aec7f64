//! Requests that kubectl makes, in order, and its output for each.

use std::path::Path;

use super::case_files::read_all;
use super::kubectl::{KubectlOutput, KubectlUser};
use pratique_harness::ToolError;

/// Objects that the requests need: a namespace, and a developer who may do everything in it.
const SETTING: &str = include_str!("setting.yaml");

/// A request.
pub(super) struct ApiRequest {
    pub(super) name: String,
    developer: bool,
    arguments: Vec<String>,
    manifests: String,
}

/// The output of kubectl for a request, without the parts that depend on which server answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KubectlAnswer {
    pub(super) ok: bool,
    pub(super) output: String,
    pub(super) errors: String,
}

impl ApiRequest {
    /// The requests of a folder, by name.
    pub(super) fn read(folder: &Path) -> Result<Vec<Self>, ToolError> {
        read_all(folder, "request", Self::parse)
    }

    /// Optionally `as: dev`, then `run: ARGUMENTS`, and optionally manifests to feed it after a line `===`.
    fn parse(name: &str, text: &str) -> Option<Self> {
        let (developer, text) = match text.strip_prefix("as: dev\n") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (run, rest) = text.strip_prefix("run: ")?.split_once('\n')?;
        Some(ApiRequest {
            name: name.to_owned(),
            developer,
            arguments: run.split(' ').map(str::to_owned).collect(),
            manifests: match rest {
                "" => String::new(),
                rest => rest.strip_prefix("===\n")?.to_owned(),
            },
        })
    }

    /// Makes the request.
    pub(super) fn make(&self, kubectl: &KubectlUser) -> Result<KubectlAnswer, ToolError> {
        let kubectl = if self.developer {
            kubectl.developer()
        } else {
            kubectl.clone()
        };
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let result = match self.manifests.as_str() {
            "" => kubectl.run(&arguments)?,
            manifests => kubectl.feed(&arguments, manifests)?,
        };
        Ok(KubectlAnswer::new(result))
    }
}

/// Creates the objects that the requests need.
pub(super) fn create_fixtures(kubectl: &KubectlUser) -> Result<(), ToolError> {
    kubectl.must(&["apply"], SETTING).map(drop)
}

impl KubectlAnswer {
    fn new(result: KubectlOutput) -> Self {
        KubectlAnswer {
            ok: result.ok,
            output: result.stdout,
            errors: result.stderr.lines().map(plain).collect::<Vec<_>>().join("\n"),
        }
    }
}

impl std::fmt::Display for KubectlAnswer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines = [self.output.as_str(), self.errors.as_str()];
        let text: Vec<&str> = lines
            .iter()
            .map(|text| text.trim())
            .filter(|text| !text.is_empty())
            .collect();
        write!(formatter, "{}", text.join("\n"))
    }
}

/// A line without the prefix of the API server for messages of webhooks, and without the prefix of kubectl for messages of a
/// server, which depends on whether a Status has details.
fn plain(line: &str) -> String {
    let mut line = line;
    if let Some((_, rest)) = line.split_once(" denied the request: ")
        && line.contains("admission webhook ")
    {
        line = rest;
    }
    for prefix in [
        "Error from server (",
        "error when creating \"STDIN\": ",
        "error when replacing \"STDIN\": ",
    ] {
        if let Some((leading_words, rest)) = line.split_once(prefix) {
            let is_in_parentheses = prefix.ends_with('(');
            if is_in_parentheses && leading_words.is_empty() {
                line = rest.split_once("): ").map_or(rest, |(_, rest)| rest);
            } else if !is_in_parentheses {
                line = rest;
            }
        }
    }
    line.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pratique_harness::workspace;

    #[test]
    fn the_words_of_webhooks_are_those_of_policies() {
        let check = |line: &str, expected: &str| assert_eq!(plain(line), expected);
        check(
            "Error from server (Forbidden): error when creating \"STDIN\": pods \"a\" is forbidden: no",
            "pods \"a\" is forbidden: no",
        );
        check(
            "Error from server (Invalid): error when creating \"STDIN\": admission webhook \"h.x.y\" denied the request: \
             pods \"a\" is forbidden: no",
            "pods \"a\" is forbidden: no",
        );
        check("Warning: old", "Warning: old");
    }

    #[test]
    fn requests_can_be_read() {
        let requests = ApiRequest::read(&workspace::root().join("testdata/e2e/requests")).unwrap();
        assert!(requests.iter().any(|request| request.developer));
        assert!(requests.iter().any(|request| request.manifests.is_empty()));
    }
}
