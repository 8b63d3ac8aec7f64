//! The annotations that named the profiles of Pods and containers before there were fields for them.
// The checks of the Pod Security Standards have their own, as they are usable without this crate.

/// The seccomp profile of a Pod.
pub const SECCOMP_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
/// What the annotation with the seccomp profile of a container begins with; its name follows.
pub const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
/// What the annotation with the AppArmor profile of a container begins with; its name follows.
pub const APP_ARMOR_CONTAINER: &str = "container.apparmor.security.beta.kubernetes.io/";
