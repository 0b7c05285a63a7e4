//! Rings: every rank sends to the next one, as much in every step.

use super::schedule::{Schedule, Transfer, part, pieces};
use units::Span;

/// What each rank of a ring waits for before it sends its next chunks: by position in the ring and chunk.
pub(super) type Arrived = Vec<Vec<Vec<u32>>>;

/// All chunks that arrived at each position.
fn all(arrived: &Arrived) -> Vec<Vec<u32>> {
    arrived.iter().map(|chunks| chunks.concat()).collect()
}

/// One round of a ring, in as many steps as there are others: in each of them all ranks send a block to the next one. The
/// block of position `i` in step `s` is `i + ahead - s`. Returns what arrived last.
///
/// This is a reduce-scatter with `ahead` 0, after which position `i` has the sum of block `i + 1`; and an all-gather where
/// position `i` begins with block `i + ahead`.
pub(super) fn round(
    schedule: &mut Schedule,
    members: &[u32],
    bytes: u64,
    chunk: u64,
    arrived: Arrived,
    ahead: usize,
) -> Arrived {
    let n = members.len();
    let chunks = pieces(bytes.div_ceil(n as u64), chunk);
    let mut arrived = match arrived.first() {
        Some(first) if first.len() == chunks as usize => arrived,
        // Another division into chunks: whatever came before must be there.
        Some(_) => all(&arrived).into_iter().map(|whole| vec![whole; chunks as usize]).collect(),
        None => vec![vec![Vec::new(); chunks as usize]; n],
    };
    let mut sent: Vec<Option<u32>> = vec![None; n];
    for step in 0..n - 1 {
        let mut next: Arrived = vec![Vec::new(); n];
        for place in 0..n {
            let to = (place + 1) % n;
            let block = part(bytes, n as u64, ((place + ahead + n - step) % n) as u64);
            for (number, after) in (0..).zip(&arrived[place]) {
                let transfer =
                    Transfer { from: members[place], to: members[to], bytes: part(block, chunks, number).max(1) };
                let id = schedule.send(transfer, after, sent[place], Span::ZERO);
                sent[place] = Some(id);
                next[to].push(vec![id]);
            }
        }
        arrived = next;
    }
    arrived
}

/// Reduce-scatter within groups of `local` consecutive ranks, all-reduce of each part among the ranks that have it, and
/// all-gather within the groups.
pub(super) fn hierarchical(schedule: &mut Schedule, ranks: u32, local: u32, bytes: u64, chunk: u64) {
    let groups = ranks / local;
    let mut arrived: Vec<Vec<u32>> = vec![Vec::new(); ranks as usize];
    let inner = |group: u32| (group * local..(group + 1) * local).collect::<Vec<u32>>();
    let outer = |place: u32| (0..groups).map(|group| group * local + place).collect::<Vec<u32>>();
    for members in (0..groups).map(inner) {
        let ended = round(schedule, &members, bytes, chunk, Vec::new(), 0);
        members.iter().zip(all(&ended)).for_each(|(&rank, list)| arrived[rank as usize] = list);
    }
    for place in 0..local {
        let members = outer(place);
        // Position `place` of a group has the part after its own.
        let own = part(bytes, u64::from(local), u64::from((place + 1) % local));
        let before = members.iter().map(|&rank| vec![arrived[rank as usize].clone()]).collect();
        let scattered = round(schedule, &members, own, chunk, before, 0);
        let ended = round(schedule, &members, own, chunk, scattered, 1);
        members.iter().zip(all(&ended)).for_each(|(&rank, list)| arrived[rank as usize] = list);
    }
    for members in (0..groups).map(inner) {
        let before = members.iter().map(|&rank| vec![arrived[rank as usize].clone()]).collect();
        round(schedule, &members, bytes, chunk, before, 1);
    }
}

/// Data goes from the first rank to the last; each sends a chunk on when it has it, and `compute` later.
pub(super) fn chain(schedule: &mut Schedule, ranks: u32, bytes: u64, chunk: u64, compute: Span) {
    let chunks = pieces(bytes, chunk);
    let mut sent: Vec<Option<u32>> = vec![None; ranks as usize];
    for number in 0..chunks {
        let mut arrived: Option<u32> = None;
        for from in 0..ranks - 1 {
            let transfer = Transfer { from, to: from + 1, bytes: part(bytes, chunks, number).max(1) };
            let id = schedule.send(transfer, arrived.as_slice(), sent[from as usize], compute);
            sent[from as usize] = Some(id);
            arrived = Some(id);
        }
    }
}
