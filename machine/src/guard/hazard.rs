//! What is not even asked about: commands that destroy or stop a whole system.

use alloc::string::String;
use alloc::vec::Vec;

use super::Reason;
use super::shell::Word;

/// Folders at the root that hold a system, in small letters.
const SYSTEM: &[&str] = &[
    "applications",
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib64",
    "library",
    "opt",
    "proc",
    "root",
    "sbin",
    "srv",
    "sys",
    "system",
    "users",
    "usr",
    "var",
    "windows",
];
/// Of these, what lies directly within is one too.
const HOLDERS: &[&str] = &["home", "system", "users", "usr"];
/// What disks are called.
const DISKS: &[&str] = &[
    "dm-", "disk", "hd", "kmem", "loop", "mapper", "md", "mem", "mmcblk", "nvme", "rdisk", "sd",
    "vd", "xvd",
];
/// What stops a machine, whatever it is told.
const STOPPERS: &[&str] = &["halt", "kexec", "poweroff", "reboot", "shutdown"];

/// What makes a program with these arguments one that is never run. The name is in small letters.
pub(super) fn of(program: &str, arguments: &[Word]) -> Option<Reason> {
    let has = |test: &dyn Fn(&str) -> bool| arguments.iter().any(|word| test(&word.text));
    let destroys = match program {
        "rm" => has(&|it| it == "--no-preserve-root") || (has(&is_recursive) && has(&is_system)),
        "chmod" | "chown" | "chgrp" => has(&is_recursive) && has(&is_system),
        "find" => has(&|it| it == "-delete") && has(&is_system),
        "mv" => has(&is_system) || has(&is_device),
        "dd" | "tee" | "cp" | "shred" | "truncate" => {
            has(&|it| is_device(it.strip_prefix("of=").unwrap_or(it)))
        }
        "wipefs" | "mke2fs" | "mkswap" | "blkdiscard" => !arguments.is_empty(),
        _ => program == "mkfs" || program.starts_with("mkfs."),
    };
    let stops = match program {
        "init" | "telinit" => has(&|it| it == "0" || it == "6"),
        "systemctl" => has(&|it| STOPPERS.contains(&it)),
        "kill" => arguments.len() > 1 && arguments.last().is_some_and(|it| it.text == "-1"),
        _ => STOPPERS.contains(&program),
    };
    if destroys { Some(Reason::Destroys) } else { stops.then_some(Reason::Stops) }
}

/// A function that starts itself twice.
pub(super) fn is_bomb(text: &str) -> bool {
    let squeezed: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    squeezed.match_indices("(){").any(|(at, _)| {
        let is_name = |letter: char| !matches!(letter, ';' | '&' | '|' | '(' | ')' | '{' | '}');
        let before = &squeezed[..at];
        let name = before.rsplit(|letter| !is_name(letter)).next().unwrap_or(before);
        let twice = alloc::format!("{name}|{name}");
        !name.is_empty() && squeezed[at..].contains(&twice)
    })
}

fn is_recursive(option: &str) -> bool {
    let is_short = option.starts_with('-') && !option.starts_with("--");
    (is_short && option.contains(['r', 'R']))
        || (option.len() > 4 && "--recursive".starts_with(option))
}

/// The parts of a path from the root or from a home, and whether it is a home; wildcards at its end
/// mean all of it. None for a path from wherever the command runs.
fn parts(path: &str) -> Option<(bool, Vec<String>)> {
    if !path.starts_with(['/', '~', '$']) {
        return None;
    }
    let lower = path.to_lowercase();
    let (is_home, rest) = match lower.strip_prefix('~') {
        Some(rest) => (true, rest.split_once('/').map_or("", |(_, within)| within)),
        None => match ["${home}", "$home"].iter().find_map(|home| lower.strip_prefix(home)) {
            Some(rest) => (true, rest),
            None => (false, lower.as_str()),
        },
    };
    if !is_home && rest.starts_with('$') {
        return None;
    }
    let mut parts: Vec<String> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(String::from(part)),
        }
    }
    let is_all = |part: &String| part.chars().all(|it| matches!(it, '*' | '.' | '?'));
    while parts.last().is_some_and(is_all) {
        parts.pop();
    }
    Some((is_home, parts))
}

/// Whether a path is a whole system, a folder that one needs, or a home.
fn is_system(path: &str) -> bool {
    let Some((is_home, parts)) = parts(path) else { return false };
    match parts.as_slice() {
        [] => true,
        [first] => !is_home && SYSTEM.contains(&first.as_str()),
        [first, _] => !is_home && HOLDERS.contains(&first.as_str()),
        _ => false,
    }
}

/// Whether a path is a disk, or memory, or what stops a kernel.
pub(super) fn is_device(path: &str) -> bool {
    let Some((false, parts)) = parts(path) else { return false };
    match parts.as_slice() {
        [dev, name, ..] if dev == "dev" => DISKS.iter().any(|disk| name.starts_with(disk)),
        [proc, name] => proc == "proc" && name == "sysrq-trigger",
        _ => false,
    }
}
