//! The seed inputs of every run: `corpus/TARGET/NAME`.

use std::io;
use std::path::{Path, PathBuf};

/// The directory of a target's inputs.
#[must_use]
pub fn directory(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

/// The dictionary of tokens for inputs of a target, if there is one.
#[must_use]
pub fn dictionary(target: &str) -> Option<PathBuf> {
    let name = match target {
        "parse" | "check" | "evaluate" => "cel",
        "load" | "decode" | "documents" => "manifests",
        "suite" | "admission_configuration" | "kubeconfig" => "files",
        "review" | "answer" | "objects" | "merge" | "json_patch" | "selectors" => "json",
        "regex" => "regex",
        _ => return None,
    };
    let dictionaries = Path::new(env!("CARGO_MANIFEST_DIR")).join("dictionaries");
    Some(dictionaries.join(format!("{name}.dict")))
}

/// The files of a directory with their contents, by name.
///
/// # Errors
/// When the directory or one of its files cannot be read.
pub fn inputs(directory: &Path) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut inputs = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let content = std::fs::read(&path)?;
        inputs.push((path, content));
    }
    inputs.sort();
    Ok(inputs)
}

/// The tokens of a dictionary in libFuzzer's format: one in quotes on each line, with `\\`, `\"` and `\xAB`.
#[must_use]
pub fn tokens(dictionary: &str) -> Vec<Vec<u8>> {
    let lines = dictionary.lines().map(str::trim);
    let quoted = lines.filter_map(|line| line.split_once('"')?.1.strip_suffix('"'));
    quoted.map(token).collect()
}

fn token(quoted: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = quoted;
    while let Some((plain_text, escape)) = rest.split_once('\\') {
        bytes.extend(plain_text.as_bytes());
        let hex = escape.strip_prefix('x').and_then(|digits| digits.get(..2));
        let code = hex.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        rest = match code {
            Some(code) => {
                bytes.push(code);
                escape.get(3..).unwrap_or_default()
            }
            None => {
                let mut characters = escape.chars();
                bytes.extend(
                    characters
                        .next()
                        .map(|character| character.to_string())
                        .unwrap_or_default()
                        .bytes(),
                );
                characters.as_str()
            }
        };
    }
    bytes.extend(rest.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dictionaries_are_read() {
        let text = "# a comment\n\"plain\"\nnamed=\"a\\\\b\\\"c\"\n\"\\x00\\xffd\"\n";
        let expected: [&[u8]; 3] = [b"plain", b"a\\b\"c", b"\x00\xffd"];
        assert_eq!(tokens(text), expected);
    }
}
