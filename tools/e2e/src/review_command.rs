//! The answers of `pratique review --chain` over a snapshot that `pratique snapshot` took of the server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pratique_harness::ToolError;
use pratique_json as json;
use pratique_objects::ObjectCodec;
use pratique_registry::Scheme as _;
use pratique_schema::FeatureGates;
use pratique_types::GroupVersion;
use serde_json::{Value, json};

use super::answers::{TIME, plain};
use super::kubectl::KubectlUser;
use super::programs::{ProgramPaths, RELEASE_VARIABLE};

/// The command, and what it knows of the server.
pub(super) struct ReviewCommand<'a> {
    programs: &'a ProgramPaths,
    /// The directory of its files.
    directory: &'a Path,
    snapshot: PathBuf,
    /// Flags that say which plugins the server has.
    plugins: Vec<String>,
    /// Flags of reviews alone.
    flags: Vec<String>,
    /// How the server stores objects.
    scheme: ObjectCodec,
}

/// Users with a group each.
pub(super) const ADMINISTRATOR: (&str, &str) = ("admin", "system:masters");
pub(super) const DEVELOPER: (&str, &str) = ("dev", "developers");

impl<'a> ReviewCommand<'a> {
    /// Takes a snapshot of a server; flags say which plugins that has.
    pub(super) fn new(
        programs: &'a ProgramPaths,
        kubectl: &KubectlUser,
        directory: &'a Path,
        plugins: Vec<String>,
    ) -> Result<Self, ToolError> {
        let kubeconfig = kubectl.kubeconfig(directory.join("administrator.kubeconfig"), "admin-token")?;
        let review = ReviewCommand {
            programs,
            directory,
            snapshot: directory.join("snapshot"),
            plugins,
            flags: Vec::new(),
            scheme: ObjectCodec::with_placeholder(TIME).with_gates(FeatureGates::new(programs.release())),
        };
        let mut command = review.command("snapshot");
        command.arg("--kubeconfig").arg(&kubeconfig).arg("--nodes");
        // A plugin asks what they may do.
        for (user, group) in [ADMINISTRATOR, DEVELOPER] {
            command.args(["--as", user, "--as-group", group]);
        }
        command.arg(&review.snapshot);
        let output = command.output().map_err(ToolError::program("pratique"))?;
        if output.status.success() {
            Ok(review)
        } else {
            Err(format!("pratique snapshot: {}", String::from_utf8_lossy(&output.stderr)).into())
        }
    }

    /// The same with another flag of reviews.
    pub(super) fn with_flag(mut self, flag: String) -> Self {
        self.flags.push(flag);
        self
    }

    /// The same with the networks of the server for Services, and the Services that it has.
    pub(super) fn with_networks(self, kubectl: &KubectlUser) -> Result<Self, ToolError> {
        let path = self.directory.join("networks.json");
        let objects = kubectl.json(&["get", "servicecidrs,services", "--all-namespaces"])?;
        fs::write(&path, objects.to_string()).map_err(ToolError::file(&path))?;
        let flag = format!("--objects={}", path.display());
        Ok(self
            .with_flag(flag)
            .with_flag("--none=servicecidrs,services".to_owned()))
    }

    /// The answers to objects that a user creates, in the form of the server's.
    pub(super) fn answers(&self, user: (&str, &str), objects: &[&Value]) -> Result<Vec<Value>, ToolError> {
        let mut answers = vec![Value::Null; objects.len()];
        for line in self.lines(user, objects)? {
            let number = line.pointer("/result/line").and_then(Value::as_u64);
            let index = number.and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
            let place = index.and_then(|index| Some((answers.get_mut(index)?, *objects.get(index)?)));
            if let Some((answer, object)) = place {
                *answer = plain(self.read_back(answer_of(&line, object))?, object);
            }
        }
        Ok(answers)
    }

    /// The lines of output about the objects of one user; each object is on the line of its number.
    fn lines(&self, (user, group): (&str, &str), objects: &[&Value]) -> Result<Vec<Value>, ToolError> {
        let input = self.directory.join(format!("{user}.ndjson"));
        let text: String = objects.iter().map(|object| format!("{object}\n")).collect();
        fs::write(&input, text).map_err(ToolError::file(&input))?;
        let mut command = self.command("review");
        command
            .args(["--chain", "--expand=off", "--dry-run", "--output", "json"])
            // The tokens of the server have the name as uid, too.
            .args(["--as", user, "--as-uid", user, "--as-group", group])
            .args(&self.flags)
            .arg("--snapshot")
            .args([&self.snapshot, &input]);
        let output = command.output().map_err(ToolError::program("pratique"))?;
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

    /// An answer with its object as a server answers it, which is as it was stored: without empty lists. The command tells what
    /// validating admission sees.
    fn read_back(&self, mut answer: Value) -> Result<Value, ToolError> {
        let Some(object) = answer.get_mut("object") else {
            return Ok(answer);
        };
        let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
        let version = GroupVersion::parse(text("apiVersion")).map_err(|error| error.to_string())?;
        let kind = version.with_kind(text("kind"));
        let value = json::Value::try_from(&*object).map_err(|error| format!("{object}: {error}"))?;
        let stored = self.scheme.through_storage(&kind, &value);
        *object = Value::from(stored.map_err(|status| status.message)?);
        Ok(answer)
    }

    /// A command for which the same plugins are on as in the server. The snapshot says its release.
    fn command(&self, name: &str) -> Command {
        let mut command = self.programs.pratique();
        command.env_remove(RELEASE_VARIABLE).arg(name).args(&self.plugins);
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
