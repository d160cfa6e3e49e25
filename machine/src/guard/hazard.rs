//! What is not even asked about: commands that destroy or stop a whole system.

use alloc::string::String;
use alloc::vec::Vec;

use super::Reason;
use super::shell::Word;
use crate::limits::COMMAND_FUNCTIONS;

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

/// What the arguments of a program hold, gathered from the last to the first: so every word is looked
/// at once, whichever of those in front of it is the program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arguments {
    count: usize,
    /// Whether the last one is every process.
    ends_in_all: bool,
    goes_on_at_root: bool,
    is_recursive: bool,
    deletes: bool,
    names_system: bool,
    names_device: bool,
    writes_device: bool,
    names_runlevel: bool,
    names_stopper: bool,
}

impl Arguments {
    /// The word in front of them is an argument too.
    pub(super) fn add(&mut self, word: &Word) {
        let text = word.text.as_str();
        if self.count == 0 {
            self.ends_in_all = text == "-1";
        }
        self.count += 1;
        self.goes_on_at_root |= text == "--no-preserve-root";
        self.is_recursive |= is_recursive(text);
        self.deletes |= text == "-delete";
        self.names_system |= is_system(text);
        self.names_device |= is_device(text);
        self.writes_device |= is_device(text.strip_prefix("of=").unwrap_or(text));
        self.names_runlevel |= text == "0" || text == "6";
        self.names_stopper |= STOPPERS.contains(&text);
    }

    /// How many there are: each was looked at once.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// What makes a program with these arguments one that is never run. The name is in small letters.
    pub(super) fn hazard(&self, program: &str) -> Option<Reason> {
        let destroys = match program {
            "rm" => self.goes_on_at_root || (self.is_recursive && self.names_system),
            "chmod" | "chown" | "chgrp" => self.is_recursive && self.names_system,
            "find" => self.deletes && self.names_system,
            "mv" => self.names_system || self.names_device,
            "dd" | "tee" | "cp" | "shred" | "truncate" => self.writes_device,
            "wipefs" | "mke2fs" | "mkswap" | "blkdiscard" => self.count > 0,
            _ => program == "mkfs" || program.starts_with("mkfs."),
        };
        let stops = match program {
            "init" | "telinit" => self.names_runlevel,
            "systemctl" => self.names_stopper,
            "kill" => self.count > 1 && self.ends_in_all,
            _ => STOPPERS.contains(&program),
        };
        if destroys { Some(Reason::Destroys) } else { stops.then_some(Reason::Stops) }
    }
}

/// Whether a text is a function that starts itself twice, or has more functions than anybody follows.
pub(super) fn bomb(text: &str) -> Option<Reason> {
    let squeezed: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let is_name = |letter: char| !matches!(letter, ';' | '&' | '|' | '(' | ')' | '{' | '}');
    let bombs = |(at, _): (usize, &str)| {
        let before = &squeezed[..at];
        let name = before.rsplit(|letter| !is_name(letter)).next().unwrap_or(before);
        let twice = alloc::format!("{name}|{name}");
        !name.is_empty() && squeezed[at..].contains(&twice)
    };
    let mut functions = squeezed.match_indices("(){");
    if functions.by_ref().take(COMMAND_FUNCTIONS).any(bombs) {
        return Some(Reason::Stops);
    }
    functions.next().map(|_| Reason::TooDeep)
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
