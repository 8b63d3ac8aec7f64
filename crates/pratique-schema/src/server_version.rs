//! The version that a server says of itself, and the release by which it is followed.

use std::cmp::Ordering;

use crate::Release;

/// The version that a server says of itself, with the release by which it is followed: its own, or else the nearest that is known.
///
/// ```
/// use pratique_schema::ServerVersion;
///
/// let server = ServerVersion::parse("v1.37.2-gke.100");
/// assert_eq!((server.release().to_string(), server.note()), ("1.37".to_owned(), None));
///
/// let newer = ServerVersion::parse("v1.99.0");
/// assert!(newer.note().is_some_and(|note| note.contains("newer than what is known")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerVersion {
    text: String,
    release: &'static Release,
    distance: Option<VersionDistance>,
}

/// How the version of a server differs from all that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VersionDistance {
    Newer,
    Older,
    /// It lies between two of them.
    Between,
    /// The server does not say it, or what it says is no version.
    Unknown,
}

impl ServerVersion {
    /// The version in the `gitVersion` of a server; an empty text is one that is not known.
    pub fn parse(text: &str) -> Self {
        let (release, distance) = match Release::parse_version(text) {
            Some(version) => nearest(version),
            None => (Release::latest(), Some(VersionDistance::Unknown)),
        };
        ServerVersion {
            text: text.to_owned(),
            release,
            distance,
        }
    }

    /// The release by which it is followed.
    pub fn release(&self) -> &'static Release {
        self.release
    }

    /// Its version as it says it; empty if it says none.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What is to be told of a server that is followed by another release than its own.
    pub fn note(&self) -> Option<String> {
        let release = self.release;
        let how = match self.distance? {
            VersionDistance::Newer => "newer than what is known",
            VersionDistance::Older => "older than what is known",
            VersionDistance::Between => "not known",
            VersionDistance::Unknown if self.text.is_empty() => {
                return Some(format!(
                    "the server's version is not known: it is taken for one of Kubernetes {release}"
                ));
            }
            VersionDistance::Unknown => "no version of Kubernetes",
        };
        Some(format!(
            "the server's version {} is {how}: it is taken for one of Kubernetes {release}",
            self.text
        ))
    }

    /// What is to be told of a server that is followed by a release that somebody names, such as `as is asked for`.
    pub fn note_as(&self, release: &'static Release, by: &str) -> Option<String> {
        if self.distance.is_none() && self.release == release {
            return None;
        }
        let version = match self.text.as_str() {
            "" => "not known",
            text => text,
        };
        Some(format!(
            "the server's version is {version}: it is taken for one of Kubernetes {release}, {by}"
        ))
    }
}

/// The release that is nearest to a version, and how the version differs from it. Of two, it is the older one: what a server may
/// not know yet is then not taken for granted.
fn nearest(version: (u32, u32)) -> (&'static Release, Option<VersionDistance>) {
    let older = Release::list()
        .iter()
        .find(|release| release.version() <= version);
    let Some(older) = older else {
        let oldest = Release::list().last().copied();
        return (oldest.unwrap_or(Release::latest()), Some(VersionDistance::Older));
    };
    let distance = match (
        older.version().cmp(&version),
        Release::list().first() == Some(older),
    ) {
        (Ordering::Equal, _) => None,
        (_, true) => Some(VersionDistance::Newer),
        (_, false) => Some(VersionDistance::Between),
    };
    (older, distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_followed_by_the_nearest_release() {
        let latest = Release::latest();
        let (newest, oldest) = (Release::list()[0], Release::list()[Release::list().len() - 1]);
        let check = |text: &str, release: &'static Release, note: Option<String>| {
            let server = ServerVersion::parse(text);
            assert_eq!((server.release(), server.note()), (release, note), "{text}");
        };
        for release in Release::list() {
            check(&format!("v{release}.4+k3s1"), release, None);
        }
        check(
            "v1.1000.0",
            newest,
            Some(format!(
                "the server's version v1.1000.0 is newer than what is known: it is taken for one of Kubernetes {newest}"
            )),
        );
        check(
            "v1.5.2",
            oldest,
            Some(format!(
                "the server's version v1.5.2 is older than what is known: it is taken for one of Kubernetes {oldest}"
            )),
        );
        check(
            "",
            latest,
            Some(format!(
                "the server's version is not known: it is taken for one of Kubernetes {latest}"
            )),
        );
        check(
            "main",
            latest,
            Some(format!(
                "the server's version main is no version of Kubernetes: it is taken for one of Kubernetes {latest}"
            )),
        );
    }
}
