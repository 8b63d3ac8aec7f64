//! Where the outputs of a command go: one to standard output, others to files.

use std::io::Write as _;
use std::path::PathBuf;

use crate::arguments::OutputChoice;
use crate::destination::{self, FileReaders, OutputDestination, unwritten};
use crate::exit::CliError;
use crate::output::PrintedOutput;
use crate::output::capture::captured;
use crate::style::StreamStyle;

/// An output in a format. A file is visible under its name once it is finished.
pub(crate) struct OutputTarget<F> {
    pub(crate) format: F,
    file: Option<(PathBuf, OutputDestination)>,
}

impl<F: Copy> OutputTarget<F> {
    /// Opens the outputs of a command.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn open_all(choices: &[OutputChoice<F>]) -> Result<Vec<Self>, CliError> {
        let targets = choices.iter().map(|choice| {
            let open = |path: &PathBuf| {
                Ok::<_, CliError>((path.clone(), OutputDestination::open(path, FileReaders::Usual)?))
            };
            Ok(OutputTarget {
                format: choice.format,
                file: choice.file.as_ref().map(open).transpose()?,
            })
        });
        targets.collect()
    }

    /// Whether it goes to standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        self.file.is_none()
    }

    /// The style of its text.
    pub(crate) fn style(&self) -> StreamStyle {
        style_of(self.is_stdout())
    }

    /// Runs something that prints to this output.
    ///
    /// # Errors
    /// It fails, or cannot be written.
    pub(crate) fn print(&mut self, print: impl FnOnce() -> Result<(), CliError>) -> Result<(), CliError> {
        let Some((path, destination)) = &mut self.file else {
            return print();
        };
        let (result, text) = captured(print);
        result?;
        destination
            .write_all(&text)
            .map_err(|error| unwritten(path, error))
    }

    /// Prints to this output what was printed before.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn add(&mut self, printed: &PrintedOutput) -> Result<(), CliError> {
        self.print(|| printed.print())
    }

    /// Makes a file visible under its name.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn finish(self) -> Result<(), CliError> {
        match self.file {
            Some((path, destination)) => destination.finish().map_err(|error| unwritten(&path, error)),
            None => Ok(()),
        }
    }
}

/// The style of the text of an output, by whether it goes to standard output.
pub(crate) fn style_of(is_stdout: bool) -> StreamStyle {
    if is_stdout {
        StreamStyle::of_stdout()
    } else {
        StreamStyle::default()
    }
}

/// Verifies before a long run that the outputs of a command can be written to.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn verify<F>(choices: &[OutputChoice<F>]) -> Result<(), CliError> {
    destination::verify(choices.iter().filter_map(|choice| choice.file.as_ref()))
}

/// The output in a format, if a command has one.
pub(crate) fn in_format<F: Copy + PartialEq>(
    targets: &mut [OutputTarget<F>],
    format: F,
) -> Option<&mut OutputTarget<F>> {
    targets.iter_mut().find(|target| target.format == format)
}

/// Prints what was printed before to the output in a format, if a command has one.
///
/// # Errors
/// It cannot be written.
pub(crate) fn add_in_format<F: Copy + PartialEq>(
    targets: &mut [OutputTarget<F>],
    format: F,
    printed: &PrintedOutput,
) -> Result<(), CliError> {
    in_format(targets, format).map_or(Ok(()), |target| target.add(printed))
}

/// Prints all outputs of a command that prints at its end.
///
/// # Errors
/// One of them fails.
pub(crate) fn print_all<F: Copy>(
    targets: Vec<OutputTarget<F>>,
    mut print: impl FnMut(F, bool) -> Result<(), CliError>,
) -> Result<(), CliError> {
    for mut target in targets {
        let (format, is_stdout) = (target.format, target.is_stdout());
        target.print(|| print(format, is_stdout))?;
        target.finish()?;
    }
    Ok(())
}
