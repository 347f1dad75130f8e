#pragma once

#include <einparallel/notation/einsum_form.hpp>

namespace einparallel {

EINPARALLEL_INLINE std::string einsum_form::text() const {
    return detail::einsum_text(
        names, operands.size(), [&](std::size_t operand) { return std::span<const label_id>(operands[operand]); },
        output);
}

}  // namespace einparallel
