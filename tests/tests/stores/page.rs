//! `docs/stores.md` shows code that is compiled and passes.

use everstep_tests::repository::file;

/// The text of a section of the example.
fn section<'a>(code: &'a str, name: &str) -> &'a str {
    let (_, after) = code.split_once(&format!("// page: {name}\n")).expect("the section begins");
    let (section, _) = after.split_once("// end\n").expect("the section ends");
    section
}

#[test]
fn store_010_the_page_shows_the_store_that_is_tried() {
    let (page, code) = (file("docs/stores.md").text, file("tests/tests/stores/own.rs").text);
    let blocks: Vec<_> = page.split("```rust\n").skip(1).collect();
    let shown: Vec<_> = blocks.iter().filter_map(|block| block.split("```").next()).collect();
    assert_eq!(shown, [section(&code, "store"), section(&code, "subject")]);
}
