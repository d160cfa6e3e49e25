//! Programs that run others, and programs that only read.

use super::Reason;
use super::shell::Word;

/// Programs that run the text that they are given.
const INTERPRETERS: &[&str] = &[
    "ash",
    "awk",
    "bash",
    "bun",
    "csh",
    "dash",
    "deno",
    "eval",
    "fish",
    "gawk",
    "ksh",
    "lua",
    "node",
    "osascript",
    "perl",
    "php",
    "powershell",
    "pwsh",
    "ruby",
    "sh",
    "tcsh",
    "trap",
    "zsh",
];

/// Programs that run the program that they are given.
const WRAPPERS: &[&str] = &[
    ".",
    "builtin",
    "busybox",
    "chroot",
    "chrt",
    "command",
    "coproc",
    "doas",
    "entr",
    "env",
    "exec",
    "fakeroot",
    "find",
    "flock",
    "function",
    "ionice",
    "nice",
    "nohup",
    "nsenter",
    "parallel",
    "pkexec",
    "proot",
    "runuser",
    "setarch",
    "setsid",
    "script",
    "source",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "toybox",
    "unshare",
    "watch",
    "xargs",
];

/// Words of the shell's grammar that stand in front of a command.
const KEYWORDS: &[&str] = &[
    "!", "case", "do", "done", "elif", "else", "esac", "fi", "for", "if", "then", "until", "while",
    "{",
];

/// Programs that only read, each with the letters of the options that it may have. Digits may stand
/// among them. Options of another form are not known to only read.
const READERS: &[(&str, &str)] = &[
    ("basename", "az"),
    ("cat", "AbeEnstTv"),
    ("cksum", ""),
    ("cmp", "bls"),
    ("cut", "bcdfnsz"),
    ("diff", "abBcdeiNqruwy"),
    ("dirname", "z"),
    ("du", "abchkLmsSx"),
    ("echo", "neE"),
    ("false", ""),
    ("grep", "abcEeFHhiIlLnoqrsvwxABCm"),
    ("head", "cnqv"),
    ("ls", "1AaBbCcdFGghiklmnopQqRrSsTtUuvwxX"),
    ("pwd", "LP"),
    ("sha256sum", "bt"),
    ("stat", "Lt"),
    ("tail", "cnqv"),
    ("true", ""),
    ("uname", "amnoprsv"),
    ("wc", "clmwL"),
];

/// Parts of names that are likely to be secret.
const SECRETS: &[&str] =
    &[".key", ".pem", "credential", "id_ed25519", "id_rsa", "passwd", "password", "secret"];

/// A program's name without its folder, in small letters: some systems do not tell them apart.
pub(super) fn name(word: &Word) -> alloc::string::String {
    let text = word.text.to_lowercase();
    let name = text.rsplit(['/', '\\']).next().unwrap_or(&text);
    name.strip_suffix(".exe").unwrap_or(name).into()
}

/// Whether it runs the text that it is given. Versions count as what they are versions of.
pub(super) fn is_interpreter(name: &str) -> bool {
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    INTERPRETERS.contains(&name)
        || INTERPRETERS.contains(&plain)
        || matches!(plain, "python" | "pypy")
}

/// Whether it runs the program that it is given.
pub(super) fn is_wrapper(name: &str) -> bool {
    WRAPPERS.contains(&name)
}

/// Whether it is no program but grammar.
pub(super) fn is_keyword(text: &str) -> bool {
    KEYWORDS.contains(&text) || text == "}"
}

/// `NAME=…` in front of a command.
pub(super) fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    !name.is_empty()
        && !name.starts_with(|it: char| it.is_ascii_digit())
        && name.chars().all(is_name)
}

/// What a plain command comes to, if nothing else was found: it only reads, or why that is not known.
pub(super) fn plain(words: &[Word]) -> Reason {
    let Some((program, arguments)) = words.split_first() else { return Reason::Empty };
    let Some((_, letters)) = READERS.iter().find(|(name, _)| *name == program.text) else {
        let is_own = program.text.contains('/') && !program.text.starts_with('/');
        return if is_own { Reason::ProjectCode } else { Reason::NotReadOnly };
    };
    let mut options = true;
    for argument in arguments {
        match argument.text.strip_prefix('-') {
            Some("-") if options => options = false,
            Some(short) if options && !short.is_empty() => {
                let is_known = |it: char| it.is_ascii_digit() || letters.contains(it);
                if !short.chars().all(is_known) {
                    return Reason::NotReadOnly;
                }
            }
            _ if program.text == "echo" => {}
            _ if is_sensitive(&argument.text) => return Reason::Sensitive,
            _ => {}
        }
    }
    Reason::ReadOnly
}

/// Outside of the folder that it runs in, hidden, or likely to be secret.
fn is_sensitive(path: &str) -> bool {
    let lower = path.to_lowercase();
    path.starts_with('/')
        || path.split('/').any(|part| part.starts_with('.') && part != ".")
        || SECRETS.iter().any(|secret| lower.contains(secret))
}
