//! The release of a server, and its feature gates.

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use pratique_schema::{FeatureGates, Release};

use crate::output;
use crate::output::text::text;

/// What is switched on and off in kube-apiserver, which depends on its release.
#[derive(Clone, Debug)]
pub(crate) struct GateArguments {
    /// The release with its feature gates.
    pub(crate) feature_gates: FeatureGates,
}

/// The feature gates that change something here. Those of plugins and of static manifests are among them, and those of fields
/// that objects only have where their feature is on.
const EFFECTIVE: &[&str] = &[
    "AllAlpha",
    "AllBeta",
    "AllowInsecureKubeletCertificateSigningRequests",
    "AtomicWriteVolumeUserFields",
    "CSIVolumeHealth",
    "ClusterTrustBundle",
    "CompositePodGroup",
    "ContainerStopSignals",
    "CoordinatedLeaderElection",
    "DRADerivedAttributes",
    "DRADeviceCompatibilityGroups",
    "DRAExtendedResource",
    "DRAListTypeAttributes",
    "DRANodeAllocatableResources",
    "DRAOptionalNodeOperations",
    "DRAPartitionableDevicesType",
    "DRAWorkloadResourceClaims",
    "EmptyDirVolumeMode",
    "EvictionRequestAPI",
    "ExcludeAdmissionWebhookVirtualResources",
    "GRPCContainerProbeTLS",
    "GenericWorkload",
    "H2CContainerProbe",
    "ImageVolume",
    "ImageVolumeWithDigest",
    "InPlacePodVerticalScalingSchedulerPreemption",
    "ManifestBasedAdmissionControlConfig",
    "MaxUnavailableStatefulSet",
    "MutatingAdmissionPolicy",
    "NodeDeclaredFeatures",
    "PodCertificateRequest",
    "PodGroupPreemptionPolicy",
    "PodLevelResources",
    "PodLevelResourcesFixDefaulting",
    "PodTopologyLabelsAdmission",
    "ServiceAccountNodeAudienceRestriction",
    "TopologyAwareWorkloadScheduling",
    "VolumeBindMountOptions",
    "VolumeLimitScaling",
    "WorkloadWithJob",
];

impl GateArguments {
    /// What is said of a release that is not followed in everything.
    fn release_note(&self) -> Option<String> {
        let release = self.feature_gates.release();
        if release == Release::latest() {
            return None;
        }
        let preview = if release.is_preview() {
            format!("Kubernetes {release} is known as of {}, from which the release may differ; ", release.patch_version())
        } else {
            String::new()
        };
        // Upstream: the gate is off by default before 1.36.
        let mutation = if self.feature_gates.is_on("MutatingAdmissionPolicy") {
            ""
        } else {
            "; mutating policies are not evaluated, as the feature gate MutatingAdmissionPolicy is off"
        };
        Some(format!(
            "{preview}feature gates, served kinds, decoding, defaulting, expressions, policies, webhooks and plugins are those of \
             Kubernetes {release}; rules of validation that changed since, and what Pods that are resized count, are those of \
             {}{mutation}",
            Release::latest()
        ))
    }

    /// What is said of gates that a server would heed and nothing here does: its decisions may be others.
    fn notice(&self) -> Option<String> {
        let changed = self.feature_gates.changed().map(|gate| gate.name);
        let ignored: Vec<&str> = changed.filter(|name| !EFFECTIVE.contains(name)).collect();
        match ignored.as_slice() {
            [] => None,
            [name] => Some(format!(
                "the feature gate {name} has no effect here: a server may do other than what is shown"
            )),
            [first, others @ ..] => Some(format!(
                "{} feature gates have no effect here, {first} and others: a server may do other than what is shown",
                others.len() + 1
            )),
        }
    }
}

/// The arguments as they are written: gates are those of a release.
#[derive(Clone, Debug, Args)]
struct WrittenGates {
    /// Release of Kubernetes that the server is of: 1.34 to 1.38.
    #[arg(
        long,
        env = "PRATIQUE_KUBERNETES_VERSION",
        value_name = "VERSION",
        default_value_t = Release::latest().to_string()
    )]
    kubernetes_version: String,
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
        let release = Release::by_version(&self.kubernetes_version)
            .map_err(|error| invalid("kubernetes-version <VERSION>", &self.kubernetes_version, &error))?;
        let feature_gates = FeatureGates::parse(release, &self.feature_gates)
            .map_err(|error| invalid("feature-gates <NAME=BOOL,…>", &self.feature_gates, &error))?;
        Ok(GateArguments { feature_gates })
    }
}

fn invalid(flag: &str, value: &str, error: &dyn std::error::Error) -> clap::Error {
    let message = format!("invalid value '{value}' for '--{flag}': {error}");
    clap::Error::raw(ErrorKind::ValueValidation, message)
}

impl FromArgMatches for GateArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let arguments = WrittenGates::from_arg_matches(matches)?.read()?;
        if let Some(note) = arguments.release_note() {
            output::eprint(&output::note(&text!("{}", note)));
        }
        if let Some(notice) = arguments.notice() {
            output::eprint(&output::warning(&text!("{}", notice)));
        }
        Ok(arguments)
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
            kubernetes_version: version.to_owned(),
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
            let feature_gates = FeatureGates::parse(Release::latest(), gates).unwrap();
            GateArguments { feature_gates }.notice()
        };
        assert_eq!(notice("EmptyDirVolumeMode=true,APIServerIdentity=true"), None);
        assert_eq!(
            notice("StorageVersionAPI=true").as_deref(),
            Some(
                "the feature gate StorageVersionAPI has no effect here: a server may do other than what is shown"
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
            let feature_gates = FeatureGates::new(release);
            GateArguments { feature_gates }.release_note()
        };
        assert_eq!(note(Release::latest()), None);
        let older = note(Release::by_version("1.36").unwrap()).unwrap();
        assert!(older.contains("are those of Kubernetes 1.36;"), "{older}");
        let preview = note(Release::by_version("1.38").unwrap()).unwrap();
        assert!(preview.contains("1.38, known as of 1.38.0-beta.0, from which the release may differ;"), "{preview}");
    }

    #[test]
    fn the_help_names_all_releases() {
        let versions: Vec<String> = Release::list().iter().map(ToString::to_string).collect();
        let command = WrittenGates::augment_args(Command::new("pratique"));
        let help = command.clone().render_long_help().to_string();
        let (newest, oldest) = (versions.first().unwrap(), versions.last().unwrap());
        assert!(help.contains(&format!("is of: {oldest} to {newest}")), "{help}");
    }

    #[test]
    fn gates_with_an_effect_are_gates() {
        let gates = Release::latest().gates();
        assert!(EFFECTIVE.iter().all(|name| gates.get(name).is_some()));
        assert!(EFFECTIVE.is_sorted(), "{EFFECTIVE:?}");
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
