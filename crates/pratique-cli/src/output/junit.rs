//! `JUnit` XML.

use std::fmt::Write as _;

use super::text::without_invisible;
use crate::input::standard_input::STDIN_NAME;

/// A suite of cases.
#[derive(Clone, Debug)]
pub(crate) struct JunitSuite {
    pub(crate) name: String,
    /// What is said of all cases.
    pub(crate) properties: Vec<(&'static str, String)>,
    pub(crate) cases: Vec<JunitCase>,
}

/// A case.
#[derive(Clone, Debug)]
pub(crate) struct JunitCase {
    pub(crate) name: String,
    /// The file it is about.
    pub(crate) file: String,
    /// The line, from 1.
    pub(crate) line: Option<u32>,
    pub(crate) seconds: f64,
    pub(crate) outcome: CaseOutcome,
    /// What is told about it besides its outcome, such as warnings; empty if there is nothing.
    pub(crate) output: String,
}

/// The outcome of a case.
#[derive(Clone, Debug)]
pub(crate) enum CaseOutcome {
    /// It passed.
    Passed,
    /// It failed.
    Failed {
        /// The message, on one line.
        message: String,
        /// The whole text.
        text: String,
    },
    /// It was not evaluated, and neither passed nor failed.
    Skipped {
        /// Why, on one line.
        message: String,
    },
    /// It could not be run.
    Error {
        /// The message, on one line.
        message: String,
        /// The whole text.
        text: String,
    },
}

impl CaseOutcome {
    /// The outcome of what failed with a text.
    pub(crate) fn failed(text: &str) -> Self {
        CaseOutcome::Failed {
            message: text.lines().next().unwrap_or_default().to_owned(),
            text: text.to_owned(),
        }
    }
}

/// A document.
#[derive(Clone, Debug)]
pub(crate) struct XmlDocument {
    text: String,
    names_stdin: bool,
}

impl XmlDocument {
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether something that does not pass is of standard input, which is no file of a change.
    pub(super) fn names_stdin(&self) -> bool {
        self.names_stdin
    }
}

/// A document of suites.
pub(crate) fn xml(name: &str, suites: &[JunitSuite]) -> XmlDocument {
    let all = suites.iter().flat_map(|suite| &suite.cases);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"{}\"{}>", escaped(name), counts(all));
    for suite in suites {
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\"{}>",
            escaped(&suite.name),
            counts(suite.cases.iter())
        );
        if !suite.properties.is_empty() {
            out.push_str("    <properties>\n");
            for (name, value) in &suite.properties {
                let value = escaped(value);
                let _ = writeln!(out, "      <property name=\"{name}\" value=\"{value}\"/>");
            }
            out.push_str("    </properties>\n");
        }
        for case in &suite.cases {
            out.push_str(&one(suite, case));
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    let mut cases = suites.iter().flat_map(|suite| &suite.cases);
    let is_of_stdin =
        |case: &JunitCase| case.file == STDIN_NAME && !matches!(case.outcome, CaseOutcome::Passed);
    XmlDocument {
        text: out,
        names_stdin: cases.any(is_of_stdin),
    }
}

fn counts<'c>(cases: impl Iterator<Item = &'c JunitCase> + Clone) -> String {
    let count = |is: fn(&CaseOutcome) -> bool| cases.clone().filter(|case| is(&case.outcome)).count();
    // The sum of nothing would be -0.
    let seconds = cases.clone().fold(0.0, |sum, case| sum + case.seconds);
    format!(
        " tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{seconds:.6}\"",
        cases.clone().count(),
        count(|outcome| matches!(outcome, CaseOutcome::Failed { .. })),
        count(|outcome| matches!(outcome, CaseOutcome::Error { .. })),
        count(|outcome| matches!(outcome, CaseOutcome::Skipped { .. })),
    )
}

fn one(suite: &JunitSuite, case: &JunitCase) -> String {
    let line = case
        .line
        .map(|line| format!(" line=\"{line}\""))
        .unwrap_or_default();
    let mut out = format!(
        "    <testcase name=\"{}\" classname=\"{}\" file=\"{}\"{line} time=\"{:.6}\"",
        escaped(&case.name),
        escaped(&suite.name),
        escaped(&case.file),
        case.seconds
    );
    let children = format!("{}{}", element(&case.outcome), written(&case.output));
    if children.is_empty() {
        out.push_str("/>\n");
    } else {
        let _ = writeln!(out, ">\n{children}    </testcase>");
    }
    out
}

/// The element of an outcome; passing has none.
fn element(outcome: &CaseOutcome) -> String {
    let (element, message, text) = match outcome {
        CaseOutcome::Passed => return String::new(),
        CaseOutcome::Skipped { message } => {
            return format!("      <skipped message=\"{}\"/>\n", escaped(message));
        }
        CaseOutcome::Failed { message, text } => ("failure", message, text),
        CaseOutcome::Error { message, text } => ("error", message, text),
    };
    let (message, text) = (escaped(message), escaped(text));
    format!("      <{element} message=\"{message}\">{text}</{element}>\n")
}

/// The element of what a case printed.
fn written(output: &str) -> String {
    if output.is_empty() {
        return String::new();
    }
    format!("      <system-out>{}</system-out>\n", escaped(output))
}

/// Escapes text for XML, including characters that are invisible or invalid in XML.
fn escaped(text: &str) -> String {
    let visible = without_invisible(text);
    let mut out = String::with_capacity(visible.len());
    let mut characters = visible.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            // CI runners look for commands that begin with two.
            '#' if characters.peek() == Some(&'#') => out.push_str("&#35;"),
            character => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_reported() {
        let case = |name: &str, outcome| JunitCase {
            name: name.to_owned(),
            file: "f.yaml".to_owned(),
            line: Some(3),
            seconds: 0.5,
            outcome,
            output: if name == "c" {
                "warning: <w>".to_owned()
            } else {
                String::new()
            },
        };
        let suite = JunitSuite {
            name: "s".to_owned(),
            properties: vec![("evaluated", "<a>".to_owned())],
            cases: vec![
                case("a", CaseOutcome::Passed),
                case("c", CaseOutcome::Passed),
                case(
                    "d",
                    CaseOutcome::Skipped {
                        message: "no policy".to_owned(),
                    },
                ),
                case(
                    "b",
                    CaseOutcome::Failed {
                        message: "x < \"y\"".to_owned(),
                        text: "1\n2\u{1}\u{fffe}\u{202e}##[x]".to_owned(),
                    },
                ),
            ],
        };
        assert_eq!(
            xml("t", &[suite]).as_str(),
            r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="t" tests="4" failures="1" errors="0" skipped="1" time="2.000000">
  <testsuite name="s" tests="4" failures="1" errors="0" skipped="1" time="2.000000">
    <properties>
      <property name="evaluated" value="&lt;a&gt;"/>
    </properties>
    <testcase name="a" classname="s" file="f.yaml" line="3" time="0.500000"/>
    <testcase name="c" classname="s" file="f.yaml" line="3" time="0.500000">
      <system-out>warning: &lt;w&gt;</system-out>
    </testcase>
    <testcase name="d" classname="s" file="f.yaml" line="3" time="0.500000">
      <skipped message="no policy"/>
    </testcase>
    <testcase name="b" classname="s" file="f.yaml" line="3" time="0.500000">
      <failure message="x &lt; &quot;y&quot;">1&#10;2\u{1}\u{fffe}\u{202e}&#35;#[x]</failure>
    </testcase>
  </testsuite>
</testsuites>
"#
        );
    }
}
