//! Results in columns, as they come.

use std::path::{Path, PathBuf};

use pratique_arrow::{ResultRow, ResultRows};

use crate::arguments::{OutputChoice, ResultArguments};
use crate::destination::{self, FileReaders, OutputDestination};
use crate::evaluation::result_writer::{ColumnFormat, ResultWriter, WriteError};
use crate::exit::CliError;
use crate::output_target::OutputTarget;

/// Writers of results: none, one, or several.
#[derive(Default)]
pub(crate) struct ResultWriters(Vec<(PathBuf, ResultWriter<OutputDestination>)>);

impl ResultWriters {
    /// Opens the outputs of a command: writers for those that have `columns` and for a file that arguments name, and the others
    /// as they are. `rows` makes an empty batch.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn open_outputs<F: Copy>(
        arguments: &ResultArguments,
        outputs: Vec<OutputChoice<F>>,
        columns: fn(F) -> Option<ColumnFormat>,
        rows: fn() -> ResultRows,
    ) -> Result<(Self, Vec<OutputTarget<F>>), CliError> {
        let mut results = ResultWriters::default();
        let mut others = Vec::new();
        for output in outputs {
            let Some(format) = columns(output.format) else {
                others.push(output);
                continue;
            };
            if let Some(path) = &output.file {
                results.add(
                    path,
                    OutputDestination::open(path, FileReaders::Usual)?,
                    format,
                    rows,
                )?;
                continue;
            }
            let name = match format {
                ColumnFormat::Parquet => "parquet",
                ColumnFormat::ArrowFile | ColumnFormat::ArrowStream => "arrow",
            };
            results.add(
                Path::new("<stdout>"),
                OutputDestination::output(name)?,
                format,
                rows,
            )?;
        }
        if let (Some(path), Some(format)) = (&arguments.results, arguments.format()) {
            results.add(
                path,
                OutputDestination::open(path, FileReaders::Usual)?,
                format,
                rows,
            )?;
        }
        Ok((results, OutputTarget::open_all(&others)?))
    }

    fn add(
        &mut self,
        path: &Path,
        to: OutputDestination,
        format: ColumnFormat,
        rows: fn() -> ResultRows,
    ) -> Result<(), CliError> {
        let writer = ResultWriter::new(to, format, rows()).map_err(|error| failed(path, error))?;
        self.0.push((path.to_owned(), writer));
        Ok(())
    }

    /// Whether nothing is written.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a result.
    pub(crate) fn push(&mut self, row: &ResultRow<'_>) -> Result<(), CliError> {
        for (path, writer) in &mut self.0 {
            writer.push(row).map_err(|error| failed(path, error))?;
        }
        Ok(())
    }

    /// Writes what is left: without it, there is nothing.
    pub(crate) fn finish(&mut self) -> Result<(), CliError> {
        for (path, writer) in std::mem::take(&mut self.0) {
            let destination = writer.finish().map_err(|error| failed(&path, error))?;
            destination
                .finish()
                .map_err(|error| destination::unwritten(&path, error))?;
        }
        Ok(())
    }
}

fn failed(path: &Path, error: WriteError) -> CliError {
    destination::unwritten(path, error.into_io())
}
