//! Files of results, in columns.

use std::path::PathBuf;

use clap::Args;

use crate::evaluation::result_writer::ColumnFormat;

/// Where results are written to, besides what is printed.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ResultArguments {
    /// Write a row for each object or request, with the decision and what was found: as Parquet if the name ends in
    /// `.parquet`, and as Arrow IPC if it ends in `.arrow`. `s3://BUCKET/KEY` is an object of an S3-compatible store, which
    /// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL describe.
    #[arg(long, env = "PRATIQUE_RESULTS", value_name = "FILE", value_parser = of_columns)]
    pub(crate) results: Option<PathBuf>,
}

impl ResultArguments {
    /// The format of the file, which its name says.
    pub(crate) fn format(&self) -> Option<ColumnFormat> {
        self.results
            .as_deref()
            .and_then(|path| format(&path.to_string_lossy()))
    }
}

fn format(name: &str) -> Option<ColumnFormat> {
    let (_, extension) = name.rsplit_once('.')?;
    match extension {
        "parquet" => Some(ColumnFormat::Parquet),
        "arrow" => Some(ColumnFormat::ArrowFile),
        _ => None,
    }
}

/// Parses the name of a file of columns.
fn of_columns(text: &str) -> Result<PathBuf, String> {
    match format(text) {
        Some(_) => Ok(PathBuf::from(text)),
        None => Err("expected a name that ends in .parquet or .arrow".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_format() {
        for (name, expected) in [
            ("a.parquet", Some(ColumnFormat::Parquet)),
            ("s3://bucket/a/b.arrow", Some(ColumnFormat::ArrowFile)),
            ("a.json", None),
            ("parquet", None),
        ] {
            assert_eq!(format(name), expected, "{name}");
        }
    }
}
