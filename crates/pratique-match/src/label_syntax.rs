//! What a label key and a label value may look like, and what an API server says of others.

/// Whether a text is a label key: a name, perhaps with a DNS subdomain and a slash before it.
pub fn is_label_key(text: &str) -> bool {
    key_faults(text).is_empty()
}

/// The faults of a label key, in order.
pub(crate) fn key_faults(key: &str) -> Vec<String> {
    let mut parts = key.split('/');
    let (prefix, name) = match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, _) => (None, name),
        (Some(prefix), Some(name), None) => (Some(prefix), name),
        _ => {
            return vec![format!(
                "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                name_rule()
            )];
        }
    };
    let mut faults = prefix.map(prefix_faults).unwrap_or_default();
    if name.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    } else if name.len() > MAX_NAME {
        faults.push(format!("name part must be no more than {MAX_NAME} bytes"));
    }
    if !is_name(name) {
        faults.push(format!("name part {}", name_rule()));
    }
    faults
}

/// The faults of a label value, in order.
pub(crate) fn value_faults(value: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if value.len() > MAX_NAME {
        faults.push(format!("must be no more than {MAX_NAME} bytes"));
    }
    if !value.is_empty() && !is_name(value) {
        faults.push(format!(
            "a valid label must be an empty string or consist of {CHARACTERS} (e.g. 'MyValue',  or 'my_value',  or \
             '12345', regex used for validation is '({NAME})?')"
        ));
    }
    faults
}

const MAX_NAME: usize = 63;
const MAX_PREFIX: usize = 253;
const NAME: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const CHARACTERS: &str =
    "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const SUBDOMAIN: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";

fn name_rule() -> String {
    format!(
        "must consist of {CHARACTERS} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
         '{NAME}')"
    )
}

fn prefix_faults(prefix: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if prefix.is_empty() {
        return vec!["prefix part must be non-empty".to_owned()];
    }
    if prefix.len() > MAX_PREFIX {
        faults.push(format!("prefix part must be no more than {MAX_PREFIX} bytes"));
    }
    if !prefix.split('.').all(is_dns_label) {
        faults.push(format!(
            "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
             '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for \
             validation is '{SUBDOMAIN}')"
        ));
    }
    faults
}

fn is_name(text: &str) -> bool {
    framed(text, |byte| byte.is_ascii_alphanumeric(), b"-_.")
}

fn is_dns_label(text: &str) -> bool {
    framed(
        text,
        |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit(),
        b"-",
    )
}

/// Whether the text starts and ends with a plain byte, and has only plain and `inner` ones.
fn framed(text: &str, plain: impl Fn(u8) -> bool, inner: &[u8]) -> bool {
    let ends = [text.bytes().next(), text.bytes().next_back()];
    ends.into_iter().all(|end| end.is_some_and(&plain))
        && text.bytes().all(|byte| plain(byte) || inner.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        for good in ["a", "a.b-c_D", "example.com/name", "1"] {
            assert_eq!(key_faults(good), Vec::<String>::new(), "{good}");
        }
        for (bad, starts) in [
            (
                "",
                vec!["name part must be non-empty", "name part must consist of"],
            ),
            ("-a", vec!["name part must consist of"]),
            ("/a", vec!["prefix part must be non-empty"]),
            ("A.b/a", vec!["prefix part a lowercase RFC 1123 subdomain"]),
            ("a/b/c", vec!["a valid label key must consist of"]),
        ] {
            let faults = key_faults(bad);
            assert_eq!(faults.len(), starts.len(), "{bad}: {faults:?}");
            for (fault, start) in faults.iter().zip(starts) {
                assert!(fault.starts_with(start), "{bad}: {fault}");
            }
        }
    }

    #[test]
    fn values() {
        assert!(value_faults("").is_empty() && value_faults("a_b").is_empty());
        assert_eq!(value_faults("a b").len(), 1);
        assert_eq!(value_faults(&"x".repeat(64)), ["must be no more than 63 bytes"]);
    }
}
