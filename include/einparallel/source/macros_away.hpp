#pragma once
// Other headers (Qt, X11, Windows, macOS, C's complex.h, and g++ itself with -std=gnu++20) define macros whose names
// the library uses for itself. So einparallel.hpp begins with this header, which removes these macros, and ends with
// macros_back.hpp, which restores them. A unit with warnings that the library's style does not keep then gets them for
// its own lines only.

#pragma push_macro("min")
#undef min
#pragma push_macro("max")
#undef max
#pragma push_macro("check")
#undef check
#pragma push_macro("require")
#undef require
#pragma push_macro("verify")
#undef verify
#pragma push_macro("check_error")
#undef check_error
#pragma push_macro("slots")
#undef slots
#pragma push_macro("signals")
#undef signals
#pragma push_macro("emit")
#undef emit
#pragma push_macro("foreach")
#undef foreach
#pragma push_macro("forever")
#undef forever
#pragma push_macro("I")
#undef I
#pragma push_macro("major")
#undef major
#pragma push_macro("minor")
#undef minor
#pragma push_macro("makedev")
#undef makedev
#pragma push_macro("unix")
#undef unix
#pragma push_macro("linux")
#undef linux
#pragma push_macro("interface")
#undef interface
#pragma push_macro("small")
#undef small
#pragma push_macro("near")
#undef near
#pragma push_macro("far")
#undef far
#pragma push_macro("None")
#undef None
#pragma push_macro("Bool")
#undef Bool
#pragma push_macro("Status")
#undef Status
#pragma push_macro("Success")
#undef Success
#pragma push_macro("Always")
#undef Always
#pragma push_macro("True")
#undef True
#pragma push_macro("False")
#undef False

// Single letters that numerical programs use, and common words.
#pragma push_macro("A")
#undef A
#pragma push_macro("B")
#undef B
#pragma push_macro("C")
#undef C
#pragma push_macro("D")
#undef D
#pragma push_macro("E")
#undef E
#pragma push_macro("F")
#undef F
#pragma push_macro("G")
#undef G
#pragma push_macro("H")
#undef H
#pragma push_macro("J")
#undef J
#pragma push_macro("K")
#undef K
#pragma push_macro("L")
#undef L
#pragma push_macro("M")
#undef M
#pragma push_macro("N")
#undef N
#pragma push_macro("O")
#undef O
#pragma push_macro("P")
#undef P
#pragma push_macro("Q")
#undef Q
#pragma push_macro("R")
#undef R
#pragma push_macro("S")
#undef S
#pragma push_macro("T")
#undef T
#pragma push_macro("U")
#undef U
#pragma push_macro("V")
#undef V
#pragma push_macro("W")
#undef W
#pragma push_macro("X")
#undef X
#pragma push_macro("Y")
#undef Y
#pragma push_macro("Z")
#undef Z
#pragma push_macro("error")
#undef error
#pragma push_macro("expect")
#undef expect
#pragma push_macro("word")
#undef word
#pragma push_macro("Rank")
#undef Rank
#pragma push_macro("begin")
#undef begin
#pragma push_macro("end")
#undef end

#if defined(__GNUC__) && !defined(__NVCOMPILER)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuseless-cast"
#endif
#endif
