//! The machine: what it is, and how much of it a server may take.

use std::fs;
use std::process::Command;
use std::time::Duration;

/// Cores and processor, for the head of the report.
pub fn description() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let list = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = field(&list, "model name").unwrap_or("an unknown processor");
    format!("{cores} cores, {model}, {} MB of memory", memory())
}

/// Memory of the machine in megabytes.
pub fn memory() -> u64 {
    let list = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kilobytes = field(&list, "MemTotal").and_then(|text| text.split(' ').next()?.parse().ok());
    kilobytes.unwrap_or(1 << 20) / 1024
}

/// Memory that processes can share through /dev/shm, in megabytes: little in a container.
pub fn shared_memory() -> u64 {
    let output = Command::new("df").args(["-B1M", "--output=avail", "/dev/shm"]).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let last = text.ok().and_then(|text| text.lines().last()?.trim().parse().ok());
    last.unwrap_or(0)
}

/// A time to wait, in minutes and seconds.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

fn field<'a>(list: &'a str, name: &str) -> Option<&'a str> {
    let line = list.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim())
}
