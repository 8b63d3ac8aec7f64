//! The manifest of krew, which installs plugins of kubectl.

use std::fmt::Write as _;

use crate::{ABOUT, REPOSITORY, ReleaseArchive};

/// A manifest of the plugin: krew makes `kubectl-pratique` of the program of the archive.
pub fn plugin(version: &str, archives: &[ReleaseArchive]) -> String {
    let mut text = format!(
        "apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: pratique
spec:
  version: v{version}
  homepage: {REPOSITORY}
  shortDescription: {ABOUT}
  description: |
    Checks admission policies and webhook configurations, and evaluates objects by them with the decisions and the
    messages of kube-apiserver: from files, or by what a cluster has.
  platforms:
"
    );
    for archive in archives {
        let target = archive.target;
        let (directory, program) = (target.stem(version), target.program());
        let _ = write!(
            text,
            "  - selector:
      matchLabels: {{os: {}, arch: {}}}
    uri: {}
    sha256: \"{}\"
    files:
    - {{from: {directory}/{program}, to: .}}
    - {{from: {directory}/LICENSE, to: .}}
    bin: {program}
",
            target.os, target.arch, archive.url, archive.sha256
        );
    }
    text
}
