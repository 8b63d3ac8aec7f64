//! The inputs of a scan, or of a shard of it, piece by piece.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Cursor, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use pratique_report::Shard;
use pratique_stream::{Limits, Piece, Place, Splitter};
use serde::{Deserialize, Serialize};

use super::checkpoint::CheckpointError;
use super::etcd;
use crate::exit::CliError;
use crate::input::open::open;
use crate::input::{self, InputError, STDIN};
use crate::review::ordered::{Closed, Intake};
use crate::review::read::Inputs;
use crate::review::state::ClusterState;
use crate::review::surveyed::StateOfStream;

/// Extensions of files that have one JSON value on each line.
const LINES: [&str; 2] = ["ndjson", "jsonl"];

/// The files of a scan.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    files: Vec<Source>,
    /// The part of them that is scanned.
    pub(super) shard: Shard,
}

/// A file, or standard input.
#[derive(Clone, Debug)]
pub(super) struct Source {
    path: PathBuf,
    /// As it is shown.
    pub(super) shown: Arc<str>,
    /// Its size, if it is a regular file.
    size: Option<u64>,
    form: Form,
}

/// What a file is, as far as it is known before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// JSON lines, which can be divided anywhere.
    Lines,
    /// An export of etcd.
    Export,
    Other,
}

/// A part of the inputs.
pub(super) struct Unit {
    pub(super) file: Arc<str>,
    /// Where it begins; `None` if that is not where the rest of the inputs begins.
    pub(super) start: Option<Mark>,
    pub(super) content: Content,
    /// Whether some of it belongs to other shards.
    pub(super) is_shared: bool,
    pub(super) state: Arc<ClusterState>,
}

/// What a part of the inputs has.
pub(super) enum Content {
    Piece(Piece),
    /// The rest of a file cannot be read.
    Fault(InputError),
}

/// A place between two documents of the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The file, from 0.
    pub(super) file: usize,
    pub(super) place: Place,
    /// How many documents of the file stand before it.
    pub(super) number: usize,
}

/// A file as it is at a time: what is scanned later is the same if this is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileState {
    pub(super) path: String,
    size: u64,
    modified: String,
}

/// A part of a file: from a mark to an offset.
struct Range {
    start: Mark,
    end: u64,
}

impl Sources {
    /// The files of the inputs, of which a shard is scanned.
    ///
    /// # Errors
    /// Standard input cannot be divided.
    pub(super) fn of(inputs: &Inputs, shard: Shard) -> Result<Self, CliError> {
        let files = inputs.all().iter().flat_map(|input| &input.files);
        let files: Vec<Source> = files.map(|path| Source::of(path)).collect();
        let pipe = files.iter().find(|file| file.size.is_none());
        match pipe {
            Some(pipe) if shard.of > 1 => Err(CliError::ShardOfPipe {
                path: pipe.shown.to_string(),
            }),
            _ => Ok(Sources { files, shard }),
        }
    }

    /// The exports of etcd among the files.
    pub(super) fn exports(&self) -> impl Iterator<Item = &Source> {
        self.files.iter().filter(|file| file.form == Form::Export)
    }

    /// The sizes of all files; of pipes they are not known.
    pub(super) fn bytes(&self) -> Option<u64> {
        self.files.iter().map(|file| file.size).sum()
    }

    /// The files as they are now.
    ///
    /// # Errors
    /// One of them can be read only once.
    pub(super) fn states(&self) -> Result<Vec<FileState>, CliError> {
        self.files.iter().map(Source::state).collect()
    }

    /// Gives all parts in order: all, or those from a mark.
    pub(super) fn give<R>(
        self,
        limits: Limits,
        mut state: Arc<ClusterState>,
        from: Option<Mark>,
        intake: &Intake<Unit, R>,
    ) {
        let first = from.map_or(0, |mark| mark.file);
        for (index, file) in self.files.iter().enumerate().skip(first) {
            let from = from.filter(|mark| mark.file == index);
            if file
                .give(index, self.shard, limits, &mut state, from, intake)
                .is_err()
            {
                return;
            }
        }
    }
}

impl Source {
    fn of(path: &Path) -> Self {
        let found = match path == Path::new(STDIN) {
            true => None,
            false => fs::metadata(path).ok().filter(fs::Metadata::is_file),
        };
        let mut source = Source {
            path: path.to_owned(),
            shown: input::shown(path).into(),
            size: found.map(|found| found.len()),
            form: Form::Other,
        };
        let has_lines = path
            .extension()
            .is_some_and(|extension| LINES.iter().any(|lines| extension == *lines));
        if source.size.is_some() {
            source.form = match source.head() {
                head if etcd::is_export(&head) => Form::Export,
                head if has_lines && !head.starts_with(&[0x1f, 0x8b]) => Form::Lines,
                _ => Form::Other,
            };
        }
        source
    }

    /// What a regular file begins with, decompressed; nothing if it cannot be read.
    fn head(&self) -> Vec<u8> {
        let mut head = Vec::new();
        let is_compressed = || {
            let mut bytes = [0; 2];
            let read = File::open(&self.path).and_then(|mut file| file.read_exact(&mut bytes));
            read.is_ok() && bytes == [0x1f, 0x8b]
        };
        if let Ok(stream) = open(&self.path) {
            let length = etcd::HEAD_LENGTH as u64;
            // What cannot be read is told when it is scanned.
            drop(stream.input.take(length).read_to_end(&mut head));
        }
        match etcd::is_export(&head) {
            false if is_compressed() => vec![0x1f, 0x8b],
            _ => head,
        }
    }

    /// The file as it is now.
    fn state(&self) -> Result<FileState, CliError> {
        let path = self.shown.to_string();
        let Some(size) = self.size else {
            return Err(CliError::ShardOfPipe { path });
        };
        let modified = fs::metadata(&self.path).and_then(|found| found.modified());
        let modified = modified.map_err(|error| CliError::Read {
            path: path.clone(),
            error,
        })?;
        let since = modified.duration_since(SystemTime::UNIX_EPOCH);
        Ok(FileState {
            path,
            size,
            modified: since.map_or_else(|_| String::new(), |since| format!("{since:?}")),
        })
    }

    /// Opens it, from its beginning; of an export, its items.
    pub(super) fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let mut input = open(&self.path)?.input;
        let mut head = Vec::with_capacity(etcd::HEAD_LENGTH);
        let length = etcd::HEAD_LENGTH as u64;
        input.by_ref().take(length).read_to_end(&mut head)?;
        let is_export = etcd::is_export(&head);
        let whole = Cursor::new(head).chain(input);
        Ok(match is_export {
            true => Box::new(etcd::Items::new(whole)),
            false => Box::new(whole),
        })
    }

    /// Opens the part of a shard, at its first document.
    fn open_part(&self, index: usize, shard: Shard) -> io::Result<(Box<dyn Read + Send>, Mark)> {
        match (self.form, self.size) {
            (Form::Lines, Some(size)) if shard.of > 1 => {
                let Range { start, end } = self.range(index, shard, size)?;
                let mut file = File::open(&self.path)?;
                let offset = start.place.offset as u64;
                file.seek(SeekFrom::Start(offset))?;
                Ok((Box::new(file.take(end.saturating_sub(offset))), start))
            }
            _ => Ok((self.open()?, Mark::start_of(index))),
        }
    }

    /// The part of a file of lines: the lines that begin in its share of the bytes.
    fn range(&self, index: usize, shard: Shard, size: u64) -> io::Result<Range> {
        let share = |part: u32| {
            let offset = u128::from(size) * u128::from(part) / u128::from(shard.of.max(1));
            u64::try_from(offset).unwrap_or(size)
        };
        let start = self.line_from(share(shard.index), size)?;
        let end = self.line_from(share(shard.index.saturating_add(1)), size)?;
        let lines = self.lines_before(start)?;
        let place = Place {
            line: lines.saturating_add(1),
            column: 0,
            offset: usize::try_from(start).unwrap_or(usize::MAX),
        };
        Ok(Range {
            start: Mark {
                file: index,
                place,
                number: lines,
            },
            end,
        })
    }

    /// Where the first line begins that does not begin before an offset.
    fn line_from(&self, offset: u64, size: u64) -> io::Result<u64> {
        if offset == 0 || offset >= size {
            return Ok(offset.min(size));
        }
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(offset - 1))?;
        let skipped = BufReader::new(file).skip_until(b'\n')?;
        Ok((offset - 1).saturating_add(skipped as u64))
    }

    /// How many lines end before an offset.
    fn lines_before(&self, offset: u64) -> io::Result<usize> {
        let mut rest = File::open(&self.path)?.take(offset);
        let mut block = vec![0; 1 << 20];
        let mut lines = 0;
        loop {
            match rest.read(&mut block)? {
                0 => return Ok(lines),
                count => lines += memchr::memchr_iter(b'\n', block.get(..count).unwrap_or_default()).count(),
            }
        }
    }

    fn give<R>(
        &self,
        index: usize,
        shard: Shard,
        limits: Limits,
        state: &mut Arc<ClusterState>,
        from: Option<Mark>,
        intake: &Intake<Unit, R>,
    ) -> Result<(), Closed> {
        let from = from.map_or(0, |mark| mark.place.offset);
        let is_shared = shard.of > 1 && self.form != Form::Lines;
        let unit = |start, content, state| Unit {
            file: Arc::clone(&self.shown),
            start,
            content,
            is_shared,
            state,
        };
        let (input, start) = match self.open_part(index, shard) {
            Ok(opened) => opened,
            Err(error) => {
                let path = self.shown.to_string();
                let fault = Content::Fault(InputError::Unread { path, error });
                return intake.add(unit(Some(Mark::start_of(index)), fault, Arc::clone(state)));
            }
        };
        let mut known = StateOfStream::new(state, self.size.is_some());
        let splitter = Splitter::new(input, limits).starting_at(start.place, start.number);
        for piece in splitter.apart(known.words()) {
            let piece = match piece {
                Ok(piece) => piece,
                Err(error) => {
                    let fault = InputError::of_stream(self.shown.to_string(), error, limits);
                    return intake.add(unit(None, Content::Fault(fault), known.now()));
                }
            };
            let state = known.before(&self.shown, &piece);
            let at = Mark {
                file: index,
                place: piece.start,
                number: piece.number,
            };
            if at.place.offset < from {
                // It was scanned before the checkpoint, to which it has to reach.
                if at.place.offset + piece.text.len() <= from {
                    continue;
                }
                let path = self.shown.to_string();
                let error = CheckpointError::Changed(path.clone());
                let fault = InputError::Cli(CliError::Checkpoint { path, error });
                return intake.add(unit(None, Content::Fault(fault), state));
            }
            intake.add(unit(Some(at), Content::Piece(piece), state))?;
        }
        Ok(())
    }
}

impl Mark {
    /// A place of a file, of which nothing else is known.
    pub(super) fn at(file: usize, offset: usize) -> Self {
        Mark {
            file,
            place: Place {
                offset,
                ..Place::START
            },
            number: 0,
        }
    }

    fn start_of(file: usize) -> Self {
        Mark {
            file,
            place: Place::START,
            number: 0,
        }
    }
}
