//! References of images, as far as the default of a pull policy depends on them.
// Upstream: pkg/util/parsers/parsers.go, ParseImageName; github.com/distribution/reference, ParseNormalizedNamed

/// `Always` for an image whose tag is `latest`, written or not, else `IfNotPresent`.
pub(super) fn pull_policy(image: &str) -> &'static str {
    if is_latest(image) {
        "Always"
    } else {
        "IfNotPresent"
    }
}

/// Whether a text is a reference whose tag is `latest`, or which has neither tag nor digest.
fn is_latest(image: &str) -> bool {
    let (domain, rest) = split_domain(image);
    let (rest, digest) = match rest.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest)),
        None => (rest, None),
    };
    let (path, tag) = match rest.split_once(':') {
        Some((path, tag)) => (path, Some(tag)),
        None => (rest, None),
    };
    match (tag, digest) {
        (Some("latest"), _) | (None, None) => {}
        _ => return false,
    }
    let is_identifier = image.len() == 64
        && image
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'f' | b'0'..=b'9'));
    if is_identifier || domain.is_some_and(|domain| !is_domain(domain)) {
        return false;
    }
    // Names of Docker Hub without a slash are those of its library.
    let prefix = match domain {
        None | Some("docker.io" | "index.docker.io") if !path.contains('/') => "library/".len(),
        _ => 0,
    };
    path.len() + prefix <= 255 && path.split('/').all(is_component) && digest.is_none_or(is_digest)
}

/// The domain, where the first part is taken for one, and the rest.
fn split_domain(image: &str) -> (Option<&str>, &str) {
    match image.split_once('/') {
        Some((first, rest))
            if first == "localhost"
                || first.contains(['.', ':'])
                || first.chars().any(char::is_uppercase) =>
        {
            (Some(first), rest)
        }
        _ => (None, image),
    }
}

fn is_domain(text: &str) -> bool {
    let (host, port) = match (text.starts_with('['), text.rsplit_once(':')) {
        (true, _) => match text.split_once(']') {
            Some((host, "")) => (host, None),
            Some((host, port)) => match port.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None => return false,
            },
            None => return false,
        },
        (false, Some((host, port))) => (host, Some(port)),
        (false, None) => (text, None),
    };
    let is_port = port.is_none_or(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
    let is_host = match host.strip_prefix('[') {
        Some(address) => {
            !address.is_empty()
                && address
                    .bytes()
                    .all(|byte| byte.is_ascii_hexdigit() || byte == b':')
        }
        None => host.split('.').all(|label| {
            let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            !label.is_empty()
                && label.bytes().all(is_inner)
                && !label.starts_with('-')
                && !label.ends_with('-')
        }),
    };
    is_port && is_host
}

/// A component of a path: lower-case letters and digits, with separators between them: a dot, one or two underscores, or
/// dashes.
fn is_component(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let separators = text.split(is_letter).filter(|part| !part.is_empty());
    let mut separators = separators.clone();
    let is_separator = |part: &str| matches!(part, "." | "_" | "__") || part.bytes().all(|byte| byte == b'-');
    text.starts_with(is_letter) && text.ends_with(is_letter) && separators.all(is_separator)
}

/// A digest of an algorithm that Go has.
fn is_digest(text: &str) -> bool {
    let Some((algorithm, digits)) = text.split_once(':') else {
        return false;
    };
    let count = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return false,
    };
    digits.len() == count
        && digits
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'f' | b'0'..=b'9'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latest_images_are_known() {
        let digest = format!("@sha256:{}", "a".repeat(64));
        for (image, expected) in [
            ("nginx", true),
            ("nginx:1", false),
            ("nginx:latest", true),
            ("nginx:latest-1", false),
            ("localhost:5000/a/b", true),
            ("localhost:5000/a/b:c", false),
            ("Upper/a", true),
            ("[::1]:80/a", true),
            ("a__b/c-d.e", true),
            ("", false),
            ("Nginx", false),
            ("Nginx:latest", false),
            ("nginx:", false),
            ("nginx:-a", false),
            ("a//b", false),
            ("a_/b", false),
            ("a...b", false),
            ("nginx@sha256:abc", false),
            ("nginx:latest@sha256:abc", false),
            ("-a.com/b", false),
            (&"a".repeat(64), false),
            (&"b".repeat(247), true),
            (&"b".repeat(248), false),
        ] {
            assert_eq!(is_latest(image), expected, "{image}");
        }
        assert!(!is_latest(&format!("nginx{digest}")));
        assert!(is_latest(&format!("nginx:latest{digest}")));
    }
}
