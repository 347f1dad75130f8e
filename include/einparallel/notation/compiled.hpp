#pragma once
// Header-only or compiled: the two ways to use the library, from one source.
//
// What only the compiler can know (labels, expression types, a user's functors) is template code in headers. All else
// is declared in x.hpp and defined in x.ipp beside it, both marked EINPARALLEL_INLINE:
//
//   header-only (the default)   the umbrella includes the .ipp files and the mark is `template <class...>`: a template
//                               without parameters is instantiated where it is called, so that a unit which does not
//                               plan parses the planner and compiles nothing of it;
//   EINPARALLEL_COMPILED=1      the mark is empty: ordinary functions, defined once in the library (the CMake target
//                               einparallel::compiled, or a file of the user's that includes einparallel/source/*.hpp).
//
// Definitions in the rooms graph, plan, run, data, mpi and io, whose loops are few and short, are marked
// EINPARALLEL_SELDOM: header-only they are compiled for size, which takes 6 % less time.
//
// A parameter pack, unlike a default argument, may stand at the declaration and at the definition. A class with the
// mark is named through argument deduction, `alignment(graph).result()`. Constexpr functions cannot have it; virtual
// functions and destructors have EINPARALLEL_VIRTUAL instead, where they are defined.
//
// Internals live in the namespace EINPARALLEL_DETAIL, public function templates in the inline namespace
// EINPARALLEL_WAY: where one program uses the library both ways, its internals never share a symbol. Types that users
// hold are the same both ways.
//
// Templates that record a user's functors live in EINPARALLEL_UNIT: where nvcc compiles them for runs on devices they
// have other names than elsewhere, because they contain the functors' kernels (device/functor_launch.hpp).
//
// A compiled library is built for one version, one binary interface of the C++ library and one of MPI. Units refer to
// symbols named after these, so that linking another library gives an error that shows why.

#include <einparallel/notation/version.hpp>

/// Marks operators and maps: plain functors that a device compiler may compile for host and device.
#if defined(__CUDACC__)
#define EINPARALLEL_HOST_DEVICE __host__ __device__
#else
#define EINPARALLEL_HOST_DEVICE
#endif

#if defined(EINPARALLEL_COMPILED) && EINPARALLEL_COMPILED

#define EINPARALLEL_INLINE
#define EINPARALLEL_VIRTUAL
#define EINPARALLEL_WAY EINPARALLEL_DETAIL_VERSIONED(compiled, )
#define EINPARALLEL_DETAIL detail::inline EINPARALLEL_WAY

#if defined(_GLIBCXX_DEBUG)
#define EINPARALLEL_DETAIL_ABI EINPARALLEL_DETAIL_VERSIONED(einparallel_compiled, _glibcxx_debug)
#elif defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
#define EINPARALLEL_DETAIL_ABI EINPARALLEL_DETAIL_VERSIONED(einparallel_compiled, _old_strings)
#else
#define EINPARALLEL_DETAIL_ABI EINPARALLEL_DETAIL_VERSIONED(einparallel_compiled, )
#endif

/// Makes the unit refer to a symbol of the library, even where it uses nothing of it. Where possible this reference
/// comes first, so that a linker that does not find the library reports it first.
#if defined(__ELF__) && defined(__x86_64__) && !defined(__CUDACC__)
#define EINPARALLEL_DETAIL_REFER(symbol)                         \
    extern "C" [[gnu::visibility("default")]] const char symbol; \
    __asm__(".text\n.long " #symbol "@GOTPCREL");
#else
#define EINPARALLEL_DETAIL_REFER(symbol)                                 \
    extern "C" [[gnu::visibility("default")]] const char symbol;         \
    namespace einparallel::detail {                                      \
    [[gnu::used]] inline const char* const refers_to_##symbol = &symbol; \
    }
#endif
#define EINPARALLEL_DETAIL_REFER_TO(symbol) EINPARALLEL_DETAIL_REFER(symbol)
EINPARALLEL_DETAIL_REFER_TO(EINPARALLEL_DETAIL_ABI)

#else

#define EINPARALLEL_INLINE template <class...>
#define EINPARALLEL_VIRTUAL inline
#define EINPARALLEL_WAY header_only
#define EINPARALLEL_DETAIL detail::inline header_only

#endif

#if defined(__GNUC__) && !defined(__CUDACC__) && !(defined(EINPARALLEL_COMPILED) && EINPARALLEL_COMPILED)
#define EINPARALLEL_SELDOM EINPARALLEL_INLINE [[gnu::cold]]
#else
#define EINPARALLEL_SELDOM EINPARALLEL_INLINE
#endif

#if !defined(EINPARALLEL_DETAIL_FOR_DEVICES)
#if defined(__CUDACC__) && defined(EINPARALLEL_HAS_CUDA)
#define EINPARALLEL_DETAIL_FOR_DEVICES EINPARALLEL_HAS_CUDA
#else
#define EINPARALLEL_DETAIL_FOR_DEVICES 0
#endif
#endif
#if EINPARALLEL_DETAIL_FOR_DEVICES
#define EINPARALLEL_UNIT EINPARALLEL_DETAIL::inline for_devices
#else
#define EINPARALLEL_UNIT EINPARALLEL_DETAIL
#endif

namespace einparallel::EINPARALLEL_UNIT {

/// A template argument of member functions that call internals. It makes their symbols differ between the header-only
/// and the compiled library, as the symbols of the internals do.
struct way;

}  // namespace einparallel::EINPARALLEL_UNIT

namespace einparallel::detail {

/// The base of a class whose objects are not copied.
struct not_copied {
    not_copied() = default;
    not_copied(const not_copied&) = delete;
    not_copied& operator=(const not_copied&) = delete;
};

}  // namespace einparallel::detail
