//! Reads the inputs, piece by piece.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memmem::{self, Finder};
use pratique_manifest::{ManifestFile, path_text};
use pratique_review::{SourceFile, SourceFiles};
use pratique_stream::{Limits, Piece, Splitter};

use crate::evaluation::state::ClusterState;
use crate::exit::CliError;
use crate::input::open::{ObjectStream, open};
use crate::input::rendering::render_error::RenderError;
use crate::input::rendering::{BuildOptions, BuildProgram, BuiltDirectory, RenderedInputs};
use crate::input::sources::without_sources;
use crate::input::spool::{self, SpooledPipe};
use crate::input::{self, FileSelection, InputError, STDIN};
use crate::memory;
use crate::output;
use crate::output::counted_nouns::counted;
use crate::output::notice::InputNotice;
use crate::project::is_untrusted_input;
use crate::stream::checkpoint::FileState;
use crate::stream::etcd;
use crate::stream::excerpt::FileExcerpt;
use crate::stream::ordered_work::{WorkClosed, WorkSender};
use crate::stream::survey::{self, StateOfStream, mentions_cluster};

/// The inputs.
pub(crate) struct UserInputs {
    paths: Vec<UserInput>,
    /// Files that are no objects of the API, and are not read.
    pub(crate) sources: Vec<SourceFile>,
    /// Copies of those that can be read only once, if they are read twice.
    copies: HashMap<PathBuf, SpooledPipe>,
    /// Where their objects come from, as far as a program made them.
    pub(crate) rendered: RenderedInputs,
}

/// A path of the user.
pub(crate) struct UserInput {
    pub(crate) path: PathBuf,
    /// Its files.
    pub(crate) files: Vec<PathBuf>,
    /// Whether it does not exist any more.
    pub(crate) is_deleted: bool,
}

impl UserInput {
    /// The error of a path that neither exists nor existed at a revision.
    pub(crate) fn missing(&self, revision: &str) -> CliError {
        CliError::NeverThere {
            path: path_text(&self.path),
            revision: revision.to_owned(),
        }
    }
}

/// A part of the inputs.
pub(crate) enum InputUnit {
    /// A piece of a file, and what is known of the cluster.
    Piece {
        path: Arc<str>,
        piece: Piece,
        state: Arc<ClusterState>,
    },
    /// What the next piece changes.
    Notices(Vec<InputNotice>),
    /// The rest of a file cannot be read.
    Fault(InputError),
    /// A file ends.
    EndOfFile,
    /// A path of the user ends.
    EndOfPath(String),
}

impl UserInputs {
    /// The files of some paths, which exist, or existed at the revision `since`.
    pub(crate) fn resolve(
        paths: &[PathBuf],
        since: Option<&str>,
        files: &FileSelection,
    ) -> Result<Self, CliError> {
        let mut inputs = UserInputs::found(paths, since, |path| files.files(path))?;
        inputs.leave_out_sources(files);
        Ok(inputs)
    }

    /// The files of some paths, and the objects that programs make of the charts and kustomizations among the paths.
    ///
    /// # Errors
    /// A program fails, or may not run; there is nothing to make objects of.
    pub(crate) fn built(
        paths: &[PathBuf],
        files: &FileSelection,
        options: BuildOptions<'_>,
    ) -> Result<Self, CliError> {
        let mut copies = HashMap::new();
        let mut rendered = RenderedInputs::default();
        for path in paths {
            let Some(program) = BuildProgram::for_directory(path) else {
                continue;
            };
            if is_untrusted_input(path) {
                let path = path_text(path);
                return Err(CliError::Render(RenderError::Untrusted { path }));
            }
            let (made, directory) = program.build(path, options)?;
            rendered.add_built(input::format_path(path), directory);
            copies.insert(path.clone(), made);
        }
        if copies.is_empty() {
            return Err(CliError::Render(RenderError::NothingToRender));
        }
        let mut inputs = UserInputs::found(paths, None, |path| match copies.get(path) {
            Some(_) => Ok(vec![path.to_owned()]),
            None => files.files(path),
        })?;
        inputs.leave_out_sources(files);
        inputs.copies = copies;
        inputs.rendered = rendered;
        Ok(inputs)
    }

    /// Says that objects of pipes may have been made of sources: of the directory that standard input stands for, if it is named.
    pub(crate) fn expect_rendered(&mut self, stdin: Option<&Path>) {
        // Of a directory, regular files alone are read.
        let named = self
            .paths
            .iter()
            .filter(|input| input.files == [input.path.as_path()]);
        let pipes = named.map(|input| &input.path);
        for file in pipes.filter(|file| !self.copies.contains_key(*file) && is_pipe(file)) {
            match stdin.filter(|stdin| file == Path::new(STDIN) && stdin.is_dir()) {
                Some(directory) => {
                    let directory = BuiltDirectory::new(directory.to_owned());
                    self.rendered.add_built(input::format_path(file), directory);
                }
                None => self.rendered.add_pipe(input::format_path(file)),
            }
        }
    }

    /// The files of some paths, with audit logs where these are directories.
    pub(crate) fn of_logs(paths: &[PathBuf], files: &FileSelection) -> Result<Self, CliError> {
        let mut inputs = UserInputs::found(paths, None, |path| files.log_files(path))?;
        inputs.leave_out_repeated();
        Ok(inputs)
    }

    /// The same without files that are no objects of the API: there may be objects in place of logs.
    pub(crate) fn of_objects_or_logs(paths: &[PathBuf], files: &FileSelection) -> Result<Self, CliError> {
        let mut inputs = UserInputs::of_logs(paths, files)?;
        inputs.leave_out_sources(files);
        Ok(inputs)
    }

    /// Leaves out files that an input before has as well, which would be counted twice; reports them.
    pub(crate) fn leave_out_repeated(&mut self) {
        let mut directories = HashMap::new();
        let mut read = HashSet::new();
        for input in &mut self.paths {
            let previous_count = input.files.len();
            input
                .files
                .retain(|file| place_of(file, &mut directories).is_none_or(|place| read.insert(place)));
            let repeated = previous_count - input.files.len();
            if repeated > 0 {
                let message = format!(
                    "{} read before, by another path or a link, and counted once",
                    counted(repeated, "file of it was", "files of it were")
                );
                output::eprint(&output::warning_at(&input::format_path(&input.path), &message));
            }
        }
    }

    /// Leaves out the files that are no objects of the API.
    fn leave_out_sources(&mut self, selection: &FileSelection) {
        let mut recognizer = SourceFiles::default();
        for input in &mut self.paths {
            let (files, sources) =
                without_sources(std::mem::take(&mut input.files), &mut recognizer, selection);
            input.files = files;
            self.sources.extend(sources);
        }
    }

    fn found(
        paths: &[PathBuf],
        since: Option<&str>,
        files: impl Fn(&Path) -> Result<Vec<PathBuf>, CliError>,
    ) -> Result<Self, CliError> {
        let input = |path: &PathBuf| {
            let presence = if path == Path::new(STDIN) {
                Ok(())
            } else {
                fs::metadata(path).map(drop)
            };
            let is_deleted = match presence {
                Ok(()) => false,
                Err(error) if error.kind() == ErrorKind::NotFound && since.is_some() => true,
                Err(error) => return Err(CliError::unread(path, error)),
            };
            Ok(UserInput {
                files: if is_deleted { Vec::new() } else { files(path)? },
                path: path.clone(),
                is_deleted,
            })
        };
        let paths = paths.iter().map(input).collect::<Result<_, _>>()?;
        Ok(UserInputs {
            paths,
            sources: Vec::new(),
            copies: HashMap::new(),
            rendered: RenderedInputs::default(),
        })
    }

    /// All paths.
    pub(crate) fn as_slice(&self) -> &[UserInput] {
        &self.paths
    }

    /// All files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter().flat_map(|input| &input.files)
    }

    /// The files as they are now.
    ///
    /// # Errors
    /// One of them can be read only once.
    pub(crate) fn states(&self) -> Result<Vec<FileState>, CliError> {
        self.files().map(|file| FileState::read(file)).collect()
    }

    /// Copies what can be read only once, so that it can be read again.
    ///
    /// # Errors
    /// It cannot be copied.
    pub(crate) fn copy_pipes(&mut self) -> Result<(), CliError> {
        let is_copied = |file: &PathBuf| self.copies.contains_key(file);
        let pipes = self.files().filter(|file| !is_copied(file) && is_pipe(file));
        let pipes: BTreeSet<PathBuf> = pipes.cloned().collect();
        for path in pipes {
            let copy = SpooledPipe::copy_input(&path, spool::LARGEST).map_err(|error| {
                let path = input::format_path(&path);
                match error.kind() {
                    ErrorKind::FileTooLarge => CliError::TooLarge {
                        path,
                        mebibytes: memory::mebibytes(spool::LARGEST),
                    },
                    _ => CliError::Read { path, error },
                }
            })?;
            self.copies.insert(path, copy);
        }
        Ok(())
    }

    /// Whether a file can be read again.
    fn is_lasting(&self, file: &Path) -> bool {
        self.copies.contains_key(file) || is_file(file)
    }

    /// Opens a file.
    fn open(&self, file: &Path) -> io::Result<ObjectStream> {
        match self.copies.get(file) {
            Some(copy) => copy.open(),
            None => open(file),
        }
    }

    /// The documents that mention a word, of all files that can be read again: each file with these alone, at their places.
    /// Unreadable input is reported when it is reviewed.
    ///
    /// # Errors
    /// They are too large.
    pub(crate) fn mentioning(&self, word: &str, limits: Limits) -> Result<Vec<ManifestFile>, CliError> {
        let mut left = memory::manifests();
        let mut excerpts = Vec::new();
        for file in self.files().filter(|file| self.is_lasting(file)) {
            if !self.mentions(file, &[word]).unwrap_or_default() {
                continue;
            }
            let path = input::format_path(file);
            let too_large = || CliError::TooLarge {
                path: path.clone(),
                mebibytes: memory::mebibytes(memory::manifests()),
            };
            let Ok(stream) = self.open(file) else { continue };
            let mut excerpt = FileExcerpt::default();
            let pieces = Splitter::new(stream.input, limits).apart(&[word]);
            for piece in pieces.map_while(Result::ok) {
                if memmem::find(&piece.text, word.as_bytes()).is_none() {
                    continue;
                }
                if !excerpt.add(&piece) {
                    // Items of a list say what they are only with it.
                    excerpt.whole(self.open(file), left);
                    break;
                }
                if excerpt.len() > left {
                    return Err(too_large());
                }
            }
            left = left.checked_sub(excerpt.len()).ok_or_else(too_large)?;
            excerpts.push(excerpt.file(path));
        }
        Ok(excerpts)
    }

    /// Whether a file has one of some words.
    fn mentions(&self, file: &Path, words: &[&str]) -> io::Result<bool> {
        mentions(self.open(file)?, words)
    }

    /// Adds the namespaces and definitions of all files to what is known, but for files of which `is_other` holds for the first
    /// piece, which is read for that. Those of standard input and other pipes count from where they are, and so does what changes
    /// a namespace that is known, about which notices are given.
    pub(crate) fn survey(
        &self,
        limits: Limits,
        state: &mut ClusterState,
        is_other: Option<fn(&Piece) -> bool>,
    ) -> Vec<InputNotice> {
        let kinds = state.surveyed;
        state
            .changes
            .set_files(self.files().map(|file| input::format_path(file)));
        let mut notices = Vec::new();
        // Unreadable input is reported when it is evaluated; a pipe could not be read again.
        for file in self.files().filter(|file| self.is_lasting(file)) {
            let open = || {
                let (input, is_export) = self.open(file).and_then(etcd::items).ok()?;
                Some((Splitter::new(input, limits).map_while(Result::ok), is_export))
            };
            let Some((mut pieces, is_export)) = open() else {
                continue;
            };
            let is_other = is_other.is_some_and(|is_other| pieces.next().as_ref().is_some_and(is_other));
            // A copy of a pipe has one reader at a time.
            drop(pieces);
            if is_other || !(is_export || self.mentions(file, kinds).unwrap_or_default()) {
                continue;
            }
            if let Some((pieces, _)) = open() {
                let pieces = pieces.filter(|piece| is_export || mentions_cluster(piece, kinds));
                notices.extend(survey::survey(&input::format_path(file), pieces, state));
            }
        }
        notices
    }

    /// Sends all units in order.
    pub(crate) fn send<R>(
        self,
        limits: Limits,
        mut state: Arc<ClusterState>,
        sender: &WorkSender<InputUnit, R>,
    ) {
        for input in self.paths.iter().filter(|input| !input.is_deleted) {
            for file in &input.files {
                if send_file(&self, file, limits, &mut state, sender).is_err() {
                    return;
                }
            }
            if sender.add(InputUnit::EndOfPath(path_text(&input.path))).is_err() {
                return;
            }
        }
    }
}

fn send_file<R>(
    inputs: &UserInputs,
    file: &Path,
    limits: Limits,
    state: &mut Arc<ClusterState>,
    sender: &WorkSender<InputUnit, R>,
) -> Result<(), WorkClosed> {
    let display_path = input::format_path(file);
    let stream = match inputs.open(file) {
        Ok(stream) => stream,
        Err(error) => {
            sender.add(InputUnit::Fault(InputError::Unread {
                path: display_path,
                error,
            }))?;
            return sender.add(InputUnit::EndOfFile);
        }
    };
    let path: Arc<str> = display_path.as_str().into();
    let mut stream_state = StateOfStream::new(state, stream.is_file);
    for piece in Splitter::new(stream.input, limits).apart(stream_state.kinds()) {
        let piece = match piece {
            Ok(piece) => piece,
            Err(error) => {
                sender.add(InputUnit::Fault(InputError::of_stream(
                    display_path,
                    error,
                    limits,
                )))?;
                break;
            }
        };
        let (state, notices) = stream_state.before(&path, &piece);
        if !notices.is_empty() {
            sender.add(InputUnit::Notices(notices))?;
        }
        sender.add(InputUnit::Piece {
            path: Arc::clone(&path),
            piece,
            state,
        })?;
    }
    drop(stream_state);
    sender.add(InputUnit::EndOfFile)
}

/// Where a file is, whichever way its path is written: links to its directory are resolved, and so is a file that is one itself.
/// `directories` are those that were looked up.
fn place_of(file: &Path, directories: &mut HashMap<PathBuf, Option<PathBuf>>) -> Option<PathBuf> {
    let name = file.file_name().filter(|_| file != Path::new(STDIN))?;
    let parent = file.parent()?;
    let named = if parent.as_os_str().is_empty() {
        Path::new(".")
    } else {
        parent
    };
    let directory = directories
        .entry(named.to_owned())
        .or_insert_with(|| fs::canonicalize(named).ok());
    let place = directory.as_ref()?.join(name);
    let is_link = place
        .symlink_metadata()
        .is_ok_and(|metadata| metadata.is_symlink());
    let target = is_link.then(|| fs::canonicalize(&place).ok()).flatten();
    Some(target.unwrap_or(place))
}

/// Whether a path is a file, rather than a pipe or standard input.
fn is_file(path: &Path) -> bool {
    path != Path::new(STDIN) && fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Whether a path is standard input, a pipe or the like. A link that leads nowhere is told when it is read.
fn is_pipe(path: &Path) -> bool {
    path == Path::new(STDIN) || fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
}

/// Whether a stream has one of some words.
fn mentions(stream: ObjectStream, words: &[&str]) -> io::Result<bool> {
    const BLOCK: usize = 1 << 20;
    let finders: Vec<_> = words.iter().map(Finder::new).collect();
    let overlap = words.iter().map(|word| word.len()).max().unwrap_or_default();
    let mut input = stream.input;
    let mut block = Vec::with_capacity(BLOCK + overlap);
    loop {
        let kept = block.len();
        input.by_ref().take(BLOCK as u64).read_to_end(&mut block)?;
        if finders.iter().any(|finder| finder.find(&block).is_some()) {
            return Ok(true);
        }
        if block.len() == kept {
            return Ok(false);
        }
        let done = block.len().saturating_sub(overlap);
        block.drain(..done);
    }
}
