//! What `--feature-gates` sets, with the errors of kube-apiserver.
// Upstream: component-base/featuregate/feature_gate.go and component-base/compatibility/registry.go

use std::collections::BTreeMap;

use pratique_gotext::strconv::{NumberError, parse_bool};
use pratique_types::aggregate;

use super::{FeatureGate, GateStage};
use crate::Release;

/// The state of each feature gate of a server.
///
/// ```
/// use pratique_schema::{FeatureGates, Release};
///
/// let gates = FeatureGates::parse(Release::latest(), "AllBeta=false,ImageVolume=true")?;
/// assert!(gates.is_on("ImageVolume") && !gates.is_on("ManifestBasedAdmissionControlConfig"));
///
/// let refused = FeatureGates::parse(Release::latest(), "ImageVolume=false").unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "cannot set feature gate ImageVolume to false, feature is locked to true"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureGates {
    release: &'static Release,
    /// A bit for each gate of the release that is not as by default.
    changed: [u64; WORDS],
}

/// There are some 250 gates, and each release has a dozen more.
const WORDS: usize = 8;

/// Why a server does not start with its feature gates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeatureGatesError {
    /// A gate without a value.
    #[error("missing bool value for {0}")]
    MissingValue(String),
    /// A value that is no boolean.
    #[error("invalid value of {name}={value}, err: {cause}")]
    InvalidValue {
        /// The gate's name.
        name: String,
        /// The value.
        value: String,
        /// Why it is no boolean.
        cause: NumberError,
    },
    /// The release has no such gate.
    #[error("unrecognized feature gate: {0}")]
    Unknown(String),
    /// Gates that are set to another state than the one that they are locked to.
    #[error("{}", locked_text(.0))]
    Locked(Vec<(&'static str, bool)>),
    /// Gates that are on, with those that they need and that are off.
    #[error("{}", dependency_text(.0))]
    Dependencies(Vec<(&'static str, Vec<&'static str>)>),
    /// A component that the server has not.
    #[error("component not registered: {0}")]
    UnknownComponent(String),
    /// Gates with a component beside some without.
    #[error("set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use")]
    MixedPrefixes,
}

/// The component whose gates these are.
const COMPONENT: &str = "kube";

/// The gates that set all others of a stage which are not set themselves.
const OF_STAGES: [(&str, GateStage); 2] = [("AllAlpha", GateStage::Alpha), ("AllBeta", GateStage::Beta)];

impl FeatureGates {
    /// The gates of a release, by default.
    pub fn new(release: &'static Release) -> Self {
        FeatureGates {
            release,
            changed: [0; WORDS],
        }
    }

    /// Reads the value of `--feature-gates`: `NAME=true|false`, separated by commas. Several values of the flag are one, with
    /// commas between them.
    ///
    /// The server finds errors in no particular order. Here a gate that is unknown comes before others, which are sorted.
    ///
    /// # Errors
    /// That of a server of the release.
    pub fn parse(release: &'static Release, text: &str) -> Result<Self, FeatureGatesError> {
        let mut named = BTreeMap::new();
        for (name, is_on) in read(text)? {
            let gate = release.gates().get(&name);
            let gate = gate.ok_or(FeatureGatesError::Unknown(name))?;
            named.insert(gate.name, (gate, is_on));
        }
        let locked = named
            .values()
            .filter(|(gate, is_on)| gate.is_locked && gate.is_on != *is_on);
        let locked: Vec<_> = locked.map(|(gate, _)| (gate.name, gate.is_on)).collect();
        if !locked.is_empty() {
            return Err(FeatureGatesError::Locked(locked));
        }
        let mut gates = FeatureGates::new(release);
        for (all, stage) in OF_STAGES {
            if let Some((_, is_on)) = named.get(all) {
                gates.set_stage(stage, *is_on);
            }
        }
        for (name, (_, is_on)) in &named {
            gates = gates.with(name, *is_on);
        }
        gates.check_dependencies()?;
        Ok(gates)
    }

    /// The release whose gates these are.
    pub fn release(&self) -> &'static Release {
        self.release
    }

    /// Whether a gate is on. One that the release does not have is off.
    pub fn is_on(&self, name: &str) -> bool {
        let place = self.release.gates().find(name);
        place.is_some_and(|(position, gate)| gate.is_on != self.is_changed(position))
    }

    /// The gates that are not as by default.
    pub fn changed(&self) -> impl Iterator<Item = &'static FeatureGate> {
        let gates = *self;
        let all = self.release.gates().iter().enumerate();
        all.filter(move |(position, _)| gates.is_changed(*position))
            .map(|(_, gate)| gate)
    }

    /// Whether static manifests are read, and names that end in `.static.k8s.io` belong to them.
    pub fn reads_manifests(&self) -> bool {
        self.is_on("ManifestBasedAdmissionControlConfig")
    }

    /// Whether webhooks do not see the reviews of users and permissions.
    pub fn excludes_virtual_resources(&self) -> bool {
        self.is_on("ExcludeAdmissionWebhookVirtualResources")
    }

    /// Sets a gate without asking whether a server would, for tests of what depends on it. One that the release does not have
    /// stays off.
    #[must_use]
    pub fn with(mut self, name: &str, is_on: bool) -> Self {
        if let Some((position, gate)) = self.release.gates().find(name)
            && let Some(word) = self.changed.get_mut(position / 64)
        {
            let bit = 1 << (position % 64);
            if gate.is_on == is_on {
                *word &= !bit;
            } else {
                *word |= bit;
            }
        }
        self
    }

    fn is_changed(&self, position: usize) -> bool {
        let word = self.changed.get(position / 64).copied().unwrap_or_default();
        word >> (position % 64) & 1 == 1
    }

    /// Sets all gates of a stage, but for those that do so themselves.
    fn set_stage(&mut self, stage: GateStage, is_on: bool) {
        let gates = self.release.gates().iter().filter(|gate| gate.stage == stage);
        for gate in gates.filter(|gate| !OF_STAGES.iter().any(|(all, _)| *all == gate.name)) {
            *self = self.with(gate.name, is_on);
        }
    }

    fn check_dependencies(&self) -> Result<(), FeatureGatesError> {
        let on = self.release.gates().iter().filter(|gate| self.is_on(gate.name));
        let missing = on.filter_map(|gate| {
            let needs = gate.needs.iter().copied();
            let off: Vec<_> = needs.filter(|name| !self.is_on(name)).collect();
            (!off.is_empty()).then_some((gate.name, off))
        });
        let missing: Vec<_> = missing.collect();
        if missing.is_empty() {
            Ok(())
        } else {
            Err(FeatureGatesError::Dependencies(missing))
        }
    }
}

impl Default for FeatureGates {
    fn default() -> Self {
        FeatureGates::new(Release::latest())
    }
}

/// The gates of a flag; the last value of a gate counts.
// Upstream: component-base/cli/flag/colon_separated_multimap_string_string.go, Set
fn read(text: &str) -> Result<Vec<(String, bool)>, FeatureGatesError> {
    let pairs = text.split(',').filter(|pair| !pair.is_empty());
    let pairs: Vec<(&str, &str)> = pairs
        .map(|pair| pair.split_once(':').unwrap_or(("", pair)))
        .map(|(component, gate)| (component.trim(), gate.trim()))
        .collect();
    let has_component = |name: &str| pairs.iter().any(|(component, _)| *component == name);
    if has_component("") && has_component(COMPONENT) {
        return Err(FeatureGatesError::MixedPrefixes);
    }
    let is_other = |(component, _): &&(&str, &str)| !["", COMPONENT].contains(component);
    if let Some((component, _)) = pairs.iter().find(is_other) {
        return Err(FeatureGatesError::UnknownComponent((*component).to_owned()));
    }
    let gates = pairs.into_iter().map(|(_, gate)| gate);
    gates.filter(|gate| !gate.is_empty()).map(read_gate).collect()
}

/// `NAME=BOOL`
// Upstream: component-base/featuregate/feature_gate.go, SetWithLogger
fn read_gate(gate: &str) -> Result<(String, bool), FeatureGatesError> {
    let Some((name, value)) = gate.split_once('=') else {
        return Err(FeatureGatesError::MissingValue(gate.to_owned()));
    };
    let (name, value) = (name.trim(), value.trim());
    let is_on = parse_bool(value).map_err(|cause| FeatureGatesError::InvalidValue {
        name: name.to_owned(),
        value: value.to_owned(),
        cause,
    })?;
    Ok((name.to_owned(), is_on))
}

fn locked_text(gates: &[(&str, bool)]) -> String {
    aggregate(gates.iter().map(|(name, locked)| {
        format!(
            "cannot set feature gate {name} to {}, feature is locked to {locked}",
            !locked
        )
    }))
}

fn dependency_text(gates: &[(&str, Vec<&str>)]) -> String {
    aggregate(gates.iter().map(|(name, off)| {
        let off = off.join(" ");
        format!("{name} is enabled, but depends on features that are disabled: [{off}]")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers of the code of kube-apiserver of a release, by `tools/go/objects/featuregates`: the flag, then `=` and the gates that
    /// are not as by default, or `!` and the error. Several errors are sorted, which the server does not do.
    fn recorded(release: &Release) -> String {
        let name = format!("testdata/gates-{release}.txt");
        std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
    }

    fn answer(release: &'static Release, flag: &str) -> String {
        match FeatureGates::parse(release, flag) {
            Err(error) => format!("!{error}"),
            Ok(gates) => {
                let changed: Vec<&str> = gates.changed().map(|gate| gate.name).collect();
                format!("={}", changed.join(" "))
            }
        }
    }

    #[test]
    fn gates_are_set_and_refused_as_by_a_server() {
        for release in Release::list().iter().copied() {
            let answers = recorded(release);
            let mut cases = answers.lines().filter(|line| !line.starts_with('#'));
            let mut count = 0;
            while let (Some(flag), Some(expected)) = (cases.next(), cases.next()) {
                assert_eq!(answer(release, flag), expected, "{release} {flag:?}");
                count += 1;
            }
            assert!(count >= 50, "{release}: {count}");
        }
    }

    #[test]
    fn there_is_a_bit_for_each_gate() {
        for release in Release::list() {
            assert!(release.gates().iter().count() <= 64 * WORDS, "{release}");
        }
    }

    #[test]
    fn a_gate_of_no_release_is_off() {
        assert!(!FeatureGates::default().is_on("Nonsense"));
        let gates = FeatureGates::default().with("Nonsense", true);
        assert_eq!(gates, FeatureGates::default());
    }
}
