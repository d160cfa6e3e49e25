//! No space left below the database: it is said, and the same line goes on once there is some.

use std::process::{Command, Output};

use super::{CHARGE, charges, desk_with, line, says, submissions};

/// Runs a script in a shell, with the binary and a folder as its first arguments.
fn shell(wrapper: &[&str], script: &str, folder: &str) -> Output {
    let mut words = wrapper.to_vec();
    let binary = env!("CARGO_BIN_EXE_everstep");
    words.extend(["sh", "-eu", "-c", script, "sh", binary, folder]);
    Command::new(words[0]).args(&words[1..]).output().expect("a shell")
}

fn text(output: &Output) -> String {
    let Output { stdout, stderr, .. } = output;
    format!("{}{}", String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr))
}

#[test]
fn arc_14_a_limit_on_the_size_of_files_loses_nothing() {
    let home = desk_with(CHARGE);
    // Below SQLite, a write fails; nobody dies of it. The limit is met when the file is made, and
    // later, while the run goes on.
    for blocks in [1, 40, 80] {
        let script = format!(
            "cd \"$2\"; ulimit -f {blocks}; trap '' XFSZ; code=0; \
             \"$1\" run charge.toml 'order {blocks}' || code=$?; echo \"code $code\""
        );
        let said = text(&shell(&[], &script, home.path().to_str().expect("text")));
        assert!(said.contains("code 3") && said.contains("everstep.db"), "{blocks}: {said}");
        assert_eq!(charges(home.path()), 0, "{blocks}: {said}");
        let again = ["run", "charge.toml", &format!("order {blocks}")];
        let ran = crate::common::everstep(home.path(), &again);
        says(&ran, &["went through"]);
        assert_eq!(charges(home.path()), 1, "{blocks}: {said}");
        std::fs::remove_file(home.path().join("charges.txt")).expect("it is there");
        std::fs::remove_file(home.path().join("everstep.db")).expect("it is there");
    }
}

/// A small file system in a world of its own, which ends with the process. Prints `refused` where
/// the kernel lets nobody make one.
const SMALL_DISK: &str = r#"
agent=$(cat "$2/charge.toml")
mount -t tmpfs -o size=1m tmpfs "$2" || { echo refused; exit 0; }
cd "$2"
printf '%s\n' "$agent" > charge.toml
"$1" run charge.toml first
for spare in 0 60000; do
    head -c $spare /dev/zero > spare
    head -c 2000000 /dev/zero > ballast 2>/dev/null || true
    rm spare
    code=0; "$1" run charge.toml second || code=$?
    echo "code $code"
    rm ballast
done
"$1" run charge.toml second
"$1" run charge.toml first
"$1" log verify
wc -l < charges.txt
"#;

#[test]
fn arc_14_a_disk_that_is_full_loses_nothing() {
    let home = desk_with(CHARGE);
    let is_superuser = text(&Command::new("id").arg("-u").output().expect("a user")).trim() == "0";
    let wrapper: &[&str] = if is_superuser { &["unshare", "-m"] } else { &["unshare", "-Urm"] };
    let output = shell(wrapper, SMALL_DISK, home.path().to_str().expect("text"));
    let said = text(&output);
    if said.contains("refused") || said.contains("unshare failed") {
        // A limit on the size of files does the same everywhere.
        return;
    }
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("code 3").count(), 2, "{said}");
    assert!(said.contains("no space is left on its disk"), "it cannot be opened: {said}");
    assert!(said.contains("run the same line again"), "it fills up while it runs: {said}");
    assert_eq!(said.matches("The charge went through.").count(), 3, "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).trim_end().ends_with('2'), "{said}");
    says(&line(home.path(), &[]), &["went through"]);
    assert_eq!((charges(home.path()), submissions(home.path())), (1, 1), "outside nothing was");
}
