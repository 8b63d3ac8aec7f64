//! The project's golden cases, and the answers of releases that are added to them.
//!
//! A case says of which releases its answer is: `kubernetesVersions`, and without it of the latest one. Where releases answer
//! otherwise, `answers` has what each group of them says. A file has a case on each line, so that what is recorded changes the lines
//! of its cases alone.

use std::fs;
use std::path::PathBuf;

use pratique_harness::{ToolError, entries, workspace};
use pratique_schema::Release;
use serde_json::{Map, Value, json};

use super::release::minor_of;

/// The golden cases of a suite.
pub(super) fn cases(suite: &str) -> Result<Vec<Value>, ToolError> {
    let files = GoldenFile::list(suite)?;
    Ok(files.into_iter().flat_map(|file| file.cases).collect())
}

/// A file of cases.
pub(super) struct GoldenFile {
    path: PathBuf,
    /// The text of each case.
    lines: Vec<String>,
    pub(super) cases: Vec<Value>,
}

/// What is known of a release's answer to a case.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum KnownAnswer {
    /// The case has it.
    Recorded,
    /// The case has another one for the release.
    Otherwise,
    /// The case has none for the release.
    Missing,
}

impl GoldenFile {
    /// The files of a suite.
    pub(super) fn list(suite: &str) -> Result<Vec<Self>, ToolError> {
        let directory = workspace::root().join("testdata").join(suite);
        let files = entries(&directory)?.into_iter();
        let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
        files.map(GoldenFile::read).collect()
    }

    fn read(path: PathBuf) -> Result<Self, ToolError> {
        let text = fs::read_to_string(&path).map_err(ToolError::file(&path))?;
        let not_so = |why: &str| ToolError::from(format!("{}: {why}", path.display()));
        let body = text
            .trim()
            .strip_prefix("[\n")
            .and_then(|text| text.strip_suffix("\n]"));
        let body = body.ok_or_else(|| not_so("its brackets have no lines of their own"))?;
        let lines: Vec<String> = body
            .lines()
            .map(|line| line.strip_suffix(',').unwrap_or(line).to_owned())
            .collect();
        let cases = lines.iter().map(|line| {
            let mut deserializer = serde_json::Deserializer::from_str(line);
            deserializer.disable_recursion_limit();
            serde::Deserialize::deserialize(&mut deserializer)
                .map_err(|error| not_so(&format!("a line is no case: {error}")))
        });
        let cases = cases.collect::<Result<_, ToolError>>()?;
        Ok(GoldenFile { path, lines, cases })
    }

    /// Writes what was added.
    pub(super) fn write(&self) -> Result<(), ToolError> {
        let text = format!("[\n{}\n]\n", self.lines.join(",\n"));
        fs::write(&self.path, text).map_err(ToolError::file(&self.path))
    }

    /// What a case has of a release's answer.
    pub(super) fn known_answer(
        &self,
        index: usize,
        minor: &str,
        is_same: &dyn Fn(&Value) -> bool,
    ) -> KnownAnswer {
        let groups = self.cases.get(index).map(groups).unwrap_or_default();
        match groups.iter().find(|group| group.has(minor)) {
            Some(group) if is_same(&group.expect) => KnownAnswer::Recorded,
            Some(_) => KnownAnswer::Otherwise,
            None => KnownAnswer::Missing,
        }
    }

    /// Adds a release's answer to a case that has none of it.
    pub(super) fn add(
        &mut self,
        index: usize,
        minor: &str,
        expectation: Value,
        is_same: &dyn Fn(&Value) -> bool,
    ) {
        let (Some(case), Some(line)) = (self.cases.get_mut(index), self.lines.get_mut(index)) else {
            return;
        };
        let mut groups = groups(case);
        match groups.iter_mut().find(|group| is_same(&group.expect)) {
            Some(group) => group.minors.push(minor.to_owned()),
            None => groups.push(AnswerGroup {
                minors: vec![minor.to_owned()],
                expect: expectation,
            }),
        }
        for group in &mut groups {
            // All minor versions have two digits.
            group.minors.sort_unstable();
        }
        groups.sort_by(|one, other| one.minors.cmp(&other.minors));
        let members = match groups.as_slice() {
            // The text of an answer stays as it was written; a new case has none.
            [group] if case.get("expect").is_some() => vec![("kubernetesVersions", json!(group.minors))],
            [group] => vec![
                ("kubernetesVersions", json!(group.minors)),
                ("expect", group.expect.clone()),
            ],
            groups => {
                let answers = groups
                    .iter()
                    .map(|group| json!({"kubernetesVersions": group.minors, "expect": group.expect}));
                vec![("answers", answers.collect())]
            }
        };
        *line = with_members(line, &members, groups.len() > 1);
        if let Some(own) = case.as_object_mut() {
            if groups.len() > 1 {
                own.remove("kubernetesVersions");
                own.remove("expect");
            }
            own.extend(members.into_iter().map(|(name, value)| (name.to_owned(), value)));
        }
    }
}

/// Releases that answer a case alike.
struct AnswerGroup {
    minors: Vec<String>,
    expect: Value,
}

impl AnswerGroup {
    fn has(&self, minor: &str) -> bool {
        self.minors.iter().any(|own| own == minor)
    }

    fn read(answer: &Map<String, Value>) -> Option<Self> {
        let expect = answer.get("expect")?.clone();
        let minors = match answer.get("kubernetesVersions").and_then(Value::as_array) {
            Some(versions) => versions
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            None => vec![minor_of(Release::latest())],
        };
        Some(AnswerGroup { minors, expect })
    }
}

/// The answers of a case.
fn groups(case: &Value) -> Vec<AnswerGroup> {
    match case.get("answers").and_then(Value::as_array) {
        Some(answers) => answers
            .iter()
            .filter_map(|answer| AnswerGroup::read(answer.as_object()?))
            .collect(),
        None => case.as_object().and_then(AnswerGroup::read).into_iter().collect(),
    }
}

/// The text of a case with other members, in the order that it has: numbers and the order of names stay as they were written.
fn with_members(line: &str, members: &[(&str, Value)], has_answers: bool) -> String {
    let mut written = Vec::new();
    let mut left: Vec<&(&str, Value)> = members.iter().collect();
    for (name, text) in split_members(line) {
        if has_answers && matches!(name, "kubernetesVersions" | "expect") {
            continue;
        }
        match left.iter().position(|(other, _)| *other == name) {
            Some(place) => {
                let (_, value) = left.remove(place);
                written.push(format!("{}:{value}", json!(name)));
            }
            None => written.push(text.to_owned()),
        }
    }
    written.extend(
        left.iter()
            .map(|(name, value)| format!("{}:{value}", json!(name))),
    );
    format!("{{{}}}", written.join(","))
}

/// The members of an object's text, each with its name and its own text: those of valid JSON.
fn split_members(text: &str) -> Vec<(&str, &str)> {
    let inner = text.trim().trim_start_matches('{');
    let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
    let mut start = 0;
    let mut members = Vec::new();
    for (at, byte) in inner.bytes().enumerate() {
        match (in_text, byte) {
            (true, _) if is_escaped => is_escaped = false,
            (true, b'\\') => is_escaped = true,
            (true, b'"') => in_text = false,
            (true, _) => {}
            (false, b'"') => in_text = true,
            (false, b'{' | b'[') => depth += 1,
            (false, b',') if depth == 0 => {
                members.push(inner.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            (false, b'}' | b']') if depth == 0 => {
                members.push(inner.get(start..at).unwrap_or_default());
                break;
            }
            (false, b'}' | b']') => depth -= 1,
            (false, _) => {}
        }
    }
    let named = members.into_iter().filter_map(|member| {
        let member = member.trim();
        let (name, _) = member.strip_prefix('"')?.split_once('"')?;
        Some((name, member))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(line: &str) -> GoldenFile {
        GoldenFile {
            path: PathBuf::new(),
            lines: vec![line.to_owned()],
            cases: vec![serde_json::from_str(line).unwrap()],
        }
    }

    #[test]
    fn an_answer_that_is_there_gets_the_release() {
        let mut file = file(r#"{"name": "a, \"b\"", "z": 1.50, "expect": {"x": [1, "}"]}, "b": {}}"#);
        let is_same = |expect: &Value| *expect == json!({"x": [1, "}"]});
        assert_eq!(file.known_answer(0, "1.36", &is_same), KnownAnswer::Missing);
        file.add(0, "1.36", json!(null), &is_same);
        let latest = minor_of(Release::latest());
        assert_eq!(
            file.lines[0],
            format!(
                r#"{{"name": "a, \"b\"","z": 1.50,"expect": {{"x": [1, "}}"]}},"b": {{}},"kubernetesVersions":["1.36","{latest}"]}}"#
            )
        );
        assert_eq!(file.known_answer(0, "1.36", &is_same), KnownAnswer::Recorded);
        assert_eq!(file.known_answer(0, &latest, &|_| false), KnownAnswer::Otherwise);
    }

    #[test]
    fn a_new_case_gets_its_answer() {
        let mut file = file(r#"{"name":"a","b":{}}"#);
        assert_eq!(file.known_answer(0, "1.36", &|_| true), KnownAnswer::Missing);
        file.add(0, "1.36", json!({"x": 1}), &|_| true);
        assert_eq!(
            file.lines[0],
            r#"{"name":"a","b":{},"kubernetesVersions":["1.36"],"expect":{"x":1}}"#
        );
        assert_eq!(file.known_answer(0, "1.36", &|_| true), KnownAnswer::Recorded);
    }

    #[test]
    fn another_answer_has_a_group_of_its_own() {
        let mut file = file(r#"{"kubernetesVersions":["1.37"],"name":"a","expect":1}"#);
        file.add(0, "1.35", json!(2), &|expect| *expect == json!(2));
        file.add(0, "1.36", json!(2), &|expect| *expect == json!(2));
        let answers = json!([{"kubernetesVersions": ["1.35", "1.36"], "expect": 2},
            {"kubernetesVersions": ["1.37"], "expect": 1}]);
        assert_eq!(file.lines[0], format!(r#"{{"name":"a","answers":{answers}}}"#));
        assert_eq!(file.cases[0], json!({"name": "a", "answers": answers}));
    }

    #[test]
    fn all_golden_cases_are_lines() {
        for suite in ["cel", "plugins", "policy", "validation"] {
            assert!(!cases(suite).unwrap().is_empty(), "{suite}");
        }
    }
}
