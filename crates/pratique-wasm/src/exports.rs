//! What a module of WebAssembly exports.
//!
//! The two buffers belong to the module. The host writes and reads them between calls, while nothing here runs, so that no
//! function has to take an address: there is no unsafe code but the attributes that give the exports their names.
#![allow(unsafe_code, reason = "names of exports are unsafe attributes")]

use std::cell::RefCell;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The address to which the host writes the next request, of this length.
// The name is that of no other symbol of the module.
#[unsafe(no_mangle)]
extern "C" fn pratique_input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        *input = vec![0; length];
        input.as_mut_ptr()
    })
}

/// Answers the request that was written; returns the length of the answer.
#[unsafe(no_mangle)]
extern "C" fn pratique_answer() -> usize {
    let request = INPUT.take();
    let answer = crate::answer(&request);
    let length = answer.len();
    OUTPUT.set(answer);
    length
}

/// The address of the last answer, which stays until the next one.
#[unsafe(no_mangle)]
extern "C" fn pratique_output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}
