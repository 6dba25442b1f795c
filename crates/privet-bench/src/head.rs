//! The head of a results file: time, build and machine.

use crate::line::{Head, Machine};

/// A head for the measurements from now on.
pub fn now(suite: &str) -> Head {
    Head {
        suite: suite.into(),
        started: privet_core::now(),
        version: env!("CARGO_PKG_VERSION").into(),
        commit: env!("PRIVET_COMMIT").into(),
        compiler: env!("PRIVET_COMPILER").into(),
        machine: machine(),
    }
}

/// This machine.
pub fn machine() -> Machine {
    Machine {
        processor: field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".into()),
        cores: cores(),
        memory: field("/proc/meminfo", "MemTotal")
            .and_then(|words| words.split_whitespace().next()?.parse::<u64>().ok())
            .map(|kibibytes| kibibytes * 1024),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
    }
}

/// Threads that can run at once.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The first value of that name in a file of `name: value` lines.
fn field(path: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_what_it_was_built_from() {
        let head = now("smoke");
        assert!(head.compiler.starts_with("rustc ") && !head.commit.is_empty());
        assert!(head.machine.cores >= 1 && head.started.ends_with('Z'));
    }
}
