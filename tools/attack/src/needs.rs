//! Requirements of an attack on the machine. If one is missing, the attack is reported as skipped.

use std::process::{Command, Stdio};

use super::AttackScale;

/// Something that not every machine has, or not for every user.
#[derive(Clone, Copy, Debug)]
pub(super) enum MachineNeed {
    /// A user namespace in which to have other namespaces, by these options of `unshare`.
    Namespaces(&'static [&'static str]),
    /// A program that can be run with these arguments.
    Program(&'static [&'static str]),
    /// More than a minute, which the short form does not have.
    Minute,
}

/// A user namespace alone.
pub(super) const USER: MachineNeed = MachineNeed::Namespaces(&[]);
/// Mounts that only the attacked server sees.
pub(super) const MOUNTS: MachineNeed = MachineNeed::Namespaces(&["--mount"]);
/// A network that only the attacked server and its clients have.
pub(super) const NETWORK: MachineNeed = MachineNeed::Namespaces(&["--mount", "--net"]);
/// A compiler of C.
pub(super) const COMPILER: MachineNeed = MachineNeed::Program(&["cc", "--version"]);
/// A program that enters namespaces.
pub(super) const NSENTER: MachineNeed = MachineNeed::Program(&["nsenter", "--version"]);
/// The right to make file systems, which only root has.
pub(super) const FUSE: MachineNeed = MachineNeed::Program(&["unshare", "--mount", "test", "-w", "/dev/fuse"]);
/// Without change events, changes are found once in a minute.
pub(super) const A_MINUTE: MachineNeed = MachineNeed::Minute;
/// A program that sets interfaces up and down.
pub(super) const IP: MachineNeed = MachineNeed::Program(&["ip", "-V"]);

impl MachineNeed {
    /// Why it is not to be had here, if it is not.
    pub(super) fn missing(self, scale: AttackScale) -> Option<String> {
        match self {
            MachineNeed::Minute if scale.measures_time => None,
            MachineNeed::Minute => Some("it takes more than a minute, and this is the short form".to_owned()),
            MachineNeed::Namespaces(options) => {
                let fixed = ["unshare", "--user", "--map-root-user"];
                let namespaces = [&fixed, options, &["true"]].concat();
                fails(&namespaces).map(|why| format!("no such namespace can be made: {why}"))
            }
            MachineNeed::Program(command) => fails(command),
        }
    }
}

/// The failure of a command, if it fails.
fn fails(command: &[&str]) -> Option<String> {
    let (program, arguments) = command.split_first()?;
    let command_line = command.join(" ");
    let ran = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output();
    match ran {
        Err(error) => Some(format!("`{command_line}`: {error}")),
        Ok(output) if output.status.success() => None,
        Ok(output) => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            Some(format!("`{command_line}`: {}, {}", output.status, stderr.trim()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LONG, SHORT};

    #[test]
    fn what_is_missing_is_told() {
        assert_eq!(MachineNeed::Program(&["sh", "-c", "true"]).missing(SHORT), None);
        let missing = MachineNeed::Program(&["pratique-no-such-program"]).missing(SHORT);
        assert!(missing.is_some_and(|why| why.contains("pratique-no-such-program")));
        let failing = MachineNeed::Program(&["sh", "-c", "echo broken >&2; exit 3"]).missing(SHORT);
        assert!(failing.is_some_and(|why| why.contains("broken") && why.contains('3')));
        assert_eq!(A_MINUTE.missing(LONG), None);
        assert!(A_MINUTE.missing(SHORT).is_some());
    }
}
