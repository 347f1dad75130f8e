#pragma once
// The planner's enumerations and vertices in words.

#include <einparallel/graph/source.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/plan.hpp>

#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::string word_for(algorithm named);
EINPARALLEL_INLINE std::string word_for(objective named);
EINPARALLEL_INLINE std::string word_for(method named);
EINPARALLEL_INLINE std::string word_for(order named);

/// Who has an input's elements.
EINPARALLEL_INLINE std::string word_for(source_kind named);

/// Without line breaks and other control characters, which would tear a table apart.
EINPARALLEL_INLINE std::string printable(std::string text);
EINPARALLEL_INLINE std::string source_text(const planned_vertex& each);

/// Every rank can read any part of this input: nothing has to be sent, whatever the consumers want.
EINPARALLEL_INLINE bool read_by_all(const planned_vertex& input);

}  // namespace einparallel::EINPARALLEL_DETAIL
