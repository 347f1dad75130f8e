#pragma once
// The partition vectors of a vertex one after the other, cheapest first, however it takes and leaves its sums.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/partition_search.ipp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The vectors of all families of a vertex together, in the order of what they cost at least.
class cheapest_partitions {
public:
    EINPARALLEL_INLINE cheapest_partitions(const vertex& einsum, const std::vector<partition_family>& families,
                                           const options& asked);

    /// The next one; nothing where there is none, or where too many cost alike.
    EINPARALLEL_INLINE std::optional<partition_candidate> next();

    /// What every vector that did not come yet costs at least; infinity where there is none.
    [[nodiscard]] double rest() const {
        return next_ < listed_.size() ? listed_[next_].least
               : is_all_              ? std::numeric_limits<double>::infinity()
                                      : limit_;
    }

private:
    /// Vectors that are written down at once, and beyond which a level is divided.
    static constexpr std::size_t enough = 64;
    static constexpr std::size_t too_many = 20'000;

    EINPARALLEL_INLINE void list_more();

    std::vector<partition_search> searches_;
    std::vector<partition_candidate> listed_;
    std::size_t next_ = 0;
    double limit_ = -1;  // all that cost no more have been listed
    double least_ = 0;
    double step_ = 1;
    bool is_all_ = false;
    bool gave_up_ = false;
};

EINPARALLEL_INLINE cheapest_partitions::cheapest_partitions(const vertex& einsum,
                                                            const std::vector<partition_family>& families,
                                                            const options& asked)
    : least_(std::numeric_limits<double>::infinity()), step_(least_) {
    for (std::size_t number = 0; number < families.size(); ++number) {
        searches_.emplace_back(einsum, families[number], number, asked);
        least_ = std::min(least_, searches_.back().least());
        step_ = std::min(step_, searches_.back().unit());
    }
    is_all_ = least_ == std::numeric_limits<double>::infinity();
    list_more();
}

EINPARALLEL_INLINE void cheapest_partitions::list_more() {
    listed_.clear();
    next_ = 0;
    const double above = limit_;
    double fits = limit_;
    for (int divided = 0; !is_all_ && !gave_up_ && listed_.size() < enough;) {
        const double limit = std::max(least_, fits) + step_;
        std::vector<partition_candidate> found;
        bool all = true;
        bool few = true;
        for (partition_search& search : searches_) {
            few = few && search.list(above, limit, too_many, found, all);
        }
        if (few && found.size() <= too_many) {
            listed_ = std::move(found);
            fits = limit;
            is_all_ = all;
            step_ *= divided == 0 ? 2 : 1;
            continue;
        }
        step_ /= 8;
        if (!listed_.empty()) {
            break;
        }
        gave_up_ = ++divided > 12;
    }
    limit_ = fits;
    std::stable_sort(listed_.begin(), listed_.end());
}

EINPARALLEL_INLINE std::optional<partition_candidate> cheapest_partitions::next() {
    if (next_ == listed_.size()) {
        list_more();
    }
    return next_ < listed_.size() ? std::optional(listed_[next_++]) : std::nullopt;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
