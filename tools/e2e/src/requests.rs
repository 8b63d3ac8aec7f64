//! Requests that kubectl makes, in order, and what it says of each.

use std::fs;
use std::path::{Path, PathBuf};

use super::kubectl::{Kubectl, Said};
use pratique_harness::Error;

/// What the requests take for granted: a namespace, and a developer who may do everything in it.
const SETTING: &str = include_str!("setting.yaml");

/// A request.
pub(super) struct Request {
    pub(super) name: String,
    developer: bool,
    arguments: Vec<String>,
    manifests: String,
}

/// What kubectl says of a request, in words that do not depend on who was asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) ok: bool,
    pub(super) output: String,
    pub(super) errors: String,
}

impl Request {
    /// The requests of a folder, by name.
    pub(super) fn read(folder: &Path) -> Result<Vec<Self>, Error> {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        let mut paths: Vec<PathBuf> = fs::read_dir(folder)
            .map_err(failed)?
            .map(|entry| entry.map(|entry| entry.path()).map_err(failed))
            .collect::<Result<_, _>>()?;
        paths.sort();
        paths
            .iter()
            .map(|path| {
                let text = fs::read_to_string(path).map_err(Error::file(&path))?;
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                Self::parse(&name, &text)
                    .ok_or_else(|| Error::from(format!("{}: not a request", path.display())))
            })
            .collect()
    }

    /// Optionally `as: dev`, then `run: ARGUMENTS`, and optionally manifests to feed it after a line `===`.
    fn parse(name: &str, text: &str) -> Option<Self> {
        let (developer, text) = match text.strip_prefix("as: dev\n") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (run, rest) = text.strip_prefix("run: ")?.split_once('\n')?;
        Some(Request {
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
    pub(super) fn make(&self, kubectl: &Kubectl) -> Result<Answer, Error> {
        let kubectl = match self.developer {
            true => kubectl.developer(),
            false => kubectl.clone(),
        };
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let said = match self.manifests.as_str() {
            "" => kubectl.run(&arguments)?,
            manifests => kubectl.feed(&arguments, manifests)?,
        };
        Ok(Answer::of(said))
    }
}

/// Creates what the requests take for granted.
pub(super) fn set_the_stage(kubectl: &Kubectl) -> Result<(), Error> {
    kubectl.must(&["apply"], SETTING).map(drop)
}

impl Answer {
    fn of(said: Said) -> Self {
        Answer {
            ok: said.ok,
            output: said.output,
            errors: said.errors.lines().map(plain).collect::<Vec<_>>().join("\n"),
        }
    }
}

impl std::fmt::Display for Answer {
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

/// A line without what the API server says before the words of a webhook, and without what kubectl says before the words
/// of a server, which depends on whether a Status has details.
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
        if let Some((before, rest)) = line.split_once(prefix) {
            line = match prefix.ends_with('(') {
                true if before.is_empty() => rest.split_once("): ").map_or(rest, |(_, rest)| rest),
                true => line,
                false => rest,
            };
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
        let requests = Request::read(&workspace::root().join("testdata/e2e/requests")).unwrap();
        assert!(requests.iter().any(|request| request.developer));
        assert!(requests.iter().any(|request| request.manifests.is_empty()));
    }
}
