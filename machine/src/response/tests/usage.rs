//! What a response says that it used.

use super::*;

fn used(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage { input_tokens, output_tokens, ..Usage::default() }
}

#[test]
fn case_bu_05_the_last_frame_counts_and_frames_are_not_added_up() {
    let last = Usage {
        input_tokens: 100,
        cache_read_tokens: 60,
        cache_write_tokens: 40,
        output_tokens: 12,
        cost_micros: 5,
    };
    let response = reduce([
        StreamPart::Usage(used(100, 1)),
        text_start("t"),
        StreamPart::Usage(used(100, 7)),
        text_end("t"),
        StreamPart::Usage(last),
        StreamPart::Usage(last),
        STOP,
    ]);
    assert_eq!(response.unwrap().usage, Some(last));
}

#[test]
fn case_bu_05_a_frame_that_falls_in_any_field_is_refused() {
    let all = Usage {
        input_tokens: 10,
        cache_read_tokens: 3,
        cache_write_tokens: 2,
        output_tokens: 10,
        cost_micros: 10,
    };
    let fallen = [
        Usage { input_tokens: 9, ..all },
        Usage { cache_read_tokens: 2, ..all },
        Usage { cache_write_tokens: 1, ..all },
        Usage { output_tokens: 9, ..all },
        Usage { cost_micros: 9, ..all },
    ];
    for usage in fallen {
        let frames = [StreamPart::Usage(all), StreamPart::Usage(usage), STOP];
        assert_eq!(reduce(frames), broken(ProtocolError::UsageFell));
    }
}

#[test]
fn run_020_more_from_caches_than_was_read_is_refused() {
    let impossible = [
        Usage { cache_read_tokens: 6, cache_write_tokens: 5, ..used(10, 0) },
        Usage { cache_read_tokens: u64::MAX, cache_write_tokens: 1, ..used(u64::MAX, 0) },
    ];
    for usage in impossible {
        let frames = [StreamPart::Usage(usage), STOP];
        assert_eq!(reduce(frames), broken(ProtocolError::UsageImpossible));
    }
}

#[test]
fn cap_017_cache_reads_and_writes_stay_apart() {
    let usage = Usage { cache_read_tokens: 6, cache_write_tokens: 3, ..used(10, 2) };
    let response = reduce([StreamPart::Usage(usage), STOP]).unwrap();
    assert_eq!(response.usage, Some(usage));
    assert_eq!(response.usage.unwrap().uncached_tokens(), 1);
}

#[test]
fn case_bu_09_a_provider_that_sends_no_usage_is_not_given_any() {
    assert_eq!(reduce([STOP]).unwrap().usage, None);
}

/// Whatever ends a stream before its time, what was said to be used by then is known (BU-07).
#[test]
fn case_bu_07_a_stream_that_breaks_has_used_what_it_said_last() {
    let reset = ModelFault::Unavailable(crate::agent::Diagnostic::cut("Reset", "reset"));
    let began = [
        StreamPart::Start,
        StreamPart::Usage(used(100, 1)),
        text_start("t"),
        StreamPart::Usage(used(100, 7)),
    ];
    let ends = [
        Input::Failed(reset),
        Input::Ended,
        Input::Received(StreamPart::Start),
        Input::Received(StreamPart::Usage(used(100, 6))),
        Input::Received(STOP),
    ];
    for end in ends {
        let told = |parts: &[StreamPart]| {
            let parts = parts.iter().cloned().map(Input::Received).collect::<Vec<_>>();
            match &outcomes(parts.into_iter().chain([end.clone()]))[..] {
                [Err(lost)] => lost.used,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(told(&began), Some(used(100, 7)), "{end:?}");
    }
    let whole = [StreamPart::Start, StreamPart::Usage(used(9, 1)), STOP].map(Input::Received);
    let late = outcomes(whole.into_iter().chain([Input::Received(STOP)]));
    assert!(matches!(&late[..], [Err(lost)] if lost.used == Some(used(9, 1))), "{late:?}");
}
