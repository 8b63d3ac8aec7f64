//! Tells of each change to a directory, until a line is entered: `cargo run --example watch DIRECTORY`.

use std::error::Error;
use std::path::Path;
use std::{env, fs, io};

use pratique_watch::{LoadAttempt, LoadObserver, LoadResult, Outcome, Version, WatchOptions, Watched};

/// The names of a directory's YAML files, and all that is in them.
type DirectoryFiles = (Vec<String>, String);

fn read(
    directory: &Path,
    current: Option<&Version<DirectoryFiles>>,
) -> io::Result<LoadResult<DirectoryFiles>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "yaml") && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    let text: String = paths.iter().map(fs::read_to_string).collect::<io::Result<_>>()?;
    let names = paths.iter().filter_map(|path| path.file_name());
    let value: DirectoryFiles = (names.map(|name| name.display().to_string()).collect(), text);
    // Any text that is another when the content is will do as a hash.
    let hash = format!("{value:?}");
    if current.is_some_and(|current| current.hash == hash) {
        return Ok(LoadResult::Unchanged);
    }
    println!("{}: {} bytes", value.0.join(" "), value.1.len());
    Ok(LoadResult::New { value, hash })
}

/// Tells of what cannot be used.
struct FaultPrinter;

impl LoadObserver for FaultPrinter {
    fn attempted(&self, attempt: &LoadAttempt<'_>) {
        if let Outcome::Failed { reason } = attempt.outcome {
            println!("as before: {reason}");
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = env::args().nth(1).ok_or("which directory?")?;
    let mut watched = Watched::start(directory, WatchOptions::default(), read, FaultPrinter)?;
    io::stdin().read_line(&mut String::new())?;
    watched.stop();
    println!("{} versions", watched.current().number + 1);
    Ok(())
}
