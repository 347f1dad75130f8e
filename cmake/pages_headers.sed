# Headers as Doxygen reads them: without the namespaces of the two ways to build, and with the words that every type of
# a kind would repeat. Defaulted functions and overloads for temporaries need none.
/namespace EINPARALLEL_WAY/d
/= default;$/d
/^EINPARALLEL_DETAIL_[A-Z]+\(.*\);$/d
/friend bool operator==/d
/^(EINPARALLEL_INLINE )?bool operator==/d
/\) && \{ return std::move\(/d
s|^ +using value_type = .*;$|&  ///< Type of the elements.|
s|^ +static constexpr std::size_t rank = Rank;$|&  ///< Number of dimensions.|
s|^ +static constexpr bool associative_commutative = .*;$|&  ///< See the concept Reduction.|
/^ *template <class T>$/{
N
s|^( +)(.*\n +(requires .* )?EINPARALLEL_HOST_DEVICE static constexpr T identity\(\))|\1/// The value that changes nothing.\n\1\2|
s|^( +)(.*\n +(requires .* )?EINPARALLEL_HOST_DEVICE constexpr T operator\(\)\(T a, T b\) const)|\1/// a ⊕ b.\n\1\2|
}
/^template <>$/{
N
/std::hash/{
:more
N
/\};$/!b more
d
}
}
