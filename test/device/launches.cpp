// The launches of the library, run on the processor.

#include "emulation.hpp"

#include <einparallel/device/launch.ipp>
