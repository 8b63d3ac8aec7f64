//! The archives of a release: one for each target, with its checksum.

use pratique_harness::ToolError;

use crate::REPOSITORY;

/// A target of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveTarget {
    /// Its name for Rust.
    pub name: &'static str,
    /// Its system, as Go and krew name it.
    pub os: &'static str,
    /// Its processor, likewise.
    pub arch: &'static str,
}

/// All targets, as the workflow builds them.
pub const TARGETS: [ArchiveTarget; 5] = [
    target("aarch64-apple-darwin", "darwin", "arm64"),
    target("x86_64-apple-darwin", "darwin", "amd64"),
    target("aarch64-unknown-linux-musl", "linux", "arm64"),
    target("x86_64-unknown-linux-musl", "linux", "amd64"),
    target("x86_64-pc-windows-msvc", "windows", "amd64"),
];

const fn target(name: &'static str, os: &'static str, arch: &'static str) -> ArchiveTarget {
    ArchiveTarget { name, os, arch }
}

/// An archive of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseArchive {
    /// Its target.
    pub target: ArchiveTarget,
    /// Its checksum, in hexadecimal digits.
    pub sha256: String,
    /// Its URL.
    pub url: String,
}

impl ArchiveTarget {
    /// The name of the archive, and of the directory in it.
    pub fn stem(self, version: &str) -> String {
        format!("pratique-v{version}-{}", self.name)
    }

    /// The name of the archive's file.
    pub fn file(self, version: &str) -> String {
        let ending = if self.os == "windows" { "zip" } else { "tar.gz" };
        format!("{}.{ending}", self.stem(version))
    }

    /// The name of the program.
    pub fn program(self) -> &'static str {
        if self.os == "windows" {
            "pratique.exe"
        } else {
            "pratique"
        }
    }
}

/// The archives of a version, with the checksums of a file as `sha256sum` prints it.
///
/// # Errors
/// The checksum of an archive is not there, or is none.
pub fn archives(version: &str, checksums: &str) -> Result<Vec<ReleaseArchive>, ToolError> {
    TARGETS
        .iter()
        .map(|target| {
            let file = target.file(version);
            // A star before the name is a file that was read as binary, which they all are.
            let of_line = |line: &str| {
                let (sum, name) = line.split_once("  ").or_else(|| line.split_once(" *"))?;
                (name == file).then(|| sum.to_owned())
            };
            let sha256 = checksums
                .lines()
                .find_map(of_line)
                .ok_or_else(|| format!("there is no checksum of {file}"))?;
            if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(format!("{sha256} is no checksum of {file}").into());
            }
            let url = format!("{REPOSITORY}/releases/download/v{version}/{file}");
            Ok(ReleaseArchive {
                target: *target,
                sha256,
                url,
            })
        })
        .collect()
}
