//! The rules of `deny.toml`, parsed by its layout: lists with one entry per line.

use std::collections::BTreeSet;

use pratique_harness::ToolError;

/// The allowed dependencies.
#[derive(Debug)]
pub(super) struct Rules {
    /// The licences.
    pub(super) licences: BTreeSet<String>,
    /// Versions beside others, as `name@version`.
    pub(super) skipped: BTreeSet<String>,
}

impl Rules {
    /// Reads the file.
    pub(super) fn read(text: &str) -> Result<Self, ToolError> {
        let licences = list(text, "licenses", "allow")?;
        let skipped = list(text, "bans", "skip")?;
        let strict = [
            "[bans]\nmultiple-versions = \"deny\"",
            "unknown-registry = \"deny\"",
            "unknown-git = \"deny\"",
        ];
        match strict.iter().find(|line| !text.contains(**line)) {
            Some(missing) => Err(format!("deny.toml does not say {missing:?}").into()),
            None => Ok(Rules { licences, skipped }),
        }
    }
}

/// The first text in quotes on each line of a list.
fn list(text: &str, section: &str, name: &str) -> Result<BTreeSet<String>, ToolError> {
    let missing = || format!("deny.toml has no list {name} in [{section}]");
    let (_, rest) = text.split_once(&format!("\n[{section}]\n")).ok_or_else(missing)?;
    let section = rest.split_once("\n[").map_or(rest, |(section, _)| section);
    let (_, rest) = section.split_once(&format!("{name} = [\n")).ok_or_else(missing)?;
    let (lines, _) = rest.split_once("\n]").ok_or_else(missing)?;
    let quoted = |line: &str| Some(line.split_once('"')?.1.split_once('"')?.0.to_owned());
    let entries: Option<BTreeSet<String>> = lines.lines().map(quoted).collect();
    entries.ok_or_else(|| ToolError::from(format!("deny.toml has a line in {name} that is not read")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = r#"
[licenses]
allow = [
    "MIT",
    "ISC",
]

[bans]
multiple-versions = "deny"
skip = [
    { crate = "a@1.0.0", reason = "b" },
]

[sources]
unknown-registry = "deny"
unknown-git = "deny"
"#;

    #[test]
    fn rules_are_read() {
        let rules = Rules::read(RULES).unwrap();
        assert_eq!(rules.licences, ["ISC", "MIT"].map(str::to_owned).into());
        assert_eq!(rules.skipped, ["a@1.0.0".to_owned()].into());
    }

    #[test]
    fn rules_that_allow_all_are_none() {
        for (line, instead) in [
            ("unknown-git = \"deny\"", "unknown-git = \"allow\""),
            ("multiple-versions = \"deny\"", "multiple-versions = \"warn\""),
            ("[licenses]", "[other]"),
            ("    \"MIT\",", "    MIT,"),
        ] {
            assert!(Rules::read(&RULES.replace(line, instead)).is_err(), "{instead}");
        }
    }
}
