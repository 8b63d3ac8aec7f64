//! Addresses of mail.

/// Whether a text is an address of mail: `a@b`, or one in angle brackets after a name.
// Upstream: net/mail/message.go, ParseAddress
pub(crate) fn is_mailbox(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t']);
    if is_address(text) {
        return true;
    }
    let Some((name, address)) = text.strip_suffix('>').and_then(|text| text.rsplit_once('<')) else {
        return false;
    };
    is_address(address) && is_phrase(name.trim_matches([' ', '\t']))
}

fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let is_literal = domain
        .strip_prefix('[')
        .and_then(|domain| domain.strip_suffix(']'))
        .is_some_and(|address| address.parse::<std::net::IpAddr>().is_ok());
    (is_dotted(local) || is_quoted(local)) && (is_dotted(domain) || is_literal)
}

/// Words with dots between them.
fn is_dotted(text: &str) -> bool {
    text.split('.').all(|word| !word.is_empty() && is_word(word))
}

fn is_word(text: &str) -> bool {
    text.chars().all(|letter| {
        letter.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(letter) || !letter.is_ascii()
    })
}

/// A text in quotes.
fn is_quoted(text: &str) -> bool {
    let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    quoted.is_some_and(|text| {
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            let is_allowed = match letter {
                '\\' => letters.next().is_some(),
                '"' => false,
                _ => letter == '\t' || !letter.is_control(),
            };
            if !is_allowed {
                return false;
            }
        }
        true
    })
}

/// A name before an address.
fn is_phrase(text: &str) -> bool {
    text.is_empty()
        || is_quoted(text)
        || text
            .split([' ', '\t'])
            .all(|word| word.is_empty() || is_word(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_two_parts() {
        for (text, is_valid) in [
            ("a@b", true),
            ("a.b@c.d", true),
            ("\"a b\"@c", true),
            ("Name <a@b>", true),
            ("a@[127.0.0.1]", true),
            ("", false),
            ("a", false),
            ("a@", false),
            ("@b", false),
            ("a..b@c", false),
            ("a b@c", false),
        ] {
            assert_eq!(is_mailbox(text), is_valid, "{text}");
        }
    }
}
