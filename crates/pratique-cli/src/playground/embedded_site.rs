//! The playground in this program: what `cargo xtask playground` made, in the directory that `PRATIQUE_PLAYGROUND` named when
//! the program was built.

use super::files::SiteFiles;

macro_rules! embed {
    ($($name:literal)*) => {
        [$(($name, include_bytes!(concat!(
            env!("PRATIQUE_PLAYGROUND", "name the directory that `cargo xtask playground` made"), "/", $name
        )).as_slice())),*]
    };
}

/// The files. The module is there in compressed form alone.
pub(super) fn files() -> SiteFiles {
    let all = embed!(
        "index.html" "style.css" "main.js" "dom.js" "editor.js" "engine.js" "evaluator.js" "form.js" "highlight.js" "results.js"
        "share.js" "start.js" "tabs.js" "worker.js" "examples.json" "pratique.wasm.gz"
    );
    let mut files = SiteFiles::default();
    for (name, content) in all {
        files.add(name, content.to_vec());
    }
    files
}
