//! A baseline: the findings of an earlier run, which are known and do not fail.

use std::collections::BTreeMap;
use std::path::Path;

use pratique_manifest::path_text;
use pratique_report::Action;
use pratique_state::API_VERSION;
use serde::{Deserialize, Serialize};

use super::acceptance_error::AcceptanceError;
use super::finding_key::FindingKey;
use crate::destination::{self, FileReaders};
use crate::exit::CliError;
use crate::input::permitted_paths::read_kept;
use crate::output::counted_nouns::{count_alike, counted, first_names, noun};
use crate::output::json;
use crate::output::notice::{BASELINE_EXCEEDED, BASELINE_GONE, InputNotice};

/// The kind of the file.
const KIND: &str = "Baseline";
/// The largest file, in bytes.
const LARGEST: u64 = 256 << 20;
/// How many findings are named in a message.
const NAMED: usize = 5;

/// The findings of a baseline, or of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownFindings {
    counts: BTreeMap<FindingKey, usize>,
}

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct JsonBaseline {
    api_version: String,
    kind: String,
    command: String,
    findings: Vec<JsonFinding>,
}

/// A finding, and how often it was there.
#[derive(Serialize, Deserialize)]
struct JsonFinding {
    #[serde(flatten)]
    key: FindingKey,
    /// The place of a validation in its policy, by which baselines once knew it.
    #[serde(default, skip_serializing)]
    validation: Option<usize>,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    count: usize,
}

const fn one() -> usize {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
fn is_one(count: &usize) -> bool {
    *count == 1
}

/// How a run differs from a baseline.
#[derive(Clone, Debug, Default)]
pub(super) struct BaselineComparison {
    /// Findings that are no more.
    gone: Vec<FindingKey>,
    /// Findings of which there are more than before.
    exceeded: Vec<FindingKey>,
}

impl KnownFindings {
    /// Reads those of a command.
    pub(super) fn read(path: &Path, command: &str) -> Result<Self, CliError> {
        let content = read_kept(path, LARGEST).map_err(|error| CliError::unread(path, error))?;
        let faulty = |why: String| {
            CliError::Acceptance(AcceptanceError::NoBaseline {
                path: path_text(path),
                why,
            })
        };
        let baseline: JsonBaseline =
            serde_json::from_slice(&content).map_err(|error| faulty(error.to_string()))?;
        let JsonBaseline {
            api_version,
            kind,
            command: of,
            findings,
        } = baseline;
        if (api_version.as_str(), kind.as_str()) != (API_VERSION, KIND) {
            return Err(faulty(format!(
                "expected a {KIND} of {API_VERSION}, and it is a {kind} of {api_version}"
            )));
        }
        if of != command {
            return Err(faulty(format!(
                "it has the findings of `pratique {of}`, which are not those of `pratique {command}`"
            )));
        }
        if findings.iter().any(|finding| finding.validation.is_some()) {
            return Err(faulty(
                "it knows validations by their places, which change with their policy: --write-baseline writes it anew".to_owned(),
            ));
        }
        let mut known = KnownFindings::default();
        findings
            .into_iter()
            .for_each(|finding| known.add(finding.key, finding.count));
        Ok(known)
    }

    /// Writes them, in an order in which a change of the file shows what changed.
    pub(super) fn write(&self, path: &Path, command: &str) -> Result<(), CliError> {
        let findings = self.counts.iter().map(|(key, count)| JsonFinding {
            key: key.clone(),
            validation: None,
            count: *count,
        });
        let baseline = JsonBaseline {
            api_version: API_VERSION.to_owned(),
            kind: KIND.to_owned(),
            command: command.to_owned(),
            findings: findings.collect(),
        };
        let text = json::pretty(&baseline).map_err(|error| CliError::Write(error.into()))?;
        destination::write(path, &String::from_utf8_lossy(&text), FileReaders::Usual)
    }

    /// Adds a finding.
    pub(super) fn add(&mut self, key: FindingKey, count: usize) {
        let known = self.counts.entry(key).or_default();
        *known = known.saturating_add(count);
    }

    /// Whether a finding is among them.
    pub(super) fn has(&self, key: &FindingKey) -> bool {
        self.counts.contains_key(key)
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.counts.values().sum()
    }

    /// Adds those of a later part.
    pub(super) fn merge(&mut self, other: KnownFindings) {
        for (key, count) in other.counts {
            self.add(key, count);
        }
    }

    /// How the findings of a run differ from these, without and with those that exceptions accept. Of a finding that the run
    /// may have missed, `is_evaluated` is false: it is not known to be gone.
    pub(super) fn compare(
        &self,
        run: &KnownFindings,
        excepted: &KnownFindings,
        is_evaluated: impl Fn(&FindingKey) -> bool,
    ) -> BaselineComparison {
        let count = |of: &KnownFindings, key| of.counts.get(key).copied().unwrap_or_default();
        let mut comparison = BaselineComparison::default();
        for (key, known_count) in &self.counts {
            let count_now = count(run, key);
            if count_now > *known_count {
                comparison.exceeded.push(key.clone());
            } else if count_now + count(excepted, key) < *known_count && is_evaluated(key) {
                comparison.gone.push(key.clone());
            }
        }
        comparison
    }
}

impl BaselineComparison {
    /// Whether there are more findings that follow in an action.
    pub(super) fn exceeds(&self, action: Action) -> bool {
        self.exceeded.iter().any(|key| key.action == action)
    }

    /// What is told of it.
    pub(super) fn notices(&self, path: &str) -> Vec<InputNotice> {
        let names = |keys: &[FindingKey]| {
            let names = keys.iter().map(FindingKey::describe);
            let told = count_alike(names).into_iter().map(|(name, count)| match count {
                1 => name,
                count => format!("{name} ({count})"),
            });
            first_names(&told.collect::<Vec<_>>(), NAMED)
        };
        let gone = (!self.gone.is_empty()).then(|| {
            let message = format!(
                "{} of the baseline {} gone, or there are fewer: {}; --write-baseline leaves out what is gone",
                counted(self.gone.len(), "finding", "findings"),
                noun(self.gone.len(), "is", "are"),
                names(&self.gone)
            );
            InputNotice::new(BASELINE_GONE, path, message)
        });
        let exceeded = (!self.exceeded.is_empty()).then(|| {
            let message = format!(
                "{} the baseline has, but not as often: {}",
                counted(self.exceeded.len(), "finding", "findings"),
                names(&self.exceeded)
            );
            InputNotice::new(BASELINE_EXCEEDED, path, message)
        });
        gone.into_iter().chain(exceeded).collect()
    }
}
