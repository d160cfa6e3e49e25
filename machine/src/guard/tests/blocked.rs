use alloc::format;
use alloc::string::String;

use super::*;
use crate::limits::{COMMAND_BYTES, COMMAND_NESTING};

#[test]
fn auth_09_each_hazard_ends_before_anybody_is_asked() {
    let destroys = [
        "rm -rf /",
        "rm -r -f /*",
        "rm --recursive --force /etc",
        "rm -fR ~",
        "rm -rf ~/",
        "rm -rf ~bob",
        "rm -rf $HOME",
        "rm -rf \"${HOME}\"/*",
        "rm -rf //./usr/../usr/",
        "rm -rf /Home/ada",
        "rm -rf a b /",
        "rm --no-preserve-root x",
        "RM -rf /",
        "/bin/rm -rf /",
        "chmod -R 777 /",
        "chown -R ada /usr/bin",
        "find / -delete",
        "mkfs.ext4 /dev/sda1",
        "wipefs -a x",
        "dd if=/dev/zero of=/dev/sda",
        "cat image > /dev/nvme0n1",
        "tee /dev/sdb",
        "echo b > /proc/sysrq-trigger",
        "mv / x",
    ];
    for text in destroys {
        let judged = judged(text);
        assert_eq!((judged.verdict, judged.reason), (Verdict::Block, Reason::Destroys), "{text}");
    }
    let stops = [
        "shutdown -h now",
        "reboot",
        "init 0",
        "systemctl poweroff",
        "kill -9 -1",
        ":(){ :|:& };:",
        "bomb() { bomb | bomb & }; bomb",
    ];
    for text in stops {
        let judged = judged(text);
        assert_eq!((judged.verdict, judged.reason), (Verdict::Block, Reason::Stops), "{text}");
    }
}

#[test]
fn auth_09_what_only_resembles_a_hazard_is_not_blocked() {
    let table = [
        ("rm -rf target", Verdict::Prompt),
        ("rm -rf ./build/*", Verdict::Prompt),
        ("rm -rf ~/project/target", Verdict::Prompt),
        ("rm -rf /Home/ada/project", Verdict::Prompt),
        ("rm /", Verdict::Prompt),
        ("dd if=/dev/sda of=image", Verdict::Prompt),
        ("kill -1 123", Verdict::Prompt),
        ("git commit -m 'fix reboot; rm -rf /'", Verdict::Prompt),
        ("echo rm -rf /", Verdict::Prompt),
        ("echo rm and reboot", Verdict::Allow),
        ("grep reboot log.txt", Verdict::Allow),
        ("cat x > /dev/null", Verdict::Prompt),
        ("systemctl status x", Verdict::Prompt),
        ("chmod -R 755 docs", Verdict::Prompt),
    ];
    for (text, expected) in table {
        assert_eq!(verdict(text), expected, "{text}");
    }
}

/// Every way of the field case to hide a command in another one.
const FORMS: [&str; 44] = [
    "{}",
    "ls && {}",
    "ls || {}",
    "ls; {}",
    "ls | {}",
    "ls & {}",
    "ls\n{}",
    "ls $({})",
    "ls \"$({})\"",
    "ls `{}`",
    "ls \"`{}`\"",
    "cat <({})",
    "ls ${x:-$({})}",
    "({})",
    "{ {}; }",
    "if true; then {}; fi",
    "for i in 1; do {}; done",
    "f() { {}; }; f",
    "function f { {}; }; f",
    "! {}",
    "A=1 {}",
    "A=1 B=$C {}",
    "env {}",
    "env -i A=1 {}",
    "sudo {}",
    "sudo -u root -- {}",
    "doas {}",
    "busybox {}",
    "nohup nice -n 5 timeout 10 {}",
    "exec {}",
    "command {}",
    "find . -exec {} ;",
    "ls | xargs {}",
    "sh -c '{}'",
    "bash -lc \"{}\"",
    "sudo env A=1 sh -c '{}'",
    "sh -c \"sh -c '{}'\"",
    "eval '{}'",
    "eval {}",
    "echo '{}' | sh",
    "bash <<< '{}'",
    "bash <<E\n{}\nE",
    "trap '{}' EXIT",
    "python -c \"import os; os.system('{}')\"",
];

#[test]
fn case_gr_01_no_compound_form_gets_a_blocked_command_through() {
    for form in FORMS {
        for command in ["rm -rf /", "reboot"] {
            let text = form.replace("{}", command);
            assert_eq!(verdict(&text), Verdict::Block, "{text}");
        }
    }
}

#[test]
fn case_gr_01_no_compound_form_is_let_through() {
    for form in FORMS.into_iter().skip(1) {
        let text = form.replace("{}", "ls");
        assert_eq!(verdict(&text), Verdict::Prompt, "{text}");
    }
}

#[test]
fn case_gr_01_no_spelling_gets_a_blocked_command_through() {
    let table = [
        "r'm' -rf /",
        "\"rm\" -rf \"/\"",
        "\\rm -r\\f /",
        "r\\\nm -rf /",
        "rm\t-rf\t/",
        "rm${IFS}-rf${IFS}/",
        "rm$IFS-rf$IFS/",
        "{rm,-rf,/}",
        "r$@m -rf /",
        "$'\\x72\\x6d' -rf /",
        "$'\\162m' -rf /",
        "$'r\\u006d' -rf /",
        "\u{433}m -rf /",
        "\u{ff52}\u{ff4d} -rf \u{ff0f}",
        "r\u{200b}m -rf /",
        "rm\u{2003}-rf\u{3000}/",
        "rm \u{2212}rf \u{2215}",
        "\u{1d42b}\u{1d426} -rf /",
        "ls\u{37e} rm -rf /",
    ];
    for text in table {
        assert_eq!(verdict(text), Verdict::Block, "{text:?}");
    }
}

#[test]
fn auth_09_what_nobody_can_read_is_blocked() {
    let long: String = "a".repeat(COMMAND_BYTES + 1);
    let deep = format!("{}ls{}", "$(".repeat(COMMAND_NESTING + 1), ")".repeat(COMMAND_NESTING + 1));
    let table = [
        ("ls\0", Reason::Hidden),
        ("ls \u{1b}[8m", Reason::Hidden),
        ("ls\rrm x", Reason::Hidden),
        ("ls \u{202e}txt", Reason::Hidden),
        (long.as_str(), Reason::TooLong),
        (deep.as_str(), Reason::TooDeep),
    ];
    for (text, reason) in table {
        let judged = judged(text);
        assert_eq!((judged.verdict, judged.reason), (Verdict::Block, reason), "{reason:?}");
        assert!(!judged.is_resolved);
    }
    let shallow = format!("{}ls{}", "$(".repeat(COMMAND_NESTING), ")".repeat(COMMAND_NESTING));
    assert_eq!(verdict(&shallow), Verdict::Prompt);
}
