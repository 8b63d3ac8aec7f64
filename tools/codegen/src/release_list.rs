//! The list of releases, and the code that has their tables.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use pratique_harness::ToolError;

const LIST_HEAD: &str = "\
# The releases that are known, the newest first: VERSION, and the release whose tables are changed, or - of the one that is whole.
";

const CODE_HEAD: &str = "\
//! The releases that are known. Made by `cargo xtask codegen` of `data/releases.txt`; do not edit.

use super::{Release, ReleaseTables, TableSource};

";

/// The releases of the list.
#[derive(Clone, Debug)]
pub(crate) struct KnownReleases(Vec<KnownRelease>);

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownRelease {
    /// `1.37.2`
    version: String,
    /// `1.37`, which is the name of its directory.
    pub(crate) minor: String,
    /// The release whose tables are changed; `None` of the one that is whole.
    pub(crate) base: Option<String>,
}

impl KnownRelease {
    fn new(version: &str, base: Option<String>) -> Result<Self, ToolError> {
        let mut numbers = version.splitn(3, '.');
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some("1"), Some(minor), Some(_)) if minor.parse::<u32>().is_ok() => Ok(KnownRelease {
                version: version.to_owned(),
                minor: format!("1.{minor}"),
                base,
            }),
            _ => Err(format!("{version:?} is no version of a release, such as 1.37.2").into()),
        }
    }

    fn number(&self) -> u32 {
        let number = self.minor.split('.').nth(1).map(str::parse);
        number.and_then(Result::ok).unwrap_or_default()
    }
}

/// Reads the list in the directory of the tables.
pub(crate) fn read(data: &Path) -> Result<KnownReleases, ToolError> {
    let path = data.join("releases.txt");
    let text = fs::read_to_string(&path).map_err(ToolError::file(&path))?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let releases = lines.map(|line| {
        let (version, base) = line.split_once(' ').unwrap_or((line, "-"));
        KnownRelease::new(version, (base != "-").then(|| base.to_owned()))
    });
    releases.collect::<Result<_, _>>().map(KnownReleases)
}

impl KnownReleases {
    /// The list with a version: in place of another patch release, or as changes of the neighbour that lies towards the whole one.
    pub(crate) fn with(mut self, version: &str) -> Result<Self, ToolError> {
        let mut added = KnownRelease::new(version, None)?;
        if let Some(known) = self.0.iter_mut().find(|known| known.minor == added.minor) {
            added.base = known.base.clone();
            *known = added;
            return Ok(self);
        }
        let whole = self.0.iter().find(|known| known.base.is_none());
        let is_newer = whole.is_some_and(|whole| added.number() > whole.number());
        let place = self.0.iter().position(|known| known.number() < added.number());
        let place = place.unwrap_or(self.0.len());
        let neighbour = if is_newer {
            Some(place)
        } else {
            place.checked_sub(1)
        };
        let base = neighbour.and_then(|at| self.0.get(at));
        added.base = Some(
            base.ok_or("there is no release whose tables are whole")?
                .minor
                .clone(),
        );
        self.0.insert(place, added);
        Ok(self)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// A release by its version.
    pub(crate) fn find(&self, version: &str) -> Result<&KnownRelease, ToolError> {
        let known = self.0.iter().find(|known| known.version == version);
        known.ok_or_else(|| format!("Kubernetes {version} is not in the list of releases").into())
    }

    /// A release by its minor version.
    pub(crate) fn find_minor(&self, minor: &str) -> Result<&KnownRelease, ToolError> {
        let known = self.0.iter().find(|known| known.minor == minor);
        known.ok_or_else(|| format!("Kubernetes {minor} is not in the list of releases").into())
    }

    /// Writes the list in the directory of the tables, and the code that includes these.
    pub(crate) fn write(&self, data: &Path) -> Result<(), ToolError> {
        for (path, text) in [
            (data.join("releases.txt"), self.list()),
            (data.join("../src/release/list.rs"), self.code()),
        ] {
            fs::write(&path, text).map_err(ToolError::file(&path))?;
        }
        Ok(())
    }

    fn list(&self) -> String {
        let mut text = String::from(LIST_HEAD);
        for release in &self.0 {
            let base = release.base.as_deref().unwrap_or("-");
            let _ = writeln!(text, "{} {base}", release.version);
        }
        text
    }

    fn code(&self) -> String {
        let name = |minor: &str| format!("V{}", minor.replace('.', "_"));
        let mut text = String::from(CODE_HEAD);
        for release in &self.0 {
            let KnownRelease { version, minor, base } = release;
            if base.is_none() {
                text.push_str(
                    "/// Names of fields are recognised by their address in the text, of which there must be one: a constant could lie in\n\
                     /// several places.\n",
                );
            }
            let source = match base {
                None => format!("TableSource::Whole(tables!(whole \"{minor}\"))"),
                Some(base) => format!(
                    "TableSource::Changed(&{}, tables!(changes \"{minor}\"))",
                    name(base)
                ),
            };
            let _ = write!(
                text,
                "static {}: Release = Release::new(\n    (1, {}),\n    \"{version}\",\n    {source},\n);\n\n",
                name(minor),
                release.number()
            );
        }
        let whole = self.0.iter().find(|known| known.base.is_none());
        let _ = writeln!(
            text,
            "/// The newest release that is out.\npub(super) static LATEST: &Release = &{};\n",
            whole.map(|whole| name(&whole.minor)).unwrap_or_default()
        );
        let all: Vec<String> = self
            .0
            .iter()
            .map(|known| format!("&{}", name(&known.minor)))
            .collect();
        let _ = writeln!(
            text,
            "/// All of them, the newest first.\npub(super) static ALL: &[&Release] = &[{}];",
            all.join(", ")
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> KnownReleases {
        let release =
            |version, base: Option<&str>| KnownRelease::new(version, base.map(str::to_owned)).unwrap();
        KnownReleases(vec![
            release("1.38.0-beta.0", Some("1.37")),
            release("1.37.2", None),
            release("1.36.3", Some("1.37")),
        ])
    }

    #[track_caller]
    fn check(version: &str, expected: &[&str]) {
        let text = list().with(version).unwrap().list();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(lines, expected, "{version}");
    }

    #[test]
    fn releases_are_changes_of_their_neighbours() {
        check(
            "1.39.0",
            &["1.39.0 1.38", "1.38.0-beta.0 1.37", "1.37.2 -", "1.36.3 1.37"],
        );
        check(
            "1.35.4",
            &["1.38.0-beta.0 1.37", "1.37.2 -", "1.36.3 1.37", "1.35.4 1.36"],
        );
        check("1.38.0", &["1.38.0 1.37", "1.37.2 -", "1.36.3 1.37"]);
        check("1.37.3", &["1.38.0-beta.0 1.37", "1.37.3 -", "1.36.3 1.37"]);
    }

    #[test]
    fn versions_have_three_numbers() {
        for version in ["1.38", "v1.38.0", "2.0.0", "", "1.x.0"] {
            assert!(list().with(version).is_err(), "{version}");
        }
    }
}
