//! The answers of `pratique review --chain` over a snapshot that `pratique snapshot` took of the server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pratique_harness::Error;
use serde_json::{Value, json};

use super::cases::{Case, OPTIONAL, PluginSet, plain};
use crate::kubectl::Kubectl;
use crate::programs::Programs;

/// The command, and what it knows of the server.
pub(super) struct Review<'a> {
    programs: &'a Programs,
    /// The directory of its files.
    directory: &'a Path,
    snapshot: PathBuf,
    set: PluginSet,
}

/// The users of cases, with their groups.
const USERS: [(&str, &str); 2] = [("admin", "system:masters"), ("dev", "developers")];

impl<'a> Review<'a> {
    /// Takes a snapshot of a server that has a set of plugins.
    pub(super) fn of(
        programs: &'a Programs,
        kubectl: &Kubectl,
        directory: &'a Path,
        set: PluginSet,
    ) -> Result<Self, Error> {
        let kubeconfig = kubectl.kubeconfig(directory.join("administrator.kubeconfig"), "admin-token")?;
        let snapshot = directory.join("snapshot");
        let review = Review {
            programs,
            directory,
            snapshot,
            set,
        };
        let mut command = review.command("snapshot");
        command.arg("--kubeconfig").arg(&kubeconfig).arg("--nodes");
        // A plugin asks what they may do.
        for (user, group) in USERS {
            command.args(["--as", user, "--as-group", group]);
        }
        command.arg(&review.snapshot);
        let output = command.output().map_err(Error::program("pratique"))?;
        if output.status.success() {
            Ok(review)
        } else {
            Err(format!("pratique snapshot: {}", String::from_utf8_lossy(&output.stderr)).into())
        }
    }

    /// The answers to all cases, in the form of the server's.
    pub(super) fn answers(&self, cases: &[Case]) -> Result<Vec<Value>, Error> {
        let mut answers = vec![Value::Null; cases.len()];
        for (user, group) in USERS {
            let of_user = cases.iter().enumerate().filter(|(_, case)| case.user == user);
            let (places, objects): (Vec<usize>, Vec<&Value>) =
                of_user.map(|(place, case)| (place, &case.object)).unzip();
            for line in self.lines(user, group, &objects)? {
                let number = line.pointer("/result/line").and_then(Value::as_u64);
                let index = number.and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
                let found = index.and_then(|index| Some((*places.get(index)?, *objects.get(index)?)));
                if let Some((place, object)) = found
                    && let Some(answer) = answers.get_mut(place)
                {
                    *answer = plain(answer_of(&line, object));
                }
            }
        }
        Ok(answers)
    }

    /// The lines of output about the objects of one user; each object is on the line of its number.
    fn lines(&self, user: &str, group: &str, objects: &[&Value]) -> Result<Vec<Value>, Error> {
        let input = self.directory.join(format!("{user}.ndjson"));
        let text: String = objects.iter().map(|object| format!("{object}\n")).collect();
        fs::write(&input, text).map_err(Error::file(&input))?;
        let mut command = self.command("review");
        command
            .args(["--chain", "--dry-run", "--output", "json"])
            .args(["--as", user, "--as-group", group])
            .arg("--admission-control-config-file")
            .arg(self.directory.join("admission.yaml"))
            .arg("--snapshot")
            .args([&self.snapshot, &input]);
        let output = command.output().map_err(Error::program("pratique"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
        match lines {
            Ok(lines) if !lines.is_empty() => Ok(lines),
            _ => Err(format!(
                "pratique review: {text}{}",
                String::from_utf8_lossy(&output.stderr)
            )
            .into()),
        }
    }

    /// A command for which the same plugins are on as in the server.
    fn command(&self, name: &str) -> Command {
        let mut command = self.programs.pratique();
        command.arg(name);
        let mut enabled = vec!["ServiceAccount"];
        if self.set == PluginSet::All {
            enabled.extend(OPTIONAL);
        }
        command.arg(format!("--enable-admission-plugins={}", enabled.join(",")));
        command
    }
}

/// A line of output in the form of a server's answer. An unchanged object is not repeated.
fn answer_of(line: &Value, given: &Value) -> Value {
    let response = line.get("response").cloned().unwrap_or_default();
    let undecided = line.get("undecided").and_then(Value::as_array);
    let mut answer = match (response.get("allowed"), response.get("status")) {
        _ if undecided.is_some_and(|causes| !causes.is_empty()) => json!({"undecided": undecided}),
        (Some(Value::Bool(true)), _) => {
            json!({"code": 201, "object": line.get("object").unwrap_or(given)})
        }
        (_, status) => {
            let mut reported = status.cloned().unwrap_or_default();
            let code = reported.get("code").cloned();
            if let Some(members) = reported.as_object_mut() {
                members.retain(|name, _| matches!(name.as_str(), "reason" | "message" | "details"));
            }
            json!({"code": code, "status": reported})
        }
    };
    if let (Some(warnings), Some(members)) = (response.get("warnings"), answer.as_object_mut()) {
        members.insert("warnings".to_owned(), warnings.clone());
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_answers() {
        let given = json!({"kind": "Pod"});
        let check = |line: Value, expected: Value| assert_eq!(answer_of(&line, &given), expected);
        check(
            json!({"response": {"allowed": true, "warnings": ["old"]}}),
            json!({"code": 201, "object": given, "warnings": ["old"]}),
        );
        check(
            json!({"response": {"allowed": true}, "object": {"kind": "Pod", "spec": {}}}),
            json!({"code": 201, "object": {"kind": "Pod", "spec": {}}}),
        );
        check(
            json!({"response": {"allowed": false, "status": {"code": 403, "message": "no", "status": "Failure"}}}),
            json!({"code": 403, "status": {"message": "no"}}),
        );
        check(
            json!({"response": {"allowed": false, "status": {"code": 500}}, "undecided": [{"plugin": "LimitRanger"}]}),
            json!({"undecided": [{"plugin": "LimitRanger"}]}),
        );
    }
}
