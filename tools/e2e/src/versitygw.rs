//! The Versity S3 gateway over directories, with its data in the state folder: a store of objects that others wrote.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use pratique_harness::{RunningProcess, TestCertificates, ToolError, free_port};

use super::programs::ProgramPaths;

const KEY: &str = "e2e";
const SECRET: &str = "a secret of e2e";

/// A gateway that serves.
pub(super) struct S3Gateway {
    process: RunningProcess,
    endpoint: String,
    folder: PathBuf,
    authority: PathBuf,
}

impl S3Gateway {
    /// Starts one with the buckets that are there.
    pub(super) fn start(
        programs: &ProgramPaths,
        state: &Path,
        certificates: &TestCertificates,
    ) -> Result<Self, ToolError> {
        let [folder, about] = ["buckets", "about-objects"].map(|name| state.join(name));
        for folder in [&folder, &about] {
            fs::create_dir_all(folder).map_err(ToolError::file(folder))?;
        }
        let address = format!("127.0.0.1:{}", free_port()?);
        let mut command = programs.cluster("versitygw");
        command.args(["--quiet", "--access", KEY, "--secret", SECRET]);
        command.args(["--port", &address]);
        command.arg("--cert").arg(certificates.certificate());
        command.arg("--key").arg(certificates.key());
        // Not every file system has attributes for what it notes of objects.
        command.arg("posix").arg("--sidecar").arg(about).arg(&folder);
        let mut process = RunningProcess::start(command, &state.join("versitygw.log"))?;
        process.wait_until("ready", |_| Ok(TcpStream::connect(&address).is_ok()))?;
        Ok(S3Gateway {
            process,
            endpoint: format!("https://{address}"),
            folder,
            authority: certificates.authority(),
        })
    }

    /// The environment variables of a client with write access.
    pub(super) fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ACCESS_KEY_ID", KEY.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
            ("AWS_ENDPOINT_URL", self.endpoint.clone()),
            ("AWS_CA_BUNDLE", self.authority.display().to_string()),
        ]
    }

    /// Makes a bucket.
    pub(super) fn bucket(&self, name: &str) -> Result<(), ToolError> {
        let path = self.folder.join(name);
        fs::create_dir(&path).map_err(ToolError::file(&path))
    }

    /// The file with the content of an object, by `bucket/key`.
    pub(super) fn object(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// How many parts of unfinished uploads a bucket has.
    pub(super) fn parts(&self, bucket: &str) -> usize {
        // A folder for each key, in it one for each upload, with its parts.
        let uploads = self.folder.join(bucket).join(".sgwtmp/multipart");
        let folders = |path: PathBuf| entries(&path).filter(|path| path.is_dir());
        let parts = folders(uploads).flat_map(folders).flat_map(|path| entries(&path));
        parts.count()
    }

    /// Ends it at once.
    pub(super) fn kill(&mut self) -> Result<(), ToolError> {
        self.process.kill()
    }
}

fn entries(path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(path).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path()))
}
