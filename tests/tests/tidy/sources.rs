//! What the sources may and may not say.

use std::collections::BTreeSet;

use everstep_tests::repository::{File, rust_files};
use everstep_tests::source::{Token, begins, declared_modules, lines_of, tokens, without_tests};

use crate::expect_none;

/// More lines than this have two purposes.
const MAX_LINES: usize = 600;

/// Marks of work left undone, in code; built so that this file does not contain them.
const UNFINISHED: [&[&str]; 3] = [&["todo", "!"], &["unimplemented", "!"], &["#", "[", "ignore"]];

/// The same, in comments.
const LEFT_NOTES: [&str; 2] = [concat!("FIX", "ME"), concat!("XX", "X")];

/// Words that have no place in the core: the world, what differs from run to run, and what hides
/// state from a machine's `State`.
const IMPURE: [&str; 15] = [
    "std",
    "unsafe",
    "HashMap",
    "HashSet",
    "RandomState",
    "SystemTime",
    "Instant",
    "thread_local",
    "println",
    "eprintln",
    "RefCell",
    "UnsafeCell",
    "OnceCell",
    "LazyCell",
    "asm",
];

/// Where numbers are parsed and printed, and floats are therefore data, never a decision.
const NUMBERS: &str = "machine/src/json/number";

fn unfinished(files: &[File]) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in files {
        let tokens = tokens(file);
        for mark in UNFINISHED {
            let lines = lines_of(&tokens, mark);
            complaints.extend(
                lines
                    .iter()
                    .map(|line| format!("{}:{line}: unfinished: {}", file.path, mark.concat())),
            );
        }
        for (at, line) in file.text.lines().enumerate() {
            if let Some(note) = LEFT_NOTES.iter().find(|note| line.contains(*note)) {
                complaints.push(format!("{}:{}: a note left behind: {note}", file.path, at + 1));
            }
        }
    }
    complaints
}

#[test]
fn house_nothing_is_left_unfinished() {
    expect_none(&unfinished(&rust_files()));
    let planted = format!("fn f() {{ {}!() }}\n#[{}]\nfn g() {{}}\n", "todo", "ignore = \"slow\"");
    let planted = format!("{planted}// {}\n", LEFT_NOTES[0]);
    assert_eq!(unfinished(&[File::planted("planted.rs", &planted)]).len(), 3);
}

fn endless(files: &[File]) -> Vec<String> {
    let lines = |file: &File| file.text.lines().count();
    let long = files.iter().filter(|file| lines(file) > MAX_LINES);
    long.map(|file| format!("{}: {} lines of at most {MAX_LINES}", file.path, lines(file)))
        .collect()
}

#[test]
fn house_a_file_is_read_in_one_sitting() {
    expect_none(&endless(&rust_files()));
    let planted = "//\n".repeat(MAX_LINES + 1);
    assert_eq!(endless(&[File::planted("planted.rs", &planted)]).len(), 1);
}

/// Files that no crate root leads to. A root is what Cargo finds by itself; modules are followed
/// from there by their declarations. A `#[path]` is not followed: say where a module is by its name.
fn dead(files: &[File]) -> Vec<String> {
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    let mut next: Vec<&File> = files.iter().filter(|file| is_root(&file.path)).collect();
    while let Some(file) = next.pop() {
        if !reached.insert(&file.path) {
            continue;
        }
        let home = if is_root(&file.path) || file.name() == "mod.rs" {
            file.folder()
        } else {
            file.path.trim_end_matches(".rs")
        };
        for module in declared_modules(&tokens(file)) {
            let places = [format!("{home}/{module}.rs"), format!("{home}/{module}/mod.rs")];
            next.extend(files.iter().filter(|file| places.contains(&file.path)));
        }
    }
    let dead = files.iter().filter(|file| !reached.contains(file.path.as_str()));
    dead.map(|file| format!("{}: no module declares it", file.path)).collect()
}

fn is_root(path: &str) -> bool {
    let parts: Vec<_> = path.rsplit('/').collect();
    match parts.as_slice() {
        ["lib.rs" | "main.rs", "src", ..] | ["build.rs", ..] => true,
        ["main.rs", _, "bin" | "tests" | "benches" | "examples", ..] => true,
        [_, "bin", "src", ..] => true,
        // A package's own folder of tests: the module folder `src/…/tests/` is none.
        [_, "tests" | "benches" | "examples", rest @ ..] => !rest.contains(&"src"),
        _ => false,
    }
}

#[test]
fn house_no_file_is_dead() {
    expect_none(&dead(&rust_files()));
    let planted = [
        File::planted("x/src/lib.rs", "mod a;"),
        File::planted("x/src/a.rs", "mod b; mod c { mod d; }"),
        File::planted("x/src/a/b.rs", ""),
        File::planted("x/src/a/c/d.rs", ""),
        File::planted("x/src/a/e.rs", ""),
        File::planted("x/src/a/tests/f.rs", ""),
        File::planted("x/tests/g.rs", ""),
        File::planted("x/benches/h/main.rs", "mod i;"),
        File::planted("x/benches/h/i.rs", ""),
    ];
    let dead = dead(&planted);
    assert!(
        dead.len() == 2 && dead[0].contains("a/e.rs") && dead[1].contains("tests/f.rs"),
        "{dead:?}"
    );
}

/// Whether a file of the core is compiled into it, rather than into its tests.
fn in_core(file: &File) -> bool {
    let mut parts = file.path.split('/');
    file.path.starts_with("machine/src/")
        && !parts.any(|part| part == "tests" || part == "tests.rs")
}

fn impure(files: &[File]) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| in_core(file)) {
        let tokens = without_tests(&tokens(file));
        for (at, token) in tokens.iter().enumerate() {
            let before = at.checked_sub(1).map_or("", |before| tokens[before].text.as_str());
            if is_impure(&token.text) || (is_float(before, token) && !is_number_room(file)) {
                complaints
                    .push(format!("{}:{}: {} in the core", file.path, token.line, token.text));
            }
        }
    }
    complaints
}

fn is_impure(word: &str) -> bool {
    IMPURE.contains(&word) || (word.starts_with("Atomic") && word.len() > "Atomic".len())
}

/// A float by its type or as a literal; `x.0.1` reads as one and is none.
fn is_float(before: &str, token: &Token) -> bool {
    let text = token.text.as_str();
    let digits = text.starts_with(|first: char| first.is_ascii_digit());
    let radix = ["0x", "0o", "0b"].iter().any(|radix| text.starts_with(radix));
    let literal = digits && !radix && text.contains(['.', 'e', 'E', 'f']);
    matches!(text, "f32" | "f64") || (literal && before != "." && !text.ends_with("size"))
}

fn is_number_room(file: &File) -> bool {
    file.path.strip_prefix(NUMBERS).is_some_and(|rest| rest.starts_with(['.', '/']))
}

#[test]
fn arc_15_the_core_names_no_world_no_float_and_no_hidden_state() {
    expect_none(&impure(&rust_files()));
    let found = |text: &str| impure(&[File::planted("machine/src/planted.rs", text)]).len();
    for one in ["use std::time::Instant as T;", "fn f(x: f64) {}", "const X: u8 = 1.5 as u8;"] {
        assert!(found(one) > 0, "{one}");
    }
    for one in ["unsafe fn f() {}", "type T = HashMap<u8, u8>;", "static N: AtomicU64 = N0;"] {
        assert!(found(one) > 0, "{one}");
    }
    for one in ["fn f() { x.0.1 }", "const X: u64 = 0x1e5;", "#[cfg(test)] extern crate std;"] {
        assert_eq!(found(one), 0, "{one}");
    }
    let floats = "fn f(x: f64) {}";
    assert!(impure(&[File::planted("machine/src/json/number.rs", floats)]).is_empty());
    assert!(!impure(&[File::planted("machine/src/json/numbers.rs", floats)]).is_empty());
}

#[test]
fn arc_15_the_core_is_no_std_without_condition() {
    let files = rust_files();
    let core = files.iter().find(|file| file.path == "machine/src/lib.rs").expect("the core");
    let tokens = tokens(core);
    let says = (0..tokens.len()).any(|at| begins(&tokens[at..], &["#", "!", "[", "no_std", "]"]));
    assert!(says, "machine/src/lib.rs does not say no_std");
}
