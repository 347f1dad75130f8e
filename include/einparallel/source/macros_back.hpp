#pragma once
// The end of what macros_away.hpp begins.

#include <einparallel/source/macros_away.hpp>

#pragma pop_macro("min")
#pragma pop_macro("max")
#pragma pop_macro("check")
#pragma pop_macro("require")
#pragma pop_macro("verify")
#pragma pop_macro("check_error")
#pragma pop_macro("slots")
#pragma pop_macro("signals")
#pragma pop_macro("emit")
#pragma pop_macro("foreach")
#pragma pop_macro("forever")
#pragma pop_macro("I")
#pragma pop_macro("major")
#pragma pop_macro("minor")
#pragma pop_macro("makedev")
#pragma pop_macro("unix")
#pragma pop_macro("linux")
#pragma pop_macro("interface")
#pragma pop_macro("small")
#pragma pop_macro("near")
#pragma pop_macro("far")
#pragma pop_macro("None")
#pragma pop_macro("Bool")
#pragma pop_macro("Status")
#pragma pop_macro("Success")
#pragma pop_macro("Always")
#pragma pop_macro("True")
#pragma pop_macro("False")

#if defined(__GNUC__) && !defined(__NVCOMPILER)
#pragma GCC diagnostic pop
#endif
