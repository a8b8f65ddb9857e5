//! What a long statement shows on standard error: a moving line on a terminal, elsewhere a line now and then.

use std::future::Future;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::Instant;

use crate::terminal;

/// A statement that is done sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(800);

/// Between two lines where no terminal is.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Between two frames on a terminal.
const FRAME: Duration = Duration::from_millis(120);

/// Progress of one command.
#[derive(Clone, Debug)]
pub struct Progress {
    quiet: bool,
    /// Steps done and steps in all, of a script.
    steps: Option<(usize, usize)>,
}

impl Progress {
    /// Progress of one statement.
    pub fn new(quiet: bool) -> Self {
        Self { quiet, steps: None }
    }

    /// The same for statement `done + 1` of `all`.
    pub fn of_step(&self, done: usize, all: usize) -> Self {
        Self {
            quiet: self.quiet,
            steps: Some((done, all)),
        }
    }

    /// Run the work and show that it goes on.
    pub async fn watch<T>(&self, what: &str, work: impl Future<Output = T>) -> T {
        if self.quiet {
            return work.await;
        }
        let mut work = std::pin::pin!(work);
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = tokio::time::sleep(PATIENCE) => {}
        }
        if terminal::error_is_terminal() {
            let bar = self.bar(what);
            let done = work.await;
            bar.finish_and_clear();
            return done;
        }
        let start = Instant::now();
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = tokio::time::sleep(BETWEEN_LINES) => {
                    let seconds = (start.elapsed() + PATIENCE).as_secs();
                    terminal::complain(&format!("{}{}: {seconds} s\n", self.place(), first_line(what)));
                }
            }
        }
    }

    fn place(&self) -> String {
        self.steps
            .map(|(done, all)| format!("[{}/{all}] ", done + 1))
            .unwrap_or_default()
    }

    fn bar(&self, what: &str) -> ProgressBar {
        let bar = match self.steps {
            Some((done, all)) => ProgressBar::new(all as u64).with_position(done as u64),
            None => ProgressBar::new_spinner(),
        };
        let form = match self.steps {
            Some(_) => "{spinner} [{bar:20}] {pos}/{len} {elapsed} {msg}",
            None => "{spinner} {elapsed} {msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style);
        }
        bar.set_message(first_line(what));
        bar.enable_steady_tick(FRAME);
        bar
    }
}

/// Enough of a statement to know it again.
fn first_line(what: &str) -> String {
    const MOST: usize = 60;
    let line = what.trim().lines().next().unwrap_or_default();
    if line.chars().count() <= MOST {
        return line.to_owned();
    }
    line.chars().take(MOST).chain("…".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Progress, first_line};

    #[test]
    fn the_message_is_one_short_line() {
        assert_eq!(first_line("\nSELECT 1\nFROM t"), "SELECT 1");
        assert_eq!(first_line(&"x".repeat(100)).chars().count(), 61);
    }

    #[test]
    fn a_step_of_a_script_counts_from_one() {
        assert_eq!(Progress::new(false).of_step(0, 12).place(), "[1/12] ");
    }
}
