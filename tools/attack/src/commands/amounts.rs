//! Inputs that have very many parts, or no end.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Duration;

use super::{AttackScale, RepeatedInput, run, run_with, write};
use pratique_harness::ToolError;

const POLICIES: &str = include_str!("../policies.yaml");

/// Hundreds of thousands of objects: memory does not grow with their number.
pub(super) fn objects(program: &Path, folder: &Path, scale: AttackScale) -> Result<String, ToolError> {
    write(folder, "good/policies.yaml", POLICIES)?;
    let path = folder.join("objects.yaml");
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = BufWriter::new(File::create(&path).map_err(failed)?);
    for index in 0..scale.size {
        writeln!(
            file,
            "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: pod-{index}, namespace: shop}}, spec: {{containers: [{{name: a, image: b}}]}}}}"
        )
        .map_err(failed)?;
    }
    file.flush().map_err(failed)?;
    let arguments = ["review", "objects.yaml", "--manifests", "good", "--explain"];
    let outcome = run(program, folder, &arguments)?;
    if outcome.stdout.matches("pod-").count() >= scale.size {
        Ok(outcome.summary())
    } else {
        Err(format!("not all objects were told of: {}", outcome.summary()).into())
    }
}

/// How much of a stream a command reads, and the most memory that it may have for it: less than the stream.
const STREAM: usize = 128 << 20;
const STREAM_MEMORY: u64 = 100 << 20;

/// Standard input that goes on for ever is read up to a limit, whatever comes; objects that are reviewed as they come are
/// not kept.
pub(super) fn endless(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    write(folder, "good/policies.yaml", POLICIES)?;
    let pod = "---\n{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {containers: [{name: a, image: b}]}}\n";
    let values = [
        vec![0; 1 << 16],
        vec![b' '; 1 << 16],
        vec![b'x'; 1 << 16],
        b"{\"a\": [".repeat(8000),
    ];
    let streams = [pod.repeat(500).into_bytes(), POLICIES.repeat(30).into_bytes()];
    let mut results = Vec::new();
    let check = &["check", "-"][..];
    let review = &["review", "-", "--manifests", "good"][..];
    let of_check = values.iter().chain(&streams).map(|bytes| (check, bytes));
    for (arguments, bytes) in of_check.chain(values.iter().map(|bytes| (review, bytes))) {
        let input = RepeatedInput {
            bytes: bytes.clone(),
            times: usize::MAX,
        };
        let outcome = run_with(program, folder, arguments, Some(input))?;
        let first: String = String::from_utf8_lossy(bytes).chars().take(8).collect();
        let summary = outcome
            .refused()
            .map_err(|error| format!("{arguments:?} of {first:?}: {error}"))?;
        results.push(summary);
    }
    for bytes in streams {
        let times = STREAM / bytes.len();
        let outcome = run_with(program, folder, review, Some(RepeatedInput { bytes, times }))?;
        let summary = outcome.summary();
        if outcome.memory << 10 > STREAM_MEMORY {
            return Err(summary.into());
        }
        results.push(summary);
    }
    results.dedup();
    Ok(results.join("\n"))
}

/// A suite as large as is read: all of its tests are run.
pub(super) fn tests(program: &Path, folder: &Path, scale: AttackScale) -> Result<String, ToolError> {
    write(folder, "policies.yaml", POLICIES)?;
    let mut suite =
        "apiVersion: pratique/v1alpha1\nkind: Suite\nmetadata: {name: many}\npolicies: [policies.yaml]\ntests:\n".to_owned();
    for index in 0..scale.size {
        suite.push_str(&format!(
            "- {{name: t{index}, object: {{apiVersion: v1, kind: Pod, metadata: {{name: a, namespace: shop}}, spec: {{containers: [{{name: a, image: b}}]}}}}, expect: allowed}}\n"
        ));
    }
    write(folder, "suite.yaml", &suite)?;
    let outcome = run(program, folder, &["test", "suite.yaml"])?;
    let summary = outcome.summary();
    if outcome.status.success() && outcome.stdout.contains(&scale.size.to_string()) {
        Ok(format!("{} tests: {summary}", scale.size))
    } else {
        Err(format!(
            "{} tests: {summary}; {}",
            scale.size,
            outcome.stdout.chars().take(300).collect::<String>()
        )
        .into())
    }
}

/// A message of an editor that says it is a terabyte, and one that ends early.
pub(super) fn messages(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    let mut results = Vec::new();
    for header in [
        "Content-Length: 999999999999",
        "Content-Length: 60000000",
        "Content-Length: -1",
    ] {
        let input = RepeatedInput {
            bytes: format!("{header}\r\n\r\n{{}}").into_bytes(),
            times: 1,
        };
        let result = run_with(program, folder, &["lsp"], Some(input))?;
        if result.memory << 10 > STREAM_MEMORY {
            return Err(format!("{header}: {}", result.summary()).into());
        }
        results.push(result.refused()?);
    }
    Ok(results.join("\n"))
}

/// A list of a project file with thousands of equal entries costs what one of them does.
pub(super) fn entries(program: &Path, folder: &Path, scale: AttackScale) -> Result<String, ToolError> {
    write(folder, "policies.yaml", POLICIES)?;
    write(
        folder,
        "pod.yaml",
        "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {containers: [{name: a, image: b}]}}\n",
    )?;
    let mut took = Vec::new();
    for count in [1, 4000] {
        let policies = ["policies.yaml"; 4000]
            .get(..count)
            .unwrap_or_default()
            .join(", ");
        let file = format!("apiVersion: pratique/v1alpha1\nkind: Configuration\npolicies: [{policies}]\n");
        write(folder, "pratique.yaml", &file)?;
        let result = run(program, folder, &["review", "pod.yaml"])?;
        if result.status.code() != Some(0) {
            return Err(format!("{count} entries: {}", result.summary()).into());
        }
        took.push(result.took);
    }
    let text = format!("1 and 4000 equal entries: {took:.1?}");
    let most = if scale.measures_time {
        Duration::from_secs(1)
    } else {
        Duration::from_secs(30)
    };
    match took.as_slice() {
        [one, many] if *many < *one * 3 + most => Ok(text),
        _ => Err(text.into()),
    }
}
