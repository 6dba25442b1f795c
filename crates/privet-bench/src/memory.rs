//! Peak memory of a part of this process's run, and the memory of the machine (Linux; elsewhere
//! unknown).

use std::fs;

/// Resets the recorded peak; returns the bytes now resident.
pub fn start() -> Option<u64> {
    // 5: reset the peak (man 5 proc, clear_refs).
    fs::write("/proc/self/clear_refs", "5").ok()?;
    resident_bytes()
}

/// Bytes now resident.
pub fn resident_bytes() -> Option<u64> {
    field("VmRSS")
}

/// The peak since [`start`], in bytes.
pub fn peak() -> Option<u64> {
    field("VmHWM")
}

/// The peak of resident bytes of another process; unknown once it has ended.
pub fn peak_of(process: u32) -> Option<u64> {
    kilobytes(&format!("/proc/{process}/status"), "VmHWM")
}

/// The machine's memory in bytes.
pub fn machine() -> Option<u64> {
    kilobytes("/proc/meminfo", "MemTotal")
}

fn field(name: &str) -> Option<u64> {
    kilobytes("/proc/self/status", name)
}

/// A line `name: 12 kB` of a file, in bytes.
fn kilobytes(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}
