//! Proof that the core links no `std` (ARC-15).
//!
//! `#![no_std]` in a crate speaks for that crate alone: a dependency, or a feature of one, may
//! still bring `std` along, and with it clocks, sockets, threads and hash seeds. This library
//! defines the panic handler itself. `std` defines one too, and a program may have only one, so
//! the compiler refuses this crate (E0152, duplicate lang item `panic_impl`) the moment anything
//! below it links `std`.
//!
//! The other half of the gate is `deny.toml` beside the manifest: the closed list of crates that
//! may stand below the core. It stops what needs no `std` to reach the world, such as a crate
//! that asks the kernel for entropy directly.
//!
//! That the gate can fail is checked as well: with the feature `leak` a crate that does link
//! `std` joins, and `.ci/run` expects exactly that error.
#![no_std]

extern crate alloc;

use alloc::boxed::Box;
use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;
use core::ptr::null_mut;

use everstep_machine as _;
#[cfg(feature = "leak")]
use everstep_purity_leak as _;

/// An allocator without memory. Nothing here runs; a crate that uses `alloc` only has to name one.
struct Nowhere;

// SAFETY: `alloc` reports exhaustion and never hands out a block, so `dealloc` never gets one.
unsafe impl GlobalAlloc for Nowhere {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static NOWHERE: Nowhere = Nowhere;

/// The panic handler that `std`'s own collides with.
#[panic_handler]
fn halt(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

/// Reaches the allocator, so that `alloc` is linked and not merely named.
pub fn allocates() -> Box<u8> {
    Box::new(0)
}
