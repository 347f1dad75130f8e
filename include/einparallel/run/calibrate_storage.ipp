#pragma once
// How long bytes take to where tensors wait and back: between a device and its host, and between memory and files.

#include <einparallel/io/file.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/interface.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/calibrate.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM void allreduce_largest(const communicator& ranks, std::span<double> figures) {
    std::replace_if(
        figures.begin(), figures.end(), [](double figure) { return !(figure > 0); }, 0.0);
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, figures.data(), int(figures.size()), MPI_DOUBLE, MPI_MAX, ranks.native()),
              "MPI_Allreduce");
}

/// Measures storage on all ranks at the same time; a duration is that of the slowest rank.
EINPARALLEL_INLINE class storage_calibration {
public:
    /// @param failure  gets the sentence of the first failure; where it is not empty, nothing is moved any more
    storage_calibration(const communicator& control, std::string& failure) : control_(control), failure_(failure) {}

    /// Tensors of a device wait on the host; others in a file in the folder, if one is named.
    /// @param here  memory of the space, whose elements are moved
    void measure(machine& found, const memory_space& space, const memory_block& here, const std::string& folder) {
        const auto set = [](double& constant, double seconds) { constant = seconds > 0 ? seconds : constant; };
        if (!space.is_host()) {
            set(found.seconds_per_host_byte, of_host(space, here));
            found.seconds_per_stored_byte = found.seconds_per_host_byte;
        } else if (!folder.empty()) {
            set(found.seconds_per_stored_byte, of_files(folder));
        }
    }

private:
    /// Seconds per byte between a device and pinned memory of its host.
    double of_host(const memory_space& space, const memory_block& here) {
        const std::size_t bytes = here.bytes();
        const std::array extents{index(bytes / sizeof(double))};
        constexpr std::array<index, 1> dense{1};
        memory_block there;
        attempt([&] { there = memory_block(space.on_host(), bytes); });
        constexpr int rounds = 5;
        const double seconds = there_and_back(rounds, [&](bool evicts) {
            void* const into = evicts ? there.data() : here.data();
            const void* const from = evicts ? here.data() : there.data();
            space.copy_page({extents, into, dense, from, dense, sizeof(double)});
        });
        return seconds / 2 / double(bytes);
    }

    /// Seconds per byte to and from a file that the system does not hold in its cache.
    double of_files(const std::string& folder) {
        constexpr std::size_t bytes = std::size_t{64} << 20;
        std::optional<scratch_file> file;
        std::vector<std::byte> elements;
        attempt([&] {
            file.emplace(folder);
            file->reserve(bytes);
            elements.resize(bytes, std::byte{1});
        });
        const double seconds = there_and_back(1, [&](bool evicts) {
            if (evicts) {
                file->write(elements.data(), bytes, 0);
                file->flush();
            } else {
                file->drop(bytes, 0);
                file->read(elements.data(), bytes, 0);
            }
        });
        return seconds / 2 / double(bytes);
    }

    void attempt(function_ref<void()> f) {
        failure_ = failure_.empty() ? failure_of("calibrate: rank " + std::to_string(control_.rank()), f) : failure_;
        agree(control_, failure_);
    }

    /// The median time that move(evicts) takes, in both directions together.
    double there_and_back(int rounds, function_ref<void(bool evicts)> move) {
        std::vector<double> samples;
        for (int round = 0; round < rounds; ++round) {
            double seconds = 0;
            for (const bool evicts : {true, false}) {
                std::array<double, 1> figures{};
                allreduce_largest(control_, figures);  // nobody begins before all are here
                const double start = MPI_Wtime();
                attempt([&] { move(evicts); });
                figures = {MPI_Wtime() - start};
                allreduce_largest(control_, figures);
                seconds += figures[0];
            }
            samples.push_back(seconds);
        }
        sort_range(samples);
        return samples[samples.size() / 2];
    }

    const communicator& control_;
    std::string& failure_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
