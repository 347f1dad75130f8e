// Included before all else: what other headers make macros of. The umbrella takes them away, and gives them back.
#pragma once

#include <complex.h>

// Qt
#define slots
#define signals public
#define emit
#define foreach(each, range) for (each : range)
#define forever for (;;)
// macOS
#define check(assertion) \
    do {                 \
    } while (!(assertion))
#define require(assertion, label) \
    do {                          \
    } while (!(assertion))
#define verify(assertion) ((void)(assertion))
// Windows
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define small char
#define near
#define far
#define interface struct
// X11
#define None 0L
#define Bool int
#define Status int
#define Success 0
// Numerical programs
#define N 100
#define M 200
#define T 0.5
#define U 1.5
#define Rank 3
#define error(text) ((void)(text))
#define expect(condition) ((void)(condition))
// C libraries
#define major(device) (device)
#define minor(device) (device)
