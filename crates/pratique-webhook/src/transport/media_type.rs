//! The `Content-Type` of answers, read as Go reads media types: its faults end up in messages.

/// The media type in lower case, without parameters.
///
/// # Errors
/// The media type is invalid: Go's message, without `mime: `.
pub(super) fn parse(text: &str) -> Result<String, &'static str> {
    let (base, mut rest) = match text.find(';') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let media_type = base.trim().to_lowercase();
    check_type(&media_type)?;
    let mut parameters: Vec<(String, String)> = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Ok(media_type);
        }
        let Some((name, value, after)) = parameter(rest) else {
            // A trailing semicolon is let pass.
            return if rest.trim() == ";" {
                Ok(media_type)
            } else {
                Err("invalid media parameter")
            };
        };
        if parameters
            .iter()
            .any(|(known, other)| *known == name && *other != value)
        {
            return Err("duplicate parameter name");
        }
        parameters.push((name, value));
        rest = after;
    }
}

fn check_type(text: &str) -> Result<(), &'static str> {
    let (kind, rest) = token(text);
    if kind.is_empty() {
        return Err("no media type");
    }
    if rest.is_empty() {
        return Ok(());
    }
    let rest = rest.strip_prefix('/').ok_or("expected slash after first token")?;
    match token(rest) {
        ("", _) => Err("expected token after slash"),
        (_, "") => Ok(()),
        _ => Err("unexpected content after media subtype"),
    }
}

fn parameter(text: &str) -> Option<(String, String, &str)> {
    let (name, rest) = token(text.strip_prefix(';')?.trim_start());
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let (value, after) = value(rest)?;
    (!name.is_empty()).then(|| (name.to_lowercase(), value, after))
}

fn value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = token(text);
        return (!value.is_empty()).then(|| (value.to_owned(), rest));
    };
    let mut value = String::new();
    let mut letters = quoted.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, quoted.get(at + 1..)?)),
            '\r' | '\n' => return None,
            '\\' => {
                let escaped = letters.next_if(|(_, next)| is_special(*next));
                value.push(escaped.map_or(letter, |(_, next)| next));
            }
            letter => value.push(letter),
        }
    }
    None
}

fn token(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_graphic() || is_special(letter));
    text.split_at(end.unwrap_or(text.len()))
}

fn is_special(letter: char) -> bool {
    "()<>@,;:\\\"/[]?=".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types() {
        let check = |text: &str, expected: Result<&str, &'static str>| {
            assert_eq!(parse(text), expected.map(str::to_owned), "{text}");
        };
        check("application/json", Ok("application/json"));
        check("Text/Plain; Charset=UTF-8", Ok("text/plain"));
        check("text", Ok("text"));
        check("application/json;", Ok("application/json"));
        check("a/b; c=\"d;\\\"e\"; f=g ; ", Ok("a/b"));
        check("a/b; c=d; c=d", Ok("a/b"));
        check("a/b; c=d; c=e", Err("duplicate parameter name"));
        check("a/b; c", Err("invalid media parameter"));
        check("a/b; c=\"d", Err("invalid media parameter"));
        check("a/b; =", Err("invalid media parameter"));
        check(";", Err("no media type"));
        check("/json", Err("no media type"));
        check("text/", Err("expected token after slash"));
        check("a b/c", Err("expected slash after first token"));
        check("a/b/c", Err("unexpected content after media subtype"));
        check("a/b,", Err("unexpected content after media subtype"));
    }
}
