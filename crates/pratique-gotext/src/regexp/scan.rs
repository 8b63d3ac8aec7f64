//! The small tokens of a pattern: escapes, repeat counts, flags and group names.

use super::error::{Error, ErrorKind, between, whole};

/// The switches a pattern can turn on and off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PatternFlags {
    /// `i`: letters match in any case.
    pub(super) fold_case: bool,
    /// `m`: `^` and `$` match at lines.
    pub(super) multi_line: bool,
    /// `s`: `.` matches a line feed.
    pub(super) dot_newline: bool,
    /// `U`: `*` and `*?` change places.
    pub(super) swap_greed: bool,
}

/// A group or flags after `(?`.
pub(super) enum GroupExtension {
    /// A group, and the flags inside it.
    Group(PatternFlags),
    /// No group: flags for the rest of the group around.
    Flags(PatternFlags),
}

/// How often something is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RepeatCount {
    pub(super) min: u32,
    /// `None` for any number.
    pub(super) max: Option<u32>,
}

/// Counts go to a thousand, also multiplied.
pub(super) const MAX_COUNT: u32 = 1_000;

/// The first character and the rest.
pub(super) fn split_first(text: &str) -> Option<(char, &str)> {
    let mut characters = text.chars();
    characters.next().map(|first| (first, characters.as_str()))
}

/// Reads a group or flags that start with `(?`.
pub(super) fn extension(text: &str, flags: PatternFlags) -> Result<(GroupExtension, &str), Error> {
    let inside = text.get(2..).unwrap_or("");
    let name = inside
        .strip_prefix("P<")
        .or_else(|| inside.strip_prefix('<'))
        .filter(|name| !name.is_empty());
    match name {
        Some(name) => Ok((GroupExtension::Group(flags), named_group(text, name)?)),
        None => flag_group(text, inside, flags),
    }
}

/// Reads a group's name and its `>`.
fn named_group<'t>(text: &'t str, name: &'t str) -> Result<&'t str, Error> {
    let Some((name, rest)) = name.split_once('>') else {
        return whole(ErrorKind::NamedCapture, text);
    };
    let valid = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    if valid {
        Ok(rest)
    } else {
        between(ErrorKind::NamedCapture, text, rest)
    }
}

/// Reads letters, perhaps a minus and letters to turn off, and `:` or `)`.
fn flag_group<'t>(
    text: &'t str,
    inside: &'t str,
    mut flags: PatternFlags,
) -> Result<(GroupExtension, &'t str), Error> {
    let mut rest = inside;
    let (mut on, mut empty) = (true, true);
    while let Some((letter, after)) = split_first(rest) {
        rest = after;
        match letter {
            'i' => flags.fold_case = on,
            'm' => flags.multi_line = on,
            's' => flags.dot_newline = on,
            'U' => flags.swap_greed = on,
            '-' if on => {
                (on, empty) = (false, true);
                continue;
            }
            ':' if on || !empty => return Ok((GroupExtension::Group(flags), rest)),
            ')' if on || !empty => return Ok((GroupExtension::Flags(flags), rest)),
            _ => break,
        }
        empty = false;
    }
    between(ErrorKind::PerlOperator, text, rest)
}

/// Reads `{2}`, `{2,}` or `{2,5}`; `None` where a brace is just a brace. The count itself is a failure when it is too
/// large or its ends are swapped.
pub(super) fn count(text: &str) -> Option<(Result<RepeatCount, ()>, &str)> {
    let (min, rest) = number(text.strip_prefix('{')?)?;
    let (max, rest) = match rest.strip_prefix(',') {
        None => (Some(min), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => number(rest).map(|(max, rest)| (Some(max), rest))?,
    };
    let rest = rest.strip_prefix('}')?;
    let fits = max.unwrap_or(min).max(min) <= MAX_COUNT && max.is_none_or(|max| min <= max);
    Some((
        if fits {
            Ok(RepeatCount { min, max })
        } else {
            Err(())
        },
        rest,
    ))
}

/// Reads digits without a leading zero. Beyond a hundred million the value stays.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|next: char| !next.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    if digits.is_empty() || digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    let value = digits.bytes().fold(0u32, |value, digit| match value {
        0..100_000_000 => value * 10 + u32::from(digit - b'0'),
        _ => value,
    });
    Some((value, rest))
}

/// Reads an escape that stands for one code point.
pub(super) fn escape(text: &str) -> Result<(u32, &str), Error> {
    let Some((letter, rest)) = split_first(text.get(1..).unwrap_or("")) else {
        return whole(ErrorKind::TrailingBackslash, "");
    };
    let code = match letter {
        '1'..='7' if !rest.starts_with(|next| matches!(next, '0'..='7')) => None,
        '0'..='7' => return Ok(octal(text.get(1..).unwrap_or(""))),
        'x' => return hexadecimal(text, rest),
        'a' => Some(7),
        'f' => Some(12),
        'n' => Some(10),
        'r' => Some(13),
        't' => Some(9),
        'v' => Some(11),
        punctuation if punctuation.is_ascii() && !punctuation.is_ascii_alphanumeric() => {
            Some(u32::from(punctuation))
        }
        _ => None,
    };
    match code {
        Some(code) => Ok((code, rest)),
        None => between(ErrorKind::Escape, text, rest),
    }
}

/// Up to three octal digits.
fn octal(text: &str) -> (u32, &str) {
    let end = text
        .bytes()
        .take(3)
        .take_while(|byte| matches!(byte, b'0'..=b'7'))
        .count();
    let (digits, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    (u32::from_str_radix(digits, 8).unwrap_or(0), rest)
}

/// Two hexadecimal digits, or any number of them in braces.
fn hexadecimal<'t>(text: &'t str, after_x: &'t str) -> Result<(u32, &'t str), Error> {
    let Some(braced) = after_x.strip_prefix('{') else {
        return two_digits(text, after_x);
    };
    let (mut code, mut rest) = (0, braced);
    while let Some((next, after)) = split_first(rest) {
        if next == '}' && rest.len() < braced.len() {
            return Ok((code, after));
        }
        rest = after;
        match next.to_digit(16).map(|digit| code * 16 + digit) {
            Some(larger) if larger <= 0x10_FFFF => code = larger,
            _ => break,
        }
    }
    between(ErrorKind::Escape, text, rest)
}

fn two_digits<'t>(text: &'t str, digits: &'t str) -> Result<(u32, &'t str), Error> {
    let (mut code, mut rest) = (Some(0), digits);
    for _ in 0..2 {
        let (digit, after) =
            split_first(rest).map_or((None, rest), |(digit, after)| (digit.to_digit(16), after));
        code = code.zip(digit).map(|(code, digit)| code * 16 + digit);
        rest = after;
    }
    match code {
        Some(code) => Ok((code, rest)),
        None => between(ErrorKind::Escape, text, rest),
    }
}
