//! One line of an exposition: a name, labels and a value.

use std::collections::BTreeMap;

/// A parsed sample.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) value: f64,
}

/// An error in an exposition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FormatError {
    /// A required part is missing.
    Missing(&'static str),
    /// Something is where it may not be.
    Misplaced(String),
    BadName(String),
    BadNumber(String),
    BadEscape(Option<char>),
    BadSuffix(String),
    BadValue(String),
    BadBuckets(String),
    UnknownType(String),
    DuplicateLabel(String),
    DuplicateSample(String),
    /// A name belongs to two families.
    SharedName(String),
    /// The samples of a series are not contiguous.
    NotContiguous(String),
}

/// Parses a line.
pub(crate) fn read(line: &str) -> Result<Sample, FormatError> {
    let end = line.find(['{', ' ']).ok_or(FormatError::Missing("value"))?;
    let name = line[..end].to_owned();
    check_name(&name)?;
    let (labels, rest) = match line[end..].strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (BTreeMap::new(), &line[end..]),
    };
    let value = rest
        .strip_prefix(' ')
        .ok_or(FormatError::Missing("blank before the value"))?;
    Ok(Sample {
        name,
        labels,
        value: number(value)?,
    })
}

pub(crate) fn check_name(name: &str) -> Result<(), FormatError> {
    let good = |at: usize, c: char| c.is_ascii_alphabetic() || c == '_' || at > 0 && c.is_ascii_digit();
    let all = !name.is_empty() && name.chars().enumerate().all(|(at, c)| good(at, c));
    if all {
        Ok(())
    } else {
        Err(FormatError::BadName(name.into()))
    }
}

pub(crate) fn number(text: &str) -> Result<f64, FormatError> {
    match text {
        "+Inf" => Ok(f64::INFINITY),
        "NaN" => Ok(f64::NAN),
        _ if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            text.parse().map_err(|_| FormatError::BadNumber(text.into()))
        }
        _ => Err(FormatError::BadNumber(text.into())),
    }
}

fn labels(mut rest: &str) -> Result<(BTreeMap<String, String>, &str), FormatError> {
    let mut all = BTreeMap::new();
    loop {
        let (name, after) = rest
            .split_once("=\"")
            .ok_or(FormatError::Missing("value of a label"))?;
        check_name(name)?;
        let (value, after) = quoted(after)?;
        if all.insert(name.to_owned(), value).is_some() {
            return Err(FormatError::DuplicateLabel(name.into()));
        }
        match after.chars().next() {
            Some(',') => rest = &after[1..],
            Some('}') => return Ok((all, &after[1..])),
            _ => return Err(FormatError::Missing("end of labels")),
        }
    }
}

fn quoted(text: &str) -> Result<(String, &str), FormatError> {
    let (mut value, mut characters) = (String::new(), text.char_indices());
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Ok((value, &text[at + 1..])),
            '\\' => value.push(match characters.next() {
                Some((_, 'n')) => '\n',
                Some((_, c @ ('\\' | '"'))) => c,
                other => return Err(FormatError::BadEscape(other.map(|(_, c)| c))),
            }),
            _ => value.push(character),
        }
    }
    Err(FormatError::Missing("end of a label"))
}
