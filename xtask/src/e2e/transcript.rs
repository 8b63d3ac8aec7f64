//! What was tried and what came of it, printed as it happens.

/// Counts steps.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    passed: usize,
    failed: usize,
}

impl Transcript {
    /// Begins a part.
    pub(crate) fn part(&mut self, title: &str) {
        println!("\n{title}");
    }

    /// A step that passed, or what was wrong.
    pub(crate) fn step(&mut self, name: &str, outcome: Result<String, String>) {
        match outcome {
            Ok(seen) => {
                self.passed += 1;
                println!("  ok      {name}{}", indented(&seen));
            }
            Err(wrong) => {
                self.failed += 1;
                println!("  FAILED  {name}{}", indented(&wrong));
            }
        }
    }

    /// How many steps failed.
    pub(crate) fn failed(&self) -> usize {
        self.failed
    }

    /// The last line.
    pub(crate) fn summary(&self) -> String {
        format!("\n{} passed, {} failed", self.passed, self.failed)
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("\n            {line}")).collect()
}
