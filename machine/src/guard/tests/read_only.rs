use super::*;
use crate::agent::Risk;

#[test]
fn auth_09_one_plain_command_that_only_reads_is_let_through() {
    let table = [
        "ls",
        "  ls -la src ",
        "pwd",
        "cat README.md docs/agents.md",
        "head -5 notes.txt",
        "head -n 5 notes.txt",
        "tail -c 100 log.txt",
        "grep -rn todo src",
        "grep \"a.*b\" f",
        "grep 'a$b' f",
        "wc -l Cargo.toml",
        "echo hello world",
        "echo 'a; rm -rf /'",
        "diff -u a b",
        "cat -- -odd-name",
        "ls .",
    ];
    for text in table {
        let judged = judged(text);
        assert_eq!((judged.verdict, judged.reason), (Verdict::Allow, Reason::ReadOnly), "{text}");
        assert_eq!((judged.risk(), judged.is_resolved), (Risk::Low, true), "{text}");
    }
}

#[test]
fn auth_09_what_differs_from_it_by_anything_is_put_to_a_person() {
    let table = [
        ("ls --color", Reason::NotReadOnly),
        ("LS", Reason::NotReadOnly),
        ("/bin/ls", Reason::NotReadOnly),
        ("ls *.rs", Reason::Expansion),
        ("ls ~", Reason::Expansion),
        ("ls {a,b}", Reason::Expansion),
        ("echo $HOME", Reason::Expansion),
        ("cat a > b", Reason::Redirection),
        ("cat < a", Reason::Redirection),
        ("ls; ls", Reason::Compound),
        ("ls && ls", Reason::Compound),
        ("ls | wc -l", Reason::Compound),
        ("ls &", Reason::Compound),
        ("ls\nls", Reason::Compound),
        ("ls # and more", Reason::Compound),
        ("(ls)", Reason::Compound),
        ("cat 'a", Reason::Unbalanced),
        ("ls \\", Reason::Unbalanced),
        ("cat /etc/hosts", Reason::Sensitive),
        ("cat ../other/file", Reason::Sensitive),
        ("cat .env", Reason::Sensitive),
        ("cat certs/server.PEM", Reason::Sensitive),
        ("tail -f log.txt", Reason::NotReadOnly),
        ("sort -o a b", Reason::NotReadOnly),
        ("rm notes.txt", Reason::NotReadOnly),
        ("", Reason::Empty),
        (" \n ", Reason::Empty),
    ];
    for (text, reason) in table {
        let judged = judged(text);
        assert_eq!((judged.verdict, judged.reason), (Verdict::Prompt, reason), "{text:?}");
        assert_eq!(judged.risk(), Risk::High, "{text:?}");
    }
}
