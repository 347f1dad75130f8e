#pragma once
// What generate.cpp writes: one case of the differential test, as text for the oracle and as a function for the
// library.

namespace differential {

/// `Room` is what the case is run by: immediate_room or deferred_room.
template <class Room>
struct test_case {
    int number = 0;
    const char* written = "";  ///< as the user writes it
    const char* truth = "";    ///< the same in the oracle's language
    const char* extents = "";  ///< by label of the truth
    const char* types = "";    ///< "AdBfZd": element type of every tensor, as letters (see element.hpp)
    const char* outputs = "";  ///< letters
    bool exact = true;         ///< whole numbers: equal to the last bit, whatever the order of summation
    const char* notes = "";    ///< what the texts do not show (random_einsum.hpp)
    void (*run)(Room&) = nullptr;
    int draws = 1;  ///< how often it is run, each time with other extents and parameters (draw.hpp)
};

/// The cases of one translation unit.
template <class Room>
struct test_part {
    const test_case<Room>* first = nullptr;
    int count = 0;
};

}  // namespace differential
