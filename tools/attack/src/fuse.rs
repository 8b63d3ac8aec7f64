//! A directory whose disk is slow, or does not answer at all, as that of a network may be: as much of FUSE as it takes to
//! show the files of another directory (version 7.31 of the protocol, `include/uapi/linux/fuse.h`).

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pratique_harness::ToolError;

const LOOKUP: u32 = 1;
const FORGET: u32 = 2;
const GETATTR: u32 = 3;
const OPEN: u32 = 14;
const READ: u32 = 15;
const RELEASE: u32 = 18;
const INIT: u32 = 26;
const OPENDIR: u32 = 27;
const READDIR: u32 = 28;
const RELEASEDIR: u32 = 29;
const INTERRUPT: u32 = 36;
const BATCH_FORGET: u32 = 42;

/// Errors, as the negative numbers of the system.
const NO_SUCH_FILE: i32 = -2;
const NO_SUCH_CALL: i32 = -38;

/// The largest request: a page more than what is written at once.
const REQUEST: usize = (128 << 10) + 4096;
/// How often a held call checks whether it is still held.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The behaviour of the directory, shared by copies.
#[derive(Clone)]
pub(super) struct SlowDirectory(Arc<FuseState>);

struct FuseState {
    source: PathBuf,
    /// How long each call takes, in milliseconds.
    delay: AtomicU64,
    /// Whether no call is answered.
    held: AtomicBool,
    /// The names of files, whose numbers are two more than their places here: 1 is the directory.
    names: Mutex<Vec<String>>,
}

impl SlowDirectory {
    /// Shows the files of a directory at another place, to a process and those that share its mounts, until this program
    /// ends.
    pub(super) fn mount(source: &Path, at: &Path, process: u32) -> Result<Self, ToolError> {
        let failed = |error: io::Error| format!("/dev/fuse: {error}");
        let device = File::options()
            .read(true)
            .write(true)
            .open("/dev/fuse")
            .map_err(failed)?;
        let state = FuseState {
            source: source.to_owned(),
            delay: AtomicU64::new(0),
            held: AtomicBool::new(false),
            names: Mutex::default(),
        };
        let slow = SlowDirectory(Arc::new(state));
        let stdin = device.try_clone().map_err(failed)?;
        let (served, channel) = (slow.clone(), device);
        thread::spawn(move || served.serve(&channel));
        let output = Command::new("nsenter")
            .args(["--target", &process.to_string(), "--mount"])
            .args(["mount", "-i", "-t", "fuse"])
            .args([
                "-o",
                "ro,fd=0,rootmode=40000,user_id=0,group_id=0,allow_other",
                "slow",
            ])
            .arg(at)
            .stdin(Stdio::from(stdin))
            .output()
            .map_err(|error| format!("nsenter: {error}"))?;
        if output.status.success() {
            Ok(slow)
        } else {
            Err(format!("mount: {}", String::from_utf8_lossy(&output.stderr).trim()).into())
        }
    }

    /// Delays each call.
    pub(super) fn delay(&self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.0.delay.store(millis, Ordering::Relaxed);
    }

    /// Holds all calls, or releases them.
    pub(super) fn hold(&self, held: bool) {
        self.0.held.store(held, Ordering::Relaxed);
    }

    /// Answers calls until the mount goes.
    fn serve(&self, device: &File) {
        let mut buffer = vec![0; REQUEST];
        loop {
            let mut channel = device;
            let length = match channel.read(&mut buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // It is not mounted yet.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    thread::sleep(POLL_INTERVAL);
                    continue;
                }
                Err(_) => return,
            };
            let request = buffer.get(..length).unwrap_or_default().to_vec();
            let Ok(channel) = device.try_clone() else { return };
            let slow = self.clone();
            // Each has a thread, as one that is held keeps no other from being held, too.
            thread::spawn(move || slow.answer(&request, &channel));
        }
    }

    fn answer(&self, request: &[u8], mut channel: &File) {
        let (code, unique, node) = (word(request, 4), long(request, 8), long(request, 16));
        if matches!(code, FORGET | BATCH_FORGET | INTERRUPT) {
            return;
        }
        if code != INIT {
            thread::sleep(Duration::from_millis(self.0.delay.load(Ordering::Relaxed)));
            while self.0.held.load(Ordering::Relaxed) {
                thread::sleep(POLL_INTERVAL);
            }
        }
        let arguments = request.get(40..).unwrap_or_default();
        let (error, body) = match self.done(code, node, arguments) {
            Ok(body) => (0, body),
            Err(error) => (error, Vec::new()),
        };
        let mut reply = Vec::with_capacity(16 + body.len());
        reply.extend(u32::try_from(16 + body.len()).unwrap_or_default().to_ne_bytes());
        reply.extend(error.to_ne_bytes());
        reply.extend(unique.to_ne_bytes());
        reply.extend(body);
        // The caller has gone away.
        let _ = channel.write(&reply);
    }

    fn done(&self, code: u32, node: u64, arguments: &[u8]) -> Result<Vec<u8>, i32> {
        match code {
            INIT => Ok(le_words(&[
                7,
                31,
                word(arguments, 8),
                0,
                0x000c_0010,
                128 << 10,
                1,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
            ])),
            LOOKUP => {
                let name = arguments.split(|byte| *byte == 0).next().unwrap_or_default();
                let node = self.number(&String::from_utf8_lossy(name));
                let mut entry = longs(&[node, 0, 0, 0]);
                entry.extend(le_words(&[0, 0]));
                entry.extend(self.attributes(node)?);
                Ok(entry)
            }
            GETATTR => {
                let mut reply = longs(&[0, 0]);
                reply.extend(self.attributes(node)?);
                Ok(reply)
            }
            OPEN | OPENDIR => Ok(vec![0; 16]),
            READ => {
                let file = File::open(self.path(node)).map_err(|_| NO_SUCH_FILE)?;
                let mut bytes = vec![0; word(arguments, 16) as usize];
                let length = file
                    .read_at(&mut bytes, long(arguments, 8))
                    .map_err(|_| NO_SUCH_FILE)?;
                bytes.truncate(length);
                Ok(bytes)
            }
            READDIR => self.entries(long(arguments, 8), word(arguments, 16) as usize),
            RELEASE | RELEASEDIR => Ok(Vec::new()),
            _ => Err(NO_SUCH_CALL),
        }
    }

    /// The entries from one on, as many as there is room for.
    fn entries(&self, first: u64, room: usize) -> Result<Vec<u8>, i32> {
        let read = fs::read_dir(&self.0.source).map_err(|_| NO_SUCH_FILE)?;
        let mut names: Vec<String> = read
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        let mut bytes = Vec::new();
        for (index, name) in (1_u64..).zip(&names).filter(|(index, _)| *index > first) {
            const FILE: u32 = 8;
            let mut entry = longs(&[self.number(name), index]);
            entry.extend(le_words(&[u32::try_from(name.len()).unwrap_or_default(), FILE]));
            entry.extend(name.bytes());
            entry.resize(entry.len().next_multiple_of(8), 0);
            if bytes.len() + entry.len() > room {
                break;
            }
            bytes.extend(entry);
        }
        Ok(bytes)
    }

    fn attributes(&self, node: u64) -> Result<Vec<u8>, i32> {
        let metadata = fs::metadata(self.path(node)).map_err(|_| NO_SUCH_FILE)?;
        let seconds = |time: i64| time.cast_unsigned();
        let mut attributes = longs(&[
            node,
            metadata.size(),
            metadata.blocks(),
            seconds(metadata.atime()),
            seconds(metadata.mtime()),
            seconds(metadata.ctime()),
        ]);
        let nanos = |time: i64| u32::try_from(time).unwrap_or_default();
        attributes.extend(le_words(&[
            nanos(metadata.atime_nsec()),
            nanos(metadata.mtime_nsec()),
            nanos(metadata.ctime_nsec()),
            metadata.mode(),
            1,
            metadata.uid(),
            metadata.gid(),
            0,
            4096,
            0,
        ]));
        Ok(attributes)
    }

    /// The number of a file; a new one has the next.
    fn number(&self, name: &str) -> u64 {
        let mut names = self.0.names.lock().unwrap_or_else(PoisonError::into_inner);
        let place = names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        });
        place as u64 + 2
    }

    fn path(&self, node: u64) -> PathBuf {
        let names = self.0.names.lock().unwrap_or_else(PoisonError::into_inner);
        let place = node.checked_sub(2).and_then(|place| usize::try_from(place).ok());
        match place.and_then(|place| names.get(place)) {
            Some(name) => self.0.source.join(name),
            None => self.0.source.clone(),
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let chunk = bytes.get(at..).and_then(|rest| rest.first_chunk());
    u32::from_ne_bytes(chunk.copied().unwrap_or_default())
}

fn long(bytes: &[u8], at: usize) -> u64 {
    let chunk = bytes.get(at..).and_then(|rest| rest.first_chunk());
    u64::from_ne_bytes(chunk.copied().unwrap_or_default())
}

fn le_words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

fn longs(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}
