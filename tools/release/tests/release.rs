//! What installs a release agrees on how its archives are named and what is in them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

use std::fs;
use std::process::Command;

use pratique_harness::workspace;
use pratique_release::{ReleaseArchive, TARGETS, archives, formula, plugin};
use serde_json::Value;

const VERSION: &str = "9.8.7";

fn text(path: &str) -> String {
    fs::read_to_string(workspace::root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn document(text: &str) -> Value {
    serde_json::from_str(&pratique_manifest::yaml_as_json(text.as_bytes()).unwrap()).unwrap()
}

/// The archives of a release, each with another checksum.
fn released() -> Vec<ReleaseArchive> {
    let lines = TARGETS.iter().enumerate().map(|(index, target)| {
        let sum = format!("{index:x}").repeat(64);
        format!("{sum}  {}\n", target.file(VERSION))
    });
    archives(VERSION, &lines.collect::<String>()).unwrap()
}

#[test]
fn checksums_are_there_and_whole() {
    let sums: String = released()
        .iter()
        .map(|archive| format!("{} *{}\n", archive.sha256, archive.target.file(VERSION)))
        .collect();
    assert_eq!(archives(VERSION, &sums).unwrap(), released());
    for wrong in [
        sums.replace("windows", "amiga"),
        sums.replacen("00", "0", 1),
        sums.replacen('0', "g", 1),
        String::new(),
    ] {
        assert!(archives(VERSION, &wrong).is_err(), "{wrong}");
    }
    assert!(archives("9.8.6", &sums).is_err());
}

#[test]
fn the_workflow_builds_the_targets() {
    let workflow = document(&text(".github/workflows/release.yml"));
    let built = workflow["jobs"]["build"]["strategy"]["matrix"]["include"]
        .as_array()
        .unwrap();
    let mut built: Vec<&str> = built.iter().map(|row| row["target"].as_str().unwrap()).collect();
    built.sort_unstable();
    let mut targets = TARGETS.map(|target| target.name);
    targets.sort_unstable();
    assert_eq!(built, targets);
}

#[test]
fn archives_are_named_alike_everywhere() {
    let linux = TARGETS
        .iter()
        .find(|target| target.name == "x86_64-unknown-linux-musl")
        .unwrap();
    // As `.ci/pack` names them, and `ci/install` asks for them.
    for (script, names) in [
        (".ci/pack", ["pratique-v$version-$target", "$name.tar.gz"]),
        ("ci/install", ["pratique-$version-$(target)", "$name.tar.gz"]),
    ] {
        for name in names {
            assert!(text(script).contains(name), "{script} has no {name}");
        }
    }
    assert_eq!(
        linux.file(VERSION),
        "pratique-v9.8.7-x86_64-unknown-linux-musl.tar.gz"
    );
    // `cargo binstall` fills in the fields of the package's metadata.
    let manifest = text("crates/pratique-cli/Cargo.toml");
    let setting = |name: &str| {
        let line = manifest
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        line.unwrap_or_else(|| panic!("there is no {name}"))
            .trim_matches('"')
    };
    for archive in released() {
        let is_windows = archive.target.os == "windows";
        let filled = |text: &str| {
            let suffix = if is_windows { ".zip" } else { ".tar.gz" };
            let ending = if is_windows { ".exe" } else { "" };
            [
                ("repo", "https://github.com/pratique/pratique"),
                ("version", VERSION),
                ("target", archive.target.name),
                ("archive-suffix", suffix),
                ("bin", "pratique"),
                ("binary-ext", ending),
            ]
            .iter()
            .fold(text.to_owned(), |text, (name, value)| {
                text.replace(&format!("{{ {name} }}"), value)
            })
        };
        // Of archives that end with .tgz there is none: which suffix it is, the format says.
        assert_eq!(filled(setting("pkg-url")), archive.url);
        let inside = format!("{}/{}", archive.target.stem(VERSION), archive.target.program());
        assert_eq!(filled(setting("bin-dir")), inside);
    }
}

#[test]
fn krew_finds_the_archive_of_each_platform() {
    let manifest = document(&plugin(VERSION, &released()));
    assert_eq!(manifest["metadata"]["name"], "pratique");
    assert_eq!(manifest["spec"]["version"], "v9.8.7");
    // What krew's index refuses to take.
    assert!(manifest["spec"]["shortDescription"].as_str().unwrap().len() <= 50);
    let platforms = manifest["spec"]["platforms"].as_array().unwrap();
    assert_eq!(platforms.len(), TARGETS.len());
    for (platform, archive) in platforms.iter().zip(released()) {
        let labels = &platform["selector"]["matchLabels"];
        assert_eq!(labels["os"], archive.target.os);
        assert_eq!(labels["arch"], archive.target.arch);
        assert_eq!(platform["uri"], archive.url);
        assert_eq!(platform["sha256"], archive.sha256);
        let program = platform["files"][0]["from"].as_str().unwrap();
        assert_eq!(program.rsplit('/').next(), platform["bin"].as_str(), "{platform}");
    }
}

/// As much of Homebrew as tells which archive a machine gets, and what is installed of it.
const HOMEBREW: &str = r##"
class Formula
  class << self
    attr_reader :seen
    def inherited(formula) = formula.instance_variable_set(:@seen, {})
    %i[desc homepage version license url sha256].each { |name| define_method(name) { |value| @seen[name] = value } }
    def on_macos = (yield if ARGV[1] == "darwin")
    def on_linux = (yield if ARGV[1] == "linux")
    def on_arm = (yield if ARGV[2] == "arm64")
    def on_intel = (yield if ARGV[2] == "amd64")
    def test = nil
  end
  Place = Struct.new(:name) do
    def install(*what)
      what.flatten.each do |each|
        each = each.keys.first if each.is_a?(Hash)
        abort "#{each} is not in the archive" unless File.file?(each)
        puts "#{name} #{each}"
      end
    end
    def install_symlink(link) = link.each { |to, from| puts "#{name} #{from} -> #{to}" }
  end
  %i[bin man1 bash_completion zsh_completion fish_completion].each { |name| define_method(name) { Place.new(name) } }
end
load ARGV[0]
puts Pratique.seen[:url], Pratique.seen[:sha256]
Pratique.new.install
"##;

#[test]
fn homebrew_installs_what_is_in_the_archive() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("pratique.rb", &formula(VERSION, &released()));
    write("homebrew.rb", HOMEBREW);
    // The names are those of `.ci/pack`, which a test of the commands runs.
    for name in [
        "pratique",
        "man/pratique.1",
        "completions/pratique.bash",
        "completions/_pratique",
        "completions/pratique.fish",
    ] {
        write(name, "");
    }
    for archive in released().iter().filter(|archive| archive.target.os != "windows") {
        let run = Command::new("ruby")
            .args([
                "homebrew.rb",
                "./pratique.rb",
                archive.target.os,
                archive.target.arch,
            ])
            .current_dir(directory.path())
            .output();
        let Ok(run) = run else {
            eprintln!("NOT TESTED: there is no Ruby that would read the formula of Homebrew");
            return;
        };
        let told = String::from_utf8(run.stdout).unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines[..2], [archive.url.as_str(), archive.sha256.as_str()]);
        for line in [
            "bin pratique",
            "bin kubectl-pratique -> pratique",
            "bin kubectl_complete-pratique -> pratique",
            "man1 man/pratique.1",
        ] {
            assert!(lines.contains(&line), "{told}");
        }
    }
}
