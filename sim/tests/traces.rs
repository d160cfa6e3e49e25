//! Every saved trace ends as it says: regressions stay fixed, planted defects stay caught.

use std::path::{Path, PathBuf};

use everstep_sim::trace::Trace;

fn traces() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/traces");
    let entries = folder.read_dir().expect("the corpus has a folder of traces");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "trace"));
    paths.sort();
    paths
}

#[test]
fn arc_11_every_trace_of_the_corpus_ends_as_it_says() {
    let paths = traces();
    assert!(paths.len() >= 5, "{paths:?}");
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let trace = Trace::read(&path).unwrap_or_else(|error| panic!("{error}"));
        let run = trace.replay().unwrap_or_else(|stuck| panic!("{name}: {stuck}"));
        let broken = run.world.violation();
        assert!(trace.expects(broken), "{name} expects {}, but: {broken:?}", trace.verdict());
    }
}
