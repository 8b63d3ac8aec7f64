//! One line of an exposition: a name, labels and a value.

use std::collections::BTreeMap;

/// A sample as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) value: f64,
}

/// Reads a line, or says what is wrong with it.
pub(crate) fn read(line: &str) -> Result<Sample, String> {
    let end = line.find(['{', ' ']).ok_or("no value")?;
    let name = line[..end].to_owned();
    check_name(&name)?;
    let (labels, rest) = match line[end..].strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (BTreeMap::new(), &line[end..]),
    };
    let value = rest.strip_prefix(' ').ok_or("no blank before the value")?;
    Ok(Sample {
        name,
        labels,
        value: number(value)?,
    })
}

pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let good = |at: usize, c: char| c.is_ascii_alphabetic() || c == '_' || at > 0 && c.is_ascii_digit();
    let all = !name.is_empty() && name.chars().enumerate().all(|(at, c)| good(at, c));
    if all {
        Ok(())
    } else {
        Err(format!("bad name {name:?}"))
    }
}

pub(crate) fn number(text: &str) -> Result<f64, String> {
    match text {
        "+Inf" => Ok(f64::INFINITY),
        "NaN" => Ok(f64::NAN),
        _ if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            text.parse().map_err(|_| format!("bad number {text:?}"))
        }
        _ => Err(format!("bad number {text:?}")),
    }
}

fn labels(mut rest: &str) -> Result<(BTreeMap<String, String>, &str), String> {
    let mut all = BTreeMap::new();
    loop {
        let (name, after) = rest.split_once("=\"").ok_or("no value of a label")?;
        check_name(name)?;
        let (value, after) = quoted(after)?;
        if all.insert(name.to_owned(), value).is_some() {
            return Err(format!("label {name} twice"));
        }
        match after.chars().next() {
            Some(',') => rest = &after[1..],
            Some('}') => return Ok((all, &after[1..])),
            _ => return Err("labels end badly".into()),
        }
    }
}

fn quoted(text: &str) -> Result<(String, &str), String> {
    let (mut value, mut characters) = (String::new(), text.char_indices());
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Ok((value, &text[at + 1..])),
            '\\' => value.push(match characters.next() {
                Some((_, 'n')) => '\n',
                Some((_, c @ ('\\' | '"'))) => c,
                other => return Err(format!("bad escape {other:?}")),
            }),
            _ => value.push(character),
        }
    }
    Err("a label without end".into())
}
