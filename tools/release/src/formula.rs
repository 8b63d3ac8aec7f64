//! The formula of Homebrew.

use std::fmt::Write as _;

use crate::{ABOUT, REPOSITORY, ReleaseArchive};

/// A formula that installs the archive of the machine.
pub fn formula(version: &str, archives: &[ReleaseArchive]) -> String {
    let mut text = format!(
        "class Pratique < Formula
  desc \"{ABOUT}\"
  homepage \"{REPOSITORY}\"
  version \"{version}\"
  license \"Apache-2.0\"
"
    );
    for (os, block) in [("darwin", "on_macos"), ("linux", "on_linux")] {
        let _ = write!(text, "\n  {block} do\n");
        for archive in archives.iter().filter(|archive| archive.target.os == os) {
            let processor = match archive.target.arch {
                "arm64" => "on_arm",
                _ => "on_intel",
            };
            let _ = write!(
                text,
                "    {processor} do\n      url \"{}\"\n      sha256 \"{}\"\n    end\n",
                archive.url, archive.sha256
            );
        }
        text += "  end\n";
    }
    text + INSTALL
}

/// The names under which kubectl runs the program are links.
const INSTALL: &str = r##"
  def install
    bin.install "pratique"
    bin.install_symlink "pratique" => "kubectl-pratique"
    bin.install_symlink "pratique" => "kubectl_complete-pratique"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/pratique.bash" => "pratique"
    zsh_completion.install "completions/_pratique"
    fish_completion.install "completions/pratique.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/pratique --version")
  end
end
"##;
