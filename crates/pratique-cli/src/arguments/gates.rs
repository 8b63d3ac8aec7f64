//! The release of a server, and its feature gates.

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use pratique_manifest::Kind;
use pratique_review::is_gate_of_validation;
use pratique_schema::{FeatureGates, FeatureGatesError, Release, ServerVersion};

use crate::exit::CliError;
use crate::output;
use crate::output::notice::{FEATURE_GATE, InputNotice, KUBERNETES_VERSION, SERVER_VERSION};
use crate::output::text::text;

/// What is switched on and off in kube-apiserver, which depends on its release.
#[derive(Clone, Debug)]
pub(crate) struct GateArguments {
    /// The release with its feature gates.
    pub(crate) feature_gates: FeatureGates,
    /// Whether the release is named: otherwise a server says its own.
    is_named: bool,
    /// What `--feature-gates` says.
    written: String,
    /// Why a server of the newest release refuses the gates, which one of another release may have.
    refused: Option<FeatureGatesError>,
    /// What is to be told of the version of the server.
    notice: Option<InputNotice>,
}

/// The feature gates that change something here besides those of rules of validation. Those of plugins and of static manifests are
/// among them, and those of fields that objects only have where their feature is on.
const EFFECTIVE: &[&str] = &[
    "AllAlpha",
    "AllBeta",
    "AllowInsecureKubeletCertificateSigningRequests",
    "AtomicWriteVolumeUserFields",
    "CSIVolumeHealth",
    "ClearingNominatedNodeNameAfterBinding",
    "ClusterTrustBundle",
    "ClusterTrustBundleProjection",
    "CompositePodGroup",
    "ContainerRestartRules",
    "ContainerStopSignals",
    "CoordinatedLeaderElection",
    "DRAConsumableCapacity",
    "DRADerivedAttributes",
    "DRADeviceBindingConditions",
    "DRADeviceCompatibilityGroups",
    "DRADeviceTaints",
    "DRAExtendedResource",
    "DRAListTypeAttributes",
    "DRANodeAllocatableResources",
    "DRAOptionalNodeOperations",
    "DRAPartitionableDevices",
    "DRAPartitionableDevicesType",
    "DRAWorkloadResourceClaims",
    "EmptyDirVolumeMode",
    "EnvFiles",
    "EvictionRequestAPI",
    "ExcludeAdmissionWebhookVirtualResources",
    "GRPCContainerProbeTLS",
    "GenericWorkload",
    "H2CContainerProbe",
    "HPAConfigurableTolerance",
    "HPAGeneration",
    "HostnameOverride",
    "ImageVolume",
    "ImageVolumeWithDigest",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScaling",
    "InPlacePodVerticalScalingSchedulerPreemption",
    "ManifestBasedAdmissionControlConfig",
    "MaxUnavailableStatefulSet",
    "MutableCSINodeAllocatableCount",
    "MutablePVNodeAffinity",
    "MutatingAdmissionPolicy",
    "NodeDeclaredFeatures",
    "PodCertificateRequest",
    "PodDeletionCost",
    "PodGroupPreemptionPolicy",
    "PodLevelResources",
    "PodLevelResourcesFixDefaulting",
    "PodTopologyLabelsAdmission",
    "ResourceHealthStatus",
    "RestartAllContainersOnContainerExits",
    "ServiceAccountNodeAudienceRestriction",
    "StatefulSetRecreateStrategy",
    "TaintTolerationComparisonOperators",
    "TopologyAwareWorkloadScheduling",
    "UserNamespacesHostNetworkSupport",
    "UserNamespacesPodSecurityStandards",
    "VolumeBindMountOptions",
    "VolumeLimitScaling",
    "WorkloadAwarePreemption",
    "WorkloadWithJob",
];

impl GateArguments {
    /// The gates of a release, as they are by default or are set in a text.
    pub(crate) fn new(release: &'static Release, written: &str) -> Result<Self, CliError> {
        let feature_gates = FeatureGates::parse(release, written)
            .map_err(|error| CliError::FeatureGates { release, error })?;
        Ok(GateArguments {
            feature_gates,
            is_named: true,
            written: written.to_owned(),
            refused: None,
            notice: None,
        })
    }

    /// The same for a server that says its version, such as `snapshot of 2026-11-29`: the release that is named counts more. What
    /// is said of another release than that of the arguments is told.
    ///
    /// # Errors
    /// The gates are not those of the server's release.
    pub(crate) fn of_server(&self, server: Option<(String, String)>) -> Result<Self, CliError> {
        let gates = self.with_server(server)?;
        if gates.feature_gates.release() != self.feature_gates.release() {
            gates.tell();
        }
        Ok(gates)
    }

    /// The same as [`of_server`](Self::of_server), for commands that [report](Self::report) what is said of the release.
    ///
    /// # Errors
    /// The gates are not those of the server's release.
    pub(crate) fn with_server(&self, server: Option<(String, String)>) -> Result<Self, CliError> {
        if let (None, Some(error)) = (&server, self.refused.clone()) {
            let release = self.feature_gates.release();
            return Err(CliError::FeatureGates { release, error });
        }
        let (release, notice) = self.release_of_server(server);
        if release == self.feature_gates.release() {
            // Those that the release refuses are told where there is no server to be of another.
            let gates = match self.refused {
                Some(_) => GateArguments::new(release, &self.written)?,
                None => self.clone(),
            };
            return Ok(GateArguments { notice, ..gates });
        }
        Ok(GateArguments {
            is_named: self.is_named,
            notice,
            ..GateArguments::new(release, &self.written)?
        })
    }

    /// The release of a server that may say its version, and what is told of that.
    pub(crate) fn release_of_server(
        &self,
        server: Option<(String, String)>,
    ) -> (&'static Release, Option<InputNotice>) {
        let of_flag = self.feature_gates.release();
        let Some((name, version)) = server else {
            return (of_flag, None);
        };
        let server = ServerVersion::parse(&version);
        let (release, message) = if self.is_named {
            (of_flag, server.note_as(of_flag, "as is asked for"))
        } else {
            (server.release(), server.note())
        };
        let notice = message.map(|message| InputNotice::new(SERVER_VERSION, name, message));
        (release, notice)
    }

    /// Whether the release is named.
    pub(crate) fn is_named(&self) -> bool {
        self.is_named
    }

    /// The notice of what is to be told of the version of the server.
    pub(crate) fn server_notice(&self) -> Option<InputNotice> {
        self.notice.clone()
    }

    /// What `--feature-gates` says.
    pub(crate) fn written(&self) -> &str {
        &self.written
    }

    /// Tells what is said of the release and the gates.
    pub(crate) fn tell(&self) {
        report_release(self.feature_gates, false);
    }

    /// What every output tells of the server, its release and the gates. It is told on standard error as well, unless `is_listed`:
    /// the output on standard output is one of text, in which it would stand a second time.
    pub(crate) fn report(&self, is_listed: bool) -> Vec<InputNotice> {
        let mut notices = report_release(self.feature_gates, is_listed);
        notices.extend(report_server(self.notice.clone(), is_listed));
        notices
    }

    /// What is said of a server with some gates, of a release that is not followed in everything.
    pub(crate) fn release_note_of(gates: FeatureGates) -> Option<String> {
        let release = gates.release();
        let mutation = (!are_mutations_on(gates)).then(|| {
            "mutating policies are not evaluated, as the feature gate MutatingAdmissionPolicy is off"
                .to_owned()
        });
        if release == Release::latest() {
            return mutation;
        }
        let preview = if release.is_preview() {
            format!(
                "Kubernetes {release} is known as of {}, from which the release may differ; ",
                release.patch_version()
            )
        } else {
            String::new()
        };
        Some(format!(
            "{preview}feature gates, served kinds, decoding, defaulting, expressions, policies, webhooks and plugins are those of \
             Kubernetes {release}, and so is validation{}",
            mutation.map(|note| format!("; {note}")).unwrap_or_default()
        ))
    }

    /// What is said of gates that a server would heed and nothing here does: its decisions may be others.
    pub(crate) fn ineffective_note_of(gates: FeatureGates) -> Option<String> {
        let changed = gates.changed().map(|gate| gate.name);
        // Validation heeds it, and the plugin behind it, AuthorizationConditionsEnforcer, is not evaluated.
        let is_partial = |name: &str| name == "ConditionalAuthorization";
        let has_effect =
            |name: &str| EFFECTIVE.contains(&name) || (is_gate_of_validation(name) && !is_partial(name));
        let (partial, ignored): (Vec<&str>, Vec<&str>) = changed
            .filter(|name| !has_effect(name))
            .partition(|name| is_partial(name));
        let of_ignored = match ignored.as_slice() {
            [] => None,
            [name] => Some(format!("the feature gate {name} has no effect here")),
            [first, others @ ..] => Some(format!(
                "{} feature gates have no effect here, {first} and others",
                others.len() + 1
            )),
        };
        let of_partial = partial
            .iter()
            .map(|name| format!("the feature gate {name} has no effect on admission here"));
        let told: Vec<String> = of_ignored.into_iter().chain(of_partial).collect();
        (!told.is_empty()).then(|| {
            format!(
                "{}: a server may do other than what is shown",
                told.join(", and ")
            )
        })
    }
}

/// Whether a server evaluates mutating policies.
// Upstream: pkg/features/kube_features.go; the gate is off by default before 1.36.
pub(crate) fn are_mutations_on(gates: FeatureGates) -> bool {
    gates.is_on(Kind::MutatingAdmissionPolicy.name())
}

/// What every output tells of the version of a server, as [`GateArguments::report`] does.
pub(crate) fn report_server(notice: Option<InputNotice>, is_listed: bool) -> Option<InputNotice> {
    notice.inspect(|notice| notice.tell_beside(is_listed))
}

/// What every output tells of a release and its gates. It is told on standard error as well, unless `is_listed`. A release that is
/// followed as it is now is told there only: no output has to be read with care for it.
pub(crate) fn report_release(gates: FeatureGates, is_listed: bool) -> Vec<InputNotice> {
    let mut notices = Vec::new();
    match GateArguments::release_note_of(gates) {
        Some(note) if gates.release().is_preview() => {
            notices.push(InputNotice::new(KUBERNETES_VERSION, "", note));
        }
        Some(note) => output::eprint(&output::note(&text!("{}", note))),
        None => {}
    }
    let ineffective = GateArguments::ineffective_note_of(gates);
    notices.extend(ineffective.map(|note| InputNotice::new(FEATURE_GATE, "", note)));
    notices.iter().for_each(|notice| notice.tell_beside(is_listed));
    notices
}

/// Tells on standard error what an output of text was to list, where it is not printed: nothing was decided.
pub(crate) fn tell_unprinted(notices: &[InputNotice], was_listed: bool) {
    notices.iter().for_each(|notice| notice.tell_beside(!was_listed));
}

/// The arguments as they are written: gates are those of a release.
#[derive(Clone, Debug, Args)]
struct WrittenGates {
    #[arg(
        long,
        env = "PRATIQUE_KUBERNETES_VERSION",
        value_name = "VERSION",
        help = format!(
            "Release of Kubernetes that the server is of: {}. By default that of the cluster or snapshot, if one is named, and \
             otherwise {}",
            known_releases(),
            Release::latest()
        )
    )]
    kubernetes_version: Option<String>,
    /// Feature gates of kube-apiserver, as NAME=true|false.
    #[arg(
        long,
        env = "PRATIQUE_FEATURE_GATES",
        value_name = "NAME=BOOL,…",
        default_value = ""
    )]
    feature_gates: String,
}

impl WrittenGates {
    fn read(self) -> Result<GateArguments, clap::Error> {
        let release = match &self.kubernetes_version {
            // Where nobody names one, a server of today is meant.
            None => Release::latest(),
            Some(version) => Release::by_version(version)
                .map_err(|error| invalid("kubernetes-version <VERSION>", version, &error))?,
        };
        let is_named = self.kubernetes_version.is_some();
        let mut others = Release::list().iter();
        let (feature_gates, refused) = match FeatureGates::parse(release, &self.feature_gates) {
            Ok(gates) => (gates, None),
            // The server may say that it is of another release.
            Err(error)
                if !is_named
                    && others.any(|other| FeatureGates::parse(other, &self.feature_gates).is_ok()) =>
            {
                (FeatureGates::new(release), Some(error))
            }
            Err(error) => {
                return Err(invalid(
                    "feature-gates <NAME=BOOL,…>",
                    &self.feature_gates,
                    &error,
                ));
            }
        };
        Ok(GateArguments {
            feature_gates,
            is_named,
            written: self.feature_gates,
            refused,
            notice: None,
        })
    }
}

/// The releases that are known, the latest first.
pub(crate) fn release_names() -> Vec<String> {
    Release::list().iter().map(ToString::to_string).collect()
}

/// The releases that are known, as a text: `1.37 or 1.36`.
pub(crate) fn known_releases() -> String {
    let mut releases = release_names();
    let last = releases.pop().unwrap_or_default();
    match releases.as_slice() {
        [] => last,
        others => format!("{} or {last}", others.join(", ")),
    }
}

fn invalid(flag: &str, value: &str, error: &dyn std::error::Error) -> clap::Error {
    let message = format!("invalid value '{value}' for '--{flag}': {error}");
    clap::Error::raw(ErrorKind::ValueValidation, message)
}

impl FromArgMatches for GateArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        WrittenGates::from_arg_matches(matches)?.read()
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = GateArguments::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for GateArguments {
    fn augment_args(command: Command) -> Command {
        WrittenGates::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        WrittenGates::augment_args_for_update(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(version: &str, gates: &str, expected: Result<&[&str], &str>) {
        let written = WrittenGates {
            kubernetes_version: Some(version.to_owned()),
            feature_gates: gates.to_owned(),
        };
        let read = written.read().map_err(|error| error.to_string());
        let changed = read.map(|read| {
            read.feature_gates
                .changed()
                .map(|gate| gate.name)
                .collect::<Vec<_>>()
        });
        let expected = expected.map(<[&str]>::to_vec);
        assert_eq!(changed, expected.map_err(|error| format!("error: {error}")));
    }

    #[test]
    fn gates_without_effect_are_told() {
        let notice = |gates| {
            let arguments = GateArguments::new(Release::latest(), gates).unwrap();
            GateArguments::ineffective_note_of(arguments.feature_gates)
        };
        assert_eq!(notice("EmptyDirVolumeMode=true,APIServerIdentity=true"), None);
        assert_eq!(notice("HPAScaleToZero=false,SELinuxMount=false"), None);
        assert_eq!(
            notice("StorageVersionAPI=true").as_deref(),
            Some(
                "the feature gate StorageVersionAPI has no effect here: a server may do other than what is shown"
            )
        );
        let preview = Release::by_version("1.38").unwrap();
        let conditional = GateArguments::new(preview, "ConditionalAuthorization=true").unwrap();
        assert_eq!(
            GateArguments::ineffective_note_of(conditional.feature_gates).as_deref(),
            Some(
                "the feature gate ConditionalAuthorization has no effect on admission here: a server may do other than what is \
                 shown"
            )
        );
        let both =
            GateArguments::new(preview, "ConditionalAuthorization=true,StorageVersionAPI=true").unwrap();
        assert_eq!(
            GateArguments::ineffective_note_of(both.feature_gates).as_deref(),
            Some(
                "the feature gate StorageVersionAPI has no effect here, and the feature gate ConditionalAuthorization has no effect \
                 on admission here: a server may do other than what is shown"
            )
        );
        assert_eq!(
            notice("StorageVersionAPI=true,WatchListClient=false").as_deref(),
            Some(
                "2 feature gates have no effect here, StorageVersionAPI and others: a server may do other than what is shown"
            )
        );
    }

    #[test]
    fn older_releases_are_told_to_be_followed_in_part() {
        let note = |release| {
            let arguments = GateArguments::new(release, "").unwrap();
            GateArguments::release_note_of(arguments.feature_gates)
        };
        assert_eq!(note(Release::latest()), None);
        let older = note(Release::by_version("1.36").unwrap()).unwrap();
        assert!(
            older.contains("are those of Kubernetes 1.36, and so is validation"),
            "{older}"
        );
        // Of manifests, it is said where there are some.
        let off = GateArguments::new(Release::latest(), "ManifestBasedAdmissionControlConfig=false").unwrap();
        assert_eq!(GateArguments::release_note_of(off.feature_gates), None);
        let unchanged = GateArguments::new(Release::latest(), "MutatingAdmissionPolicy=false").unwrap();
        assert_eq!(
            GateArguments::release_note_of(unchanged.feature_gates).as_deref(),
            Some("mutating policies are not evaluated, as the feature gate MutatingAdmissionPolicy is off")
        );
        let preview = note(Release::by_version("1.38").unwrap()).unwrap();
        assert!(
            preview.contains("1.38 is known as of 1.38.0-beta.0, from which the release may differ;"),
            "{preview}"
        );
    }

    #[test]
    fn the_help_names_all_releases() {
        let versions = release_names();
        let command = WrittenGates::augment_args(Command::new("pratique"));
        let help = command.clone().render_long_help().to_string();
        assert!(
            versions.iter().all(|version| help.contains(version.as_str())),
            "{help}"
        );
    }

    #[test]
    fn gates_with_an_effect_are_gates() {
        let is_known = |name: &str| {
            Release::list()
                .iter()
                .any(|release| release.gates().get(name).is_some())
        };
        let unknown: Vec<_> = EFFECTIVE.iter().filter(|name| !is_known(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        assert!(EFFECTIVE.is_sorted(), "{EFFECTIVE:?}");
    }

    #[test]
    fn a_server_says_its_release_unless_one_is_named() {
        let of = |named: Option<&str>, server: &str| {
            let written = WrittenGates {
                kubernetes_version: named.map(str::to_owned),
                feature_gates: String::new(),
            };
            let gates = written.read().unwrap();
            let gates = gates
                .of_server(Some(("cluster a".to_owned(), server.to_owned())))
                .unwrap();
            let notice = gates.server_notice().map(|notice| notice.line());
            (gates.feature_gates.release().to_string(), notice)
        };
        assert_eq!(of(None, "v1.36.3"), ("1.36".to_owned(), None));
        assert_eq!(of(Some("1.36"), "v1.36.3"), ("1.36".to_owned(), None));
        let (release, notice) = of(None, "v1.99.0");
        assert_eq!(release, Release::list()[0].to_string());
        assert!(
            notice
                .unwrap()
                .starts_with("cluster a: the server's version v1.99.0 is newer")
        );
        assert_eq!(
            of(Some("1.37"), "v1.36.3"),
            (
                "1.37".to_owned(),
                Some(
                    "cluster a: the server's version is v1.36.3: it is taken for one of Kubernetes 1.37, as \
                     is asked for"
                        .to_owned()
                )
            )
        );
    }

    #[test]
    fn gates_that_only_another_release_has_are_for_its_servers() {
        let written = WrittenGates {
            kubernetes_version: None,
            feature_gates: "GenericWorkload=true,GangScheduling=true".to_owned(),
        };
        let gates = written.read().unwrap();
        let of_server = |version: &str| gates.of_server(Some((String::new(), version.to_owned())));
        assert!(
            of_server("v1.36.3")
                .unwrap()
                .feature_gates
                .is_on("GangScheduling")
        );
        for refused in [of_server("v1.37.2"), gates.of_server(None)] {
            assert_eq!(
                refused.map(drop).unwrap_err().to_string(),
                "--feature-gates: unrecognized feature gate: GangScheduling, in Kubernetes 1.37"
            );
        }
    }

    #[test]
    fn gates_of_another_release_than_the_server_s_are_refused() {
        let written = WrittenGates {
            kubernetes_version: None,
            feature_gates: "PodLevelResourcesFixDefaulting=false".to_owned(),
        };
        let gates = written.read().unwrap();
        let refused = gates.of_server(Some((String::new(), "v1.36.3".to_owned())));
        assert_eq!(
            refused.map(drop).unwrap_err().to_string(),
            "--feature-gates: unrecognized feature gate: PodLevelResourcesFixDefaulting, in Kubernetes 1.36"
        );
    }

    #[test]
    fn gates_are_those_of_the_release() {
        check("1.37", "", Ok(&[]));
        check(
            "v1.37.2",
            "PodLevelResourcesFixDefaulting=false",
            Ok(&["PodLevelResourcesFixDefaulting"]),
        );
        check(
            "1.37",
            "GangScheduling=true",
            Err(
                "invalid value 'GangScheduling=true' for '--feature-gates <NAME=BOOL,…>': unrecognized feature gate: GangScheduling",
            ),
        );
        check(
            "1.2",
            "",
            Err(
                "invalid value '1.2' for '--kubernetes-version <VERSION>': Kubernetes 1.2 is not known; known are 1.38, 1.37, 1.36, 1.35, 1.34",
            ),
        );
    }
}
