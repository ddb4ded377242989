#pragma once

/// Keeps descriptors for a supervisor that may be killed. Standard output is the end of a
/// SOCK_SEQPACKET pair from which requests come, standard error the other end. A request is a
/// packet: a byte without a meaning, the number of a slot (two bytes in the order of the machine),
/// and one or two descriptors, for this slot and the following one. Without a descriptor, the slot
/// becomes empty. A slot is the number of a descriptor of this process, 10 or greater. Never
/// returns.
[[noreturn]] void keep_descriptors();
