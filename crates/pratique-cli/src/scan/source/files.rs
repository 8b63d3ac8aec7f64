//! The files of a scan, or of a shard of it, piece by piece.

use std::fs;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pratique_report::InputShard;
use pratique_stream::{Limits, Splitter, StreamPlace};

use super::{ScanUnit, UnitContent};
use crate::evaluation::state::ClusterState;
use crate::exit::CliError;
use crate::input::open::{open, reopen};
use crate::input::{self, InputError, STDIN};
use crate::scan::scan_error::ScanError;
use crate::stream::checkpoint::{CountedPart, FileState, InputMark, MarkPlace};
use crate::stream::etcd::{self, StreamHead};
use crate::stream::ordered_work::{WorkClosed, WorkSender};
use crate::stream::read::UserInputs;
use crate::stream::survey::StateOfStream;

/// Extensions of files that have one JSON value on each line.
const LINES: [&str; 2] = ["ndjson", "jsonl"];

/// The files of a scan.
#[derive(Clone, Debug)]
pub(in crate::scan) struct ScanFiles {
    files: Vec<FileSource>,
    /// The part of them that is scanned.
    pub(super) shard: InputShard,
}

/// A file, or standard input.
#[derive(Clone, Debug)]
struct FileSource {
    path: PathBuf,
    /// The path as it is shown.
    shown: Arc<str>,
    /// Its size, if it is a regular file.
    size: Option<u64>,
    /// Whether it has JSON lines, which can be divided anywhere.
    has_lines: bool,
}

/// The part of a file that a scan reads.
struct FilePart<'f> {
    file: &'f FileSource,
    /// Which of the files it is, from 0.
    index: usize,
    shard: InputShard,
    /// The bytes of all files before it.
    before: u64,
    /// The offset before which everything was scanned before.
    from: usize,
}

/// A part of a file: from a document to an offset.
struct FileRange {
    start: DocumentStart,
    end: u64,
}

/// Where a document begins.
#[derive(Clone, Copy)]
struct DocumentStart {
    place: StreamPlace,
    /// How many documents of the file stand before it.
    number: usize,
}

impl ScanFiles {
    /// The files of the inputs, of which a shard is scanned.
    ///
    /// # Errors
    /// Standard input cannot be divided.
    pub(in crate::scan) fn new(inputs: &UserInputs, shard: InputShard) -> Result<Self, CliError> {
        let files = inputs.as_slice().iter().flat_map(|input| &input.files);
        let files: Vec<FileSource> = files.map(|path| FileSource::new(path)).collect();
        let pipe = files.iter().find(|file| file.size.is_none());
        match pipe {
            Some(pipe) if shard.of > 1 => Err(CliError::Scan(ScanError::ShardOfPipe {
                path: pipe.shown.to_string(),
            })),
            _ => Ok(ScanFiles { files, shard }),
        }
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
        self.files
            .iter()
            .map(|file| FileState::read(&file.path))
            .collect()
    }

    /// Sends all parts in order: all, or those from a mark.
    pub(super) fn send<R>(
        self,
        limits: Limits,
        mut state: Arc<ClusterState>,
        from: Option<InputMark>,
        sender: &WorkSender<ScanUnit, R>,
    ) {
        let first = from.as_ref().map_or(0, |mark| mark.source);
        let mut preceding_size: u64 = self.files.iter().take(first).filter_map(|file| file.size).sum();
        for (index, file) in self.files.iter().enumerate().skip(first) {
            let part = FilePart {
                file,
                index,
                shard: self.shard,
                before: preceding_size,
                from: InputMark::offset_in(from.as_ref(), index),
            };
            if part.send(limits, &mut state, sender).is_err() {
                return;
            }
            preceding_size = preceding_size.saturating_add(file.size.unwrap_or_default());
        }
    }
}

impl FileSource {
    fn new(path: &Path) -> Self {
        let size = match fs::metadata(path) {
            _ if path == Path::new(STDIN) => None,
            Ok(metadata) => metadata.is_file().then_some(metadata.len()),
            // There is nothing to divide in what is not there.
            Err(_) => Some(0),
        };
        let mut source = FileSource {
            path: path.to_owned(),
            shown: input::format_path(path).into(),
            size,
            has_lines: false,
        };
        let extension = path.extension().unwrap_or_default();
        // Unreadable input is reported when it is scanned.
        source.has_lines = LINES.iter().any(|lines| extension == *lines)
            && source
                .head()
                .is_ok_and(|head| !head.is_export() && !head.is_compressed);
        source
    }

    /// The beginning of a regular file; of others, nothing is read.
    fn head(&self) -> io::Result<StreamHead> {
        if self.size.is_none() {
            return Err(ErrorKind::NotSeekable.into());
        }
        StreamHead::read(&mut open(&self.path)?)
    }

    /// Opens it, from its beginning; of an export, its items.
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let (items, _) = etcd::items(open(&self.path)?)?;
        Ok(items)
    }

    /// Opens the part of a shard, at its first document.
    fn open_part(&self, shard: InputShard) -> io::Result<(Box<dyn Read + Send>, DocumentStart)> {
        match (self.has_lines, self.size) {
            (true, Some(size)) if shard.of > 1 => {
                let FileRange { start, end } = self.range(shard, size)?;
                let mut file = reopen(&self.path)?;
                let offset = start.place.offset as u64;
                file.seek(SeekFrom::Start(offset))?;
                Ok((Box::new(file.take(end.saturating_sub(offset))), start))
            }
            _ => Ok((self.open()?, DocumentStart::OF_FILE)),
        }
    }

    /// The part of a file of lines: the lines that begin in its share of the bytes.
    fn range(&self, shard: InputShard, size: u64) -> io::Result<FileRange> {
        let share = |part: u32| {
            let offset = u128::from(size) * u128::from(part) / u128::from(shard.of.max(1));
            u64::try_from(offset).unwrap_or(size)
        };
        let start = self.line_from(share(shard.index), size)?;
        let end = self.line_from(share(shard.index.saturating_add(1)), size)?;
        let lines = self.lines_before(start)?;
        let place = StreamPlace {
            line: lines.saturating_add(1),
            column: 0,
            offset: usize::try_from(start).unwrap_or(usize::MAX),
        };
        Ok(FileRange {
            start: DocumentStart { place, number: lines },
            end,
        })
    }

    /// Where the first line begins that does not begin before an offset.
    fn line_from(&self, offset: u64, size: u64) -> io::Result<u64> {
        if offset == 0 || offset >= size {
            return Ok(offset.min(size));
        }
        let mut file = reopen(&self.path)?;
        file.seek(SeekFrom::Start(offset - 1))?;
        let skipped = BufReader::new(file).skip_until(b'\n')?;
        Ok((offset - 1).saturating_add(skipped as u64))
    }

    /// How many lines end before an offset.
    fn lines_before(&self, offset: u64) -> io::Result<usize> {
        let mut rest = reopen(&self.path)?.take(offset);
        let mut block = vec![0; 1 << 20];
        let mut lines = 0;
        loop {
            match rest.read(&mut block)? {
                0 => return Ok(lines),
                count => lines += memchr::memchr_iter(b'\n', block.get(..count).unwrap_or_default()).count(),
            }
        }
    }
}

impl FilePart<'_> {
    fn send<R>(
        &self,
        limits: Limits,
        state: &mut Arc<ClusterState>,
        sender: &WorkSender<ScanUnit, R>,
    ) -> Result<(), WorkClosed> {
        let file = self.file;
        let is_shared = self.shard.of > 1 && !file.has_lines;
        let unit = |start, content, state| ScanUnit {
            file: Arc::clone(&file.shown),
            start,
            content,
            is_shared,
            state,
        };
        let (input, start) = match file.open_part(self.shard) {
            Ok(opened) => opened,
            Err(error) => {
                let path = file.shown.to_string();
                let fault = UnitContent::fault(InputError::Unread { path, error });
                return sender.add(unit(
                    Some(self.mark(StreamPlace::START)),
                    fault,
                    Arc::clone(state),
                ));
            }
        };
        let mut stream_state = StateOfStream::new(state, file.size.is_some());
        let splitter = Splitter::new(input, limits).starting_at(start.place, start.number);
        let mut counted = CountedPart::before(self.from, &file.shown);
        for piece in splitter.apart(stream_state.kinds()) {
            let piece = match piece {
                Ok(piece) => piece,
                Err(error) => {
                    let fault = InputError::of_stream(file.shown.to_string(), error, limits);
                    return sender.add(unit(None, UnitContent::fault(fault), stream_state.now()));
                }
            };
            let (state, notices) = stream_state.before(&file.shown, &piece);
            if !notices.is_empty() {
                sender.add(unit(None, UnitContent::Notices(notices), Arc::clone(&state)))?;
            }
            match counted.has(&piece) {
                Ok(true) => continue,
                Ok(false) => {}
                Err(fault) => return sender.add(unit(None, UnitContent::fault(fault), state)),
            }
            let mark = self.mark(piece.start);
            sender.add(unit(Some(mark), UnitContent::Piece(piece), state))?;
        }
        match counted.end() {
            Ok(()) => Ok(()),
            Err(fault) => sender.add(unit(None, UnitContent::fault(fault), stream_state.now())),
        }
    }

    fn mark(&self, place: StreamPlace) -> InputMark {
        InputMark {
            source: self.index,
            at: MarkPlace::Offset(place.offset),
            done: self.before.saturating_add(place.offset as u64),
        }
    }
}

impl DocumentStart {
    const OF_FILE: Self = DocumentStart {
        place: StreamPlace::START,
        number: 0,
    };
}
