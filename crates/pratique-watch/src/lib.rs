//! A directory as a live value: watched and polled, loaded aside, swapped whole.
