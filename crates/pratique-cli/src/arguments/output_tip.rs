//! How an output is written whose form was guessed.

use std::path::Path;

use clap::ValueEnum;

/// Words of other tools for the text that people read.
const HUMAN: [&str; 6] = ["plain", "pretty", "stdout", "table", "text", "wide"];

/// The formats of reports in a cluster.
const REPORTS: [&str; 2] = ["policyreport", "openreports"];

/// The right form of an output, where it can be told which one is meant.
pub(super) fn right_form<F: ValueEnum>(typed: &str) -> Option<String> {
    let is_format = |word: &str| F::from_str(word, true).is_ok();
    let (head, file) = typed.split_once('=').unwrap_or((typed, ""));
    if head.contains(',') {
        return one_flag_each(typed, is_format);
    }
    if let Some(format) = typed.strip_suffix('=') {
        return is_format(format).then(|| format!("`--output {format}=FILE` writes a file"));
    }
    if let Some((format, file)) = typed.split_once(':') {
        return (is_format(format) && !file.is_empty()).then(|| writes(format, file));
    }
    if is_format("human") && HUMAN.contains(&head) {
        return Some(match file {
            "" => "`--output human` is text for people".to_owned(),
            file => writes("human", file),
        });
    }
    if head == "html" {
        return Some("`pratique scan --report FILE.html` writes a page".to_owned());
    }
    if REPORTS.contains(&head) && !is_format(head) {
        return Some(format!("`pratique scan --output {head}` writes reports"));
    }
    let format = match Path::new(typed).extension()?.to_str()? {
        "log" | "txt" => "human",
        "xml" => "junit",
        "yml" => "yaml",
        extension => extension,
    };
    is_format(format).then(|| writes(format, typed))
}

fn writes(format: &str, file: &str) -> String {
    format!("`--output {format}={file}` writes a file")
}

/// Several outputs in one word, as the flags that they are. One of them is printed.
fn one_flag_each(typed: &str, is_format: impl Fn(&str) -> bool) -> Option<String> {
    let mut is_printed = false;
    let mut flags = Vec::new();
    for part in typed.split(',') {
        let (format, file) = part.split_once('=').unwrap_or((part, ""));
        if !is_format(format) {
            return None;
        }
        flags.push(if file.is_empty() && is_printed {
            format!("--output {format}=out.{format}")
        } else {
            is_printed |= file.is_empty();
            format!("--output {part}")
        });
    }
    Some(format!(
        "each output has a flag of its own: `{}`",
        flags.join(" ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, ValueEnum)]
    enum Format {
        Human,
        Json,
        Sarif,
        Junit,
    }

    #[test]
    fn what_is_meant_is_told() {
        for (typed, expected) in [
            (
                "json,sarif=a.sarif",
                Some("each output has a flag of its own: `--output json --output sarif=a.sarif`"),
            ),
            ("sarif=a,b,json", None),
            (
                "json,sarif,human",
                Some(
                    "each output has a flag of its own: `--output json --output sarif=out.sarif --output human=out.human`",
                ),
            ),
            ("json,xml", None),
            ("sarif=", Some("`--output sarif=FILE` writes a file")),
            ("json:a.json", Some("`--output json=a.json` writes a file")),
            ("out/a.json", Some("`--output json=out/a.json` writes a file")),
            ("a.xml", Some("`--output junit=a.xml` writes a file")),
            ("table", Some("`--output human` is text for people")),
            ("html", Some("`pratique scan --report FILE.html` writes a page")),
            (
                "html=x.html",
                Some("`pratique scan --report FILE.html` writes a page"),
            ),
            ("text=a.txt", Some("`--output human=a.txt` writes a file")),
            (
                "policyreport",
                Some("`pratique scan --output policyreport` writes reports"),
            ),
            (
                "openreports=a.yaml",
                Some("`pratique scan --output openreports` writes reports"),
            ),
            ("a.csv", None),
            ("markdown", None),
        ] {
            assert_eq!(right_form::<Format>(typed).as_deref(), expected, "{typed}");
        }
    }
}
