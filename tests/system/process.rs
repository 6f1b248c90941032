//! Processes of the machine, through /proc and the shell's kill.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::cluster::wait_for;

/// Sends a signal; the process may have gone already.
pub fn signal(process: u32, signal: &str) {
    // The program kill is not on every machine; the shell always has its own. What it says of a process
    // that has gone is of no interest.
    let kill = ["-c", "kill -s \"$0\" \"$1\"", signal, &process.to_string()];
    Command::new("sh").args(kill).output().expect("sh");
}

/// Whether a process is there and not a zombie.
pub fn is_alive(process: u32) -> bool {
    state(process).is_some_and(|fields| fields[0] != "Z")
}

/// Whether a process was stopped by a signal.
pub fn is_stopped(process: u32) -> bool {
    state(process).is_some_and(|fields| fields[0] == "T")
}

/// The process that started this one.
pub fn parent(process: u32) -> Option<u32> {
    state(process)?.get(1)?.parse().ok()
}

/// Processor time used so far, in ticks of 10 ms.
pub fn ticks(process: u32) -> u64 {
    let fields = state(process).expect("a living process");
    // Fields 14 and 15 of proc(5), here counted from the third.
    [11, 12].iter().map(|field| fields[*field].parse::<u64>().expect("a number")).sum()
}

/// Waits for a second in which none of the processes uses processor time: what their last work has
/// left behind, such as memory that is given back, may take a while.
pub fn until_quiet(processes: &[u32]) {
    let used = || processes.iter().map(|process| ticks(*process)).collect::<Vec<_>>();
    wait_for(|| {
        let before = used();
        std::thread::sleep(Duration::from_secs(1));
        used() == before
    });
}

/// The children of a process that run an executable of this name.
pub fn children(process: u32, executable: &str) -> Vec<u32> {
    let all = fs::read_dir("/proc").expect("/proc").flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|child| parent(*child) == Some(process) && name(*child) == executable)
        .collect()
}

/// The processes of the server with this postmaster that show a title, as soon as they have begun.
pub fn titled(postmaster: u32, title: &str) -> Vec<u32> {
    let has_title = |child: &u32| {
        let shown = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&shown).contains(title)
    };
    children(postmaster, "postgres").into_iter().filter(has_title).collect()
}

/// ragd of the server with this postmaster, once it runs: a grandchild, below the supervisor.
pub fn ragd(postmaster: u32) -> Option<u32> {
    let supervisors = children(postmaster, "postgres");
    supervisors.into_iter().find_map(|child| children(child, "ragd").first().copied())
}

/// The file name of what it runs.
fn name(process: u32) -> String {
    let path = fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // A file that was replaced is still run.
    name.trim_end_matches(" (deleted)").to_owned()
}

/// The fields of /proc/PID/stat from the third on.
fn state(process: u32) -> Option<Vec<String>> {
    let stat =
        fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    Some(fields.split(' ').map(str::to_owned).collect())
}
