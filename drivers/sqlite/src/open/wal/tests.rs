use super::sum::tests::written;
use super::*;

const PAGE: usize = 4_096;

/// A log of one transaction of so many frames.
fn transaction(frames: u32) -> Vec<u8> {
    let mut log = [MAGIC, 3_007_000, PAGE as u32, 0, 1, 2].map(u32::to_be_bytes).concat();
    let mut sum = Sum::default().over(&log, Order::Little);
    log.extend(sum.bytes());
    for n in 1..=frames {
        let size = if n == frames { frames } else { 0 };
        let mut frame = written(sum, Order::Little, n, size, &[n as u8; PAGE]);
        frame.0[8..16].copy_from_slice(&log[16..24]);
        sum = frame.stored();
        log.extend(frame.0);
    }
    log
}

fn damage(log: &[u8]) -> Option<(u64, u64)> {
    let header = log[..LOG_HEADER].try_into().unwrap();
    Round::of(&header).unwrap().damage(&log[LOG_HEADER..]).unwrap()
}

#[test]
fn store_006_a_size_from_another_sector_than_the_checksum_proves_nothing() {
    // Page number and size are those of an earlier round, which a disk that writes sectors in any
    // order leaves where one begins behind them: the 42nd header.
    for (frame, is_torn) in [(40, false), (41, true), (42, false)] {
        let mut log = transaction(50);
        assert_eq!(damage(&log), None);
        let at = LOG_HEADER + frame * (FRAME_HEADER + PAGE);
        assert_eq!((at as u64 + 8).is_multiple_of(SECTOR), is_torn);
        log[at..at + 8].copy_from_slice(&[0, 0, 0, 77, 0, 0, 0, 30]);
        let expected = Some((frame as u64 + 1, at as u64));
        assert_eq!(damage(&log), expected.filter(|_| !is_torn), "frame {frame}");
    }
}

#[test]
fn store_006_what_is_seen_once_only_is_being_written() {
    let damaged = |frame: u64, round: u8| Damage { frame, offset: 0, header: [round; LOG_HEADER] };
    let mut log = [Some(damaged(3, 1)), None].into_iter();
    assert_eq!(twice(|| Ok(log.next().unwrap())).unwrap(), None, "a gap that was filled");
    let places = [(3, 1), (4, 1), (4, 2), (4, 2)];
    let mut log = places.map(|(frame, round)| Some(damaged(frame, round))).into_iter();
    assert_eq!(twice(|| Ok(log.next().unwrap())).unwrap(), Some(damaged(4, 2)));
    assert_eq!(log.next(), None, "neither another place nor another round is the same damage");
    let mut n = 0;
    let changing = || {
        n += 1;
        Ok(Some(damaged(n, 1)))
    };
    assert_eq!(twice(changing).unwrap(), None, "it is alive");
}
