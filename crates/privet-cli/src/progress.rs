//! Progress on standard error for work that takes longer than a second.
//!
//! Nothing is shown when standard error is not a terminal. A bar with a known end is used only where the
//! size of the input may be known; a [`Meter::spinner`] reveals nothing about it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Work quicker than this shows nothing.
const SILENT_TIME: Duration = Duration::from_secs(1);

/// One running piece of work; it disappears when dropped.
pub struct Meter {
    bar: ProgressBar,
    _waiting: Option<Sender<()>>,
}

impl Meter {
    /// Work of unknown or private size.
    pub fn spinner(words: &str) -> Self {
        Self::new(ProgressBar::no_length(), "{spinner} {msg} {elapsed}", words)
    }

    /// Work whose progress [`Meter::at`] reports as a share of a whole.
    pub fn bar(words: &str) -> Self {
        Self::new(ProgressBar::new(1), "{msg} [{bar:30}] {percent}% {elapsed}", words)
    }

    fn new(bar: ProgressBar, style: &str, words: &str) -> Self {
        bar.set_draw_target(ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        bar.set_message(words.to_owned());
        if !std::io::stderr().is_terminal() || !crate::output::is_said("") {
            return Self { bar, _waiting: None };
        }
        let (sender, receiver) = channel::<()>();
        let shown = bar.clone();
        std::thread::spawn(move || {
            if receiver.recv_timeout(SILENT_TIME) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Self { bar, _waiting: Some(sender) }
    }

    /// Changes the text beside it.
    pub fn words(&self, words: String) {
        self.bar.set_message(words);
    }

    /// Prints a line above it.
    pub fn say(&self, words: &str) {
        self.bar.suspend(|| crate::say!("{words}"));
    }

    /// Reports the progress.
    pub fn at(&self, done: u64, total: u64) {
        self.bar.set_length(total.max(1));
        self.bar.set_position(done);
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
