//! References to images in registries, in canonical form: `registry.example.com/path/name:tag@sha256:…`.
//!
//! Upstream: github.com/distribution/reference 0.6.0, ParseNamed; github.com/opencontainers/go-digest 1.0.0, Digest.Validate

use std::sync::LazyLock;

use pratique_gotext::regexp::Regex;

/// What follows the name in a reference.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ImageReference<'t> {
    pub(super) has_tag: bool,
    /// The algorithm of the digest.
    pub(super) algorithm: Option<&'t str>,
}

const DEFAULT_DOMAIN: &str = "docker.io";
const OFFICIAL_PREFIX: &str = "library/";
const MAX_PATH: usize = 255;

/// A pattern for a whole text. The patterns here are constants; a test has each.
type WholePattern = LazyLock<Option<Regex>>;

static DOMAIN: WholePattern = LazyLock::new(|| {
    whole(
        r"(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[(?:[a-fA-F0-9:]+)\])(?::[0-9]+)?",
    )
});
static PATH: WholePattern = LazyLock::new(|| {
    whole(r"[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*)*")
});
static TAG: WholePattern = LazyLock::new(|| whole(r"[\w][\w.-]{0,127}"));
static DIGEST: WholePattern =
    LazyLock::new(|| whole(r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*[:][[:xdigit:]]{32,}"));
static OTHER_DIGEST: WholePattern = LazyLock::new(|| whole(r"[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[a-zA-Z0-9=_-]+"));

fn whole(pattern: &str) -> Option<Regex> {
    Regex::new(&format!("^(?:{pattern})$")).ok()
}

fn is_all(text: &str, pattern: &WholePattern) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Parses a reference.
///
/// # Errors
/// It is none, or not in canonical form; with the words of the library.
pub(super) fn parse(text: &str) -> Result<ImageReference<'_>, String> {
    if text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'a'..=b'f' | b'0'..=b'9')) {
        return Err(format!(
            "invalid repository name ({text}), cannot specify 64-byte hexadecimal strings"
        ));
    }
    let (domain, remainder) = split_domain(text);
    let remote = remainder.split(':').next().unwrap_or_default();
    if lowercase(remote) != remote {
        return Err(format!(
            "invalid reference format: repository name ({remote}) must be lowercase"
        ));
    }
    let full = format!("{domain}/{remainder}");
    let Some(parts) = ReferenceParts::split(&full) else {
        let of_other_case = ReferenceParts::split(&lowercase(&full)).is_some();
        return Err(if of_other_case {
            "repository name must be lowercase".to_owned()
        } else {
            "invalid reference format".to_owned()
        });
    };
    if parts.path.len() > MAX_PATH {
        return Err(format!(
            "repository name must not be more than {MAX_PATH} characters"
        ));
    }
    if let Some(digest) = parts.digest {
        check_digest(digest)?;
    }
    if full != text {
        return Err("repository name must be canonical".to_owned());
    }
    Ok(ImageReference {
        has_tag: parts.has_tag,
        // The text is the same.
        algorithm: text
            .split_once('@')
            .and_then(|(_, digest)| digest.split(':').next()),
    })
}

/// A text in lower case, one character for each.
// Upstream: strings.ToLower, which knows no characters that become two
fn lowercase(text: &str) -> String {
    let lower = |character: char| character.to_lowercase().next().unwrap_or(character);
    text.chars().map(lower).collect()
}

/// The registry of a name, and the rest; of names without one the default.
fn split_domain(name: &str) -> (&str, String) {
    let Some((first, rest)) = name.split_once('/') else {
        return (DEFAULT_DOMAIN, format!("{OFFICIAL_PREFIX}{name}"));
    };
    let (domain, remainder) = match first {
        "index.docker.io" => (DEFAULT_DOMAIN, rest),
        "localhost" => (first, rest),
        _ if first.contains(['.', ':']) || lowercase(first) != first => (first, rest),
        _ => (DEFAULT_DOMAIN, name),
    };
    if domain == DEFAULT_DOMAIN && !remainder.contains('/') {
        return (domain, format!("{OFFICIAL_PREFIX}{remainder}"));
    }
    (domain, remainder.to_owned())
}

/// The parts of a reference with the form of one.
struct ReferenceParts<'t> {
    path: &'t str,
    has_tag: bool,
    digest: Option<&'t str>,
}

impl<'t> ReferenceParts<'t> {
    fn split(text: &'t str) -> Option<Self> {
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest)),
            None => (text, None),
        };
        let last = rest.rfind('/').map_or(0, |slash| slash + 1);
        let (name, tag) = match rest.get(last..)?.split_once(':') {
            Some((end, tag)) => (rest.get(..last + end.len())?, Some(tag)),
            None => (rest, None),
        };
        let path = match name.split_once('/') {
            Some((domain, path)) if is_all(domain, &DOMAIN) && is_all(path, &PATH) => path,
            _ if is_all(name, &PATH) => name,
            _ => return None,
        };
        let is_sound =
            tag.is_none_or(|tag| is_all(tag, &TAG)) && digest.is_none_or(|digest| is_all(digest, &DIGEST));
        is_sound.then_some(ReferenceParts {
            path,
            has_tag: tag.is_some(),
            digest,
        })
    }
}

fn check_digest(digest: &str) -> Result<(), String> {
    let (algorithm, encoded) = digest.split_once(':').unwrap_or((digest, ""));
    let length = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ if is_all(digest, &OTHER_DIGEST) => return Err("unsupported digest algorithm".to_owned()),
        _ => return Err("invalid checksum digest format".to_owned()),
    };
    if encoded.len() != length {
        return Err("invalid checksum digest length".to_owned());
    }
    if !encoded
        .bytes()
        .all(|byte| matches!(byte, b'a'..=b'f' | b'0'..=b'9'))
    {
        return Err("invalid checksum digest format".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text, and what the library says of it: the error, or whether there is a tag, and the algorithm.
    #[test]
    fn references_are_read_as_by_the_library() {
        let recorded = pratique_json::parse(include_bytes!("../../testdata/image-references.json")).unwrap();
        let rows = recorded.as_array().unwrap();
        assert!(rows.len() > 90);
        for row in rows {
            let of_row = |index: usize| row.as_array().unwrap()[index].as_str().unwrap();
            let (text, expected) = (of_row(0), of_row(1));
            let told = match parse(text) {
                Ok(reference) => {
                    let algorithm = reference.algorithm.unwrap_or_default();
                    format!("{} {algorithm}", reference.has_tag).trim().to_owned()
                }
                Err(error) => format!("error: {error}"),
            };
            assert_eq!(told, expected, "{text}");
        }
    }
}
