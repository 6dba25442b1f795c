//! Peak memory of a stretch of this process (Linux; elsewhere unknown).

use std::fs;

/// Bytes now resident, after forgetting the peak so far.
pub fn start() -> Option<u64> {
    // 5: reset the peak (man 5 proc, clear_refs).
    fs::write("/proc/self/clear_refs", "5").ok()?;
    field("VmRSS")
}

/// The peak since [`start`], in bytes.
pub fn peak() -> Option<u64> {
    field("VmHWM")
}

fn field(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}
