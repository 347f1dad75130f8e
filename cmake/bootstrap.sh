# Sourced by examples/run and test/run: finds what is missing, installs it where the distribution's package manager may
# be used, configures and builds. What is already there or done is not done again.
# shellcheck shell=bash

set -euo pipefail

unset CDPATH # with it, cd prints
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# A compiler that the user names gets a build folder of its own, so that going back and forth rebuilds nothing.
read -r CXX <<<"${CXX:-}" # without blanks around it
[ -n "$CXX" ] || unset CXX
build="$root/build/release${CXX:+-${CXX//[!A-Za-z0-9+.-]/_}}"

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# The C++ compiler that CMake will take (CXX may be several words: "ccache g++"), or nothing.
compiler() {
    local name
    if [ -n "${CXX:-}" ]; then
        has "${CXX%% *}" || fail "CXX is '$CXX', and there is no '${CXX%% *}' on this machine."
        printf '%s' "$CXX"
        return
    fi
    for name in c++ g++ clang++; do
        if has "$name"; then
            printf '%s' "$name"
            return
        fi
    done
}

# has_header FILE...: true where the compiler, or a folder of CMAKE_PREFIX_PATH, has one of them.
has_header() {
    local cxx header folder
    read -r -a cxx <<<"$(compiler)"
    for header in "$@"; do
        if [ ${#cxx[@]} -gt 0 ] && printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$header" |
            "${cxx[@]}" -E -x c++ - >/dev/null 2>&1; then
            return 0
        fi
        local IFS=':;'
        for folder in ${CMAKE_PREFIX_PATH:-}; do
            [ -e "$folder/include/$header" ] && return 0
        done
    done
    return 1
}

# MPICH's compiler wrapper and, on a second line, its launcher, where other MPIs may be installed beside it: mpicxx and
# mpiexec belong to whichever was installed last. Nothing where MPI_HOME says which to take. These scripts alone prefer
# an MPI: the library takes the application's.
mpich() {
    local folder
    if [ -n "${MPI_HOME:-}" ]; then
        return
    elif has mpicxx.mpich && has mpiexec.mpich; then
        printf '%s\n' "$(command -v mpicxx.mpich)" "$(command -v mpiexec.mpich)"
        return
    fi
    for folder in /usr/lib64/mpich/bin /usr/lib/mpich/bin /usr/lib64/mpi/gcc/mpich/bin /opt/mpich/bin; do
        if [ -x "$folder/mpicxx" ] && [ -x "$folder/mpiexec" ]; then
            printf '%s\n' "$folder/mpicxx" "$folder/mpiexec"
            return
        fi
    done
}

has_mpi() {
    [ -n "${MPI_HOME:-}" ] && return 0
    [ -n "$(mpich)" ] && return 0
    # Elsewhere than on Debian the plain names are MPICH's own, or those of an MPI that the machine's owner chose.
    [ "$(distribution)" != debian ] && has mpicxx && has mpiexec
}

# is_there THING: whether one of the things that package() knows is on this machine.
is_there() {
    local cxx
    cxx=$(compiler) || exit 1
    case $1 in
        compiler) [ -n "$cxx" ] ;;
        cmake) has cmake ;;
        build) has ninja || has make ;;
        mpich) has_mpi ;;
        hana) has_header boost/hana.hpp ;;
        eigen) has_header Eigen/Core eigen3/Eigen/Core ;;
        doctest) has_header doctest/doctest.h ;;
        xtensor) has_header xtensor/xtensor.hpp ;;
        kokkos) has_header Kokkos_Core.hpp trilinos/Kokkos_Core.hpp ;;
        simgrid) has smpirun && has_header smpi/smpi_helpers.h ;;
        doxygen) has doxygen ;;
    esac
}

distribution() {
    local words=""
    if [ -r /etc/os-release ]; then
        words=" $(. /etc/os-release && printf '%s %s' "${ID:-}" "${ID_LIKE:-}") "
    fi
    case $words in
        *" debian "* | *" ubuntu "*) printf debian ;;
        *" fedora "* | *" rhel "*) printf fedora ;;
        *" arch "*) printf arch ;;
        *suse*) printf suse ;;
        *) printf other ;;
    esac
}

# package THING: its packages in this distribution; nothing where it has none.
package() {
    case $(distribution):$1 in
        debian:compiler) printf 'g++' ;;
        fedora:compiler | suse:compiler) printf 'gcc-c++' ;;
        arch:compiler) printf 'gcc' ;;
        debian:build | fedora:build) printf 'ninja-build' ;;
        arch:build | suse:build) printf 'ninja' ;;
        debian:mpich) printf 'mpich libmpich-dev' ;;
        fedora:mpich | suse:mpich) printf 'mpich-devel' ;;
        arch:mpich) printf 'openmpi' ;;
        debian:hana) printf 'libboost-dev' ;;
        fedora:hana) printf 'boost-devel' ;;
        arch:hana) printf 'boost' ;;
        suse:hana) printf 'libboost_headers-devel' ;;
        debian:eigen) printf 'libeigen3-dev' ;;
        fedora:eigen | suse:eigen) printf 'eigen3-devel' ;;
        arch:eigen) printf 'eigen' ;;
        debian:doctest) printf 'doctest-dev' ;;
        fedora:doctest | suse:doctest) printf 'doctest-devel' ;;
        arch:doctest) printf 'doctest' ;;
        debian:xtensor) printf 'libxtensor-dev' ;;
        # Not in every release, and no reason to fetch the lists.
        debian:kokkos) ! apt-cache show libtrilinos-kokkos-dev >/dev/null 2>&1 || printf 'libtrilinos-kokkos-dev' ;;
        debian:simgrid) printf 'libsimgrid-dev' ;;
        fedora:simgrid) printf 'simgrid-devel' ;;
        *:cmake) printf 'cmake' ;;
        *:doxygen) printf 'doxygen' ;;
        other:simgrid | arch:simgrid | suse:simgrid | *:xtensor | *:kokkos) ;;
        other:compiler) printf 'a C++20 compiler' ;;
        other:build) printf 'Ninja or Make' ;;
        other:mpich) printf 'MPICH with its development files' ;;
        other:hana) printf 'Boost headers' ;;
        other:eigen) printf 'Eigen 3' ;;
        other:doctest) printf 'doctest' ;;
    esac
}

# install_with_apt PACKAGE...: as root or through sudo; false where neither may be.
install_with_apt() {
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get)
    if [ "$(id -u)" -ne 0 ]; then
        has sudo || return 1
        # Without a terminal nobody can type a password.
        if ! sudo -n true 2>/dev/null; then
            [ -t 0 ] && sudo -v || return 1
        fi
        apt=(sudo "${apt[@]}")
    fi
    printf 'installing %s\n' "$*"
    local log
    log=$(mktemp)
    # Lists may be absent (a fresh container) or too old; they are fetched only then.
    if ! "${apt[@]}" install -s --no-install-recommends "$@" >"$log" 2>&1 </dev/null ||
        ! "${apt[@]}" install -y -q --no-install-recommends "$@" >"$log" 2>&1 </dev/null; then
        printf 'fetching the package lists\n'
        if ! "${apt[@]}" update -q >"$log" 2>&1 </dev/null ||
            ! "${apt[@]}" install -y -q --no-install-recommends "$@" >"$log" 2>&1 </dev/null; then
            tail -n 20 "$log" >&2
            rm -f "$log"
            return 1
        fi
    fi
    rm -f "$log"
}

# need THING...: all of them are there when it returns; a word with a question mark is wanted, but not needed.
need() {
    local thing packages=() wanted=() missing=() line="" found cxx=()
    [ -z "${MPI_HOME:-}" ] || [ -d "$MPI_HOME" ] || fail "MPI_HOME is '$MPI_HOME', and there is no such folder."
    found=$(compiler) || exit 1
    read -r -a cxx <<<"$found"
    if [ ${#cxx[@]} -gt 0 ] && ! "${cxx[@]}" -E -x c++ - </dev/null >/dev/null 2>&1; then
        fail "The compiler '$found' does not even preprocess an empty file: CXX says which one to take."
    fi
    case $root in
        *['#[];"\']* | *$'\n'*) fail "CMake does not take the path '$root': move the clone to one without # [ ] ; \" \\." ;;
    esac
    { mkdir -p "$build" && [ -w "$build" ]; } 2>/dev/null ||
        fail "Nothing can be written to the folder $build: take a clone in a folder of your own."
    for thing in "$@"; do
        if ! is_there "${thing%\?}"; then
            read -r -a wanted <<<"$(package "${thing%\?}")"
            if [ "${thing%\?}" = "$thing" ]; then
                missing+=("${wanted[@]}")
                line="$line, $(package "$thing")"
            fi
            packages+=("${wanted[@]}")
        fi
    done
    if [ ${#packages[@]} -gt 0 ] && [ "$(distribution)" = debian ]; then
        if install_with_apt "${packages[@]}"; then
            missing=()
            for thing in "$@"; do
                if [ "${thing%\?}" = "$thing" ] && ! is_there "$thing"; then
                    fail "Even with its packages ($(package "$thing")) installed, $thing is not found on this machine."
                fi
            done
        fi
    fi
    if [ ${#missing[@]} -gt 0 ]; then
        case $(distribution) in
            debian) fail "Missing packages, please install them: apt-get install ${missing[*]}" ;;
            fedora) fail "Missing packages, please install them: dnf install ${missing[*]}" ;;
            arch) fail "Missing packages, please install them: pacman -S ${missing[*]}" ;;
            suse) fail "Missing packages, please install them: zypper install ${missing[*]}" ;;
            *) fail "Missing, please install: ${line#, }" ;;
        esac
    fi
    local version
    version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/p') || true
    [ -n "$version" ] || fail "$(command -v cmake) --version says no version."
    if [ "${version% *}" -lt 3 ] || { [ "${version% *}" -eq 3 ] && [ "${version#* }" -lt 25 ]; }; then
        fail "CMake 3.25 or newer is needed, and $(command -v cmake) is ${version/ /.}: a newer one comes with" \
            "'pip install cmake' or your distribution's backports."
    fi
}

# cached NAME: the value that the build folder has for it.
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt" 2>/dev/null || true; }

# alone COMMAND...: one of those in this build folder at a time.
alone() {
    if has flock; then
        flock -o "$build/.lock" "$@"
    else
        "$@"
    fi
}

# configure NAME=VALUE...: runs CMake where the build folder is not there, is another's, or has other values.
configure() {
    local setting arguments=() current=yes
    for setting in "$@"; do
        arguments+=("-D$setting")
        [ "$(cached "${setting%%=*}")" = "${setting#*=}" ] || current=no
    done
    if [ "$(cached CMAKE_HOME_DIRECTORY)" != "$root" ] ||
        { [ ! -e "$build/build.ninja" ] && [ ! -e "$build/Makefile" ]; }; then
        current=no
        rm -f "$build/CMakeCache.txt"
        if has ninja; then
            arguments+=(-G Ninja)
        else
            arguments+=(-G "Unix Makefiles")
        fi
    fi
    [ "$current" = yes ] && return
    if [ -z "$(cached MPI_CXX_COMPILER)" ]; then
        local words=()
        mapfile -t words < <(mpich)
        if [ ${#words[@]} -eq 2 ]; then
            arguments+=("-DMPI_CXX_COMPILER=${words[0]}" "-DMPIEXEC_EXECUTABLE=${words[1]}")
        fi
    fi
    alone cmake -S "$root" -B "$build" "${arguments[@]}" -DCMAKE_BUILD_TYPE=Release -DEINPARALLEL_MPI=ON </dev/null ||
        fail "Configuring in $build failed. If the folder is damaged, delete it."
}

# As many compilers at once as there are cores, and as there is memory for: the largest units of the tests take 3 GB each,
# and a container may use less than the machine has.
jobs() {
    local cores limit
    cores=$(nproc 2>/dev/null || echo 1)
    for limit in "$(awk '/^MemAvailable:/ {print int($2 / 3000000)}' /proc/meminfo 2>/dev/null)" \
        "$(awk '/^[0-9]+$/ {print int($1 / 3000000000)}' /sys/fs/cgroup/memory.max 2>/dev/null)"; do
        if [ -n "$limit" ] && [ "$limit" -lt "$cores" ]; then
            cores=$((limit > 0 ? limit : 1))
        fi
    done
    printf '%s' "$cores"
}

# compile TARGET...
compile() {
    alone cmake --build "$build" --parallel "$(jobs)" --target "$@" </dev/null ||
        fail "Building in $build failed. If the folder is damaged, delete it."
}

# configuration: what the library was built with. Its program is one of the things that were compiled.
configuration() {
    [ ! -x "$build/einparallel_configuration" ] || "$build/einparallel_configuration" </dev/null
}

# time_by_program FILE: seconds that the programs took to compile, each step as it was last built, and to run in a test of
# ctest that was started after FILE was made; the longest ones, with their share of all. Steps and tests run beside each
# other, so the sum is more than the time that passed. Ninja alone keeps a log of steps, a line for each output: start and
# end in ms, time, output, command.
time_by_program() {
    local steps="$build/.ninja_log" tests="$build/Testing/Temporary/LastTest.log"
    [ -r "$steps" ] || steps=/dev/null
    [ "$tests" -nt "$1" ] || tests=/dev/null
    awk -F '\t' '
        FILENAME == ARGV[1] && !/^#/ { step[$4] = $1 " " $2 " " $5; seconds[$4] = ($2 - $1) / 1000 }
        FILENAME == ARGV[2] && /^[0-9]+\/[0-9]+ Test: / { split($0, words, " "); test = words[3] }
        FILENAME == ARGV[2] && /^Test time = / && test != "" {
            split($0, words, " ")
            split(test, dotted, ".")
            run[dotted[1]] += words[4]
            test = ""
        }
        function program(output, name) {
            name = output
            if (name !~ /\.dir\//) return "linking and pages"
            sub(/\.dir\/.*/, "", name)
            sub(/.*\//, "", name)
            if (name ~ /headers_alone$/) return "each header alone"
            if (name ~ /^einparallel_compiled_/) return "the library"
            sub(/_smpi$/, "", name)
            return name
        }
        END {
            for (made in step) if (!said[step[made]]++) compiled[program(made)] += seconds[made]
            for (name in compiled) all[name] += compiled[name]
            for (name in run) all[name] += run[name]
            for (name in all) sum += all[name]
            for (name in all) printf "%s\t%.1f\t%.1f\t%.1f\n", name, compiled[name], run[name], 100 * all[name] / sum
        }' "$steps" "$tests" | sort -t "$(printf '\t')" -k 4 -rn |
        awk -F '\t' 'NR == 1 { printf "\n%-32s %10s %10s %8s\n", "Where the time went", "compile s", "run s", "of all" }
            NR <= 20 { printf "%-32s %10.1f %10.1f %6.1f %%\n", $1, $2, $3, $4 }' || true
}
