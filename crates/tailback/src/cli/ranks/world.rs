//! The processes that mpirun has started, by way of the system's MPI library.

use engine::{NUMBERS, Ranks};
use mpi::Threading;
use mpi::environment::Universe;
use mpi::request::WaitGuard;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};

/// MPI counts bytes in 31 bits: what is longer is sent in pieces.
const PIECE: usize = 1 << 28;

/// What a rank tells each other at a meeting: its numbers, and how many bytes follow.
const TOLD: usize = NUMBERS + 1;

/// See the module.
pub struct World {
    world: SimpleCommunicator,
    told: Vec<u64>,
    heard: Vec<u64>,
    /// Emptied parcels, which serve again.
    spare: Vec<Vec<u8>>,
    /// Takes leave of the others when it is dropped, so it comes last.
    _universe: Universe,
}

impl World {
    /// Meets the others. Only the thread that calls this may use what it returns. `None` if MPI was initialised before.
    pub fn join() -> Option<World> {
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)?;
        let world = universe.world();
        let count = world.size() as usize;
        end_all_on_panic(world.rank(), count);
        Some(World {
            told: vec![0; count * TOLD],
            heard: vec![0; count * TOLD],
            spare: vec![Vec::new(); count],
            world,
            _universe: universe,
        })
    }
}

/// A rank that panics would leave the others waiting for it.
fn end_all_on_panic(rank: i32, count: usize) {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        usual(panic);
        eprintln!("error: rank {rank} of {count} failed (see above), so all ranks end; nothing was recorded");
        SimpleCommunicator::world().abort(101);
    }));
}

impl Ranks for World {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn count(&self) -> usize {
        self.world.size() as usize
    }

    fn exchange(&mut self, numbers: &mut [u64; NUMBERS], parcels: &mut [Vec<u8>]) {
        let own = self.rank();
        let World { world, told, heard, spare, .. } = self;
        for (told, parcel) in told.chunks_exact_mut(TOLD).zip(&*parcels) {
            told[..NUMBERS].copy_from_slice(numbers);
            told[NUMBERS] = parcel.len() as u64;
        }
        let buffers = &mut *spare;
        mpi::request::scope(|scope| {
            let mut pending: Vec<WaitGuard<'_, [u8], _>> = Vec::new();
            // Parcels are on their way while the ranks meet.
            for (rank, parcel) in (0..).zip(&*parcels).filter(|(rank, _)| *rank != own as i32) {
                let to = world.process_at_rank(rank);
                pending.extend(parcel.chunks(PIECE).map(|piece| WaitGuard::from(to.immediate_send(scope, piece))));
            }
            // An all-reduce of the numbers and the announcement of the parcels at once.
            world.all_to_all_into(&told[..], &mut heard[..]);
            for (rank, (buffer, heard)) in (0..).zip(buffers.iter_mut().zip(heard.chunks_exact(TOLD))) {
                numbers.iter_mut().zip(heard).for_each(|(least, &number)| *least = number.min(*least));
                buffer.clear();
                buffer.resize(if rank == own as i32 { 0 } else { heard[NUMBERS] as usize }, 0);
                let from = world.process_at_rank(rank);
                let receive = |piece| WaitGuard::from(from.immediate_receive_into(scope, piece));
                pending.extend(buffer.chunks_mut(PIECE).map(receive));
            }
            // Each waits for its end here.
            pending.clear();
        });
        for (rank, (parcel, buffer)) in parcels.iter_mut().zip(spare).enumerate() {
            if rank != own {
                std::mem::swap(parcel, buffer);
            }
        }
    }
}
