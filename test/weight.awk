# awk -v files_limit=N -v lines_limit=N -v length_limit=N -f weight.awk FILE...
# Files, code lines and non-blank characters of code, by folder. Code is what is not blank, no comment, no #include or
# #pragma and no brace of a namespace. Exits with 1 where a folder has more files or code lines, or a file more lines,
# than the limits.

function folder_of(path) {
    sub(/\/[^\/]*$/, "", path)
    sub(/.*einparallel\//, "", path)
    return path
}

# Without the comment at its end; a // with an odd quote behind it stands in a string.
function without_comment(line,    at, rest) {
    for (at = 1; at < length(line); ++at) {
        rest = substr(line, at)
        if (substr(rest, 1, 2) == "//" && gsub(/"/, "", rest) != 1) {
            return substr(line, 1, at - 1)
        }
    }
    return line
}

FNR == 1 {
    folder = folder_of(FILENAME)
    ++files[folder]
    in_comment = 0
}

length_limit > 0 && FNR == length_limit + 1 {
    broken = broken "  " FILENAME " has more than " length_limit " lines\n"
}

{ gsub(/^[ \t\r]+|[ \t\r]+$/, "") }

in_comment {
    if (!sub(/^.*\*\/[ \t]*/, "")) {
        next
    }
    in_comment = 0
}

/^\/\*/ {
    in_comment = !/\*\//
    next
}

/^$/ || /^\/\// || /^#[ \t]*(include|pragma)/ { next }
/^(inline )?namespace[^;=A-Za-z0-9_][^;=]*[{]$/ || /^[}][ \t]*\/\/[ \t]*(inline )?namespace/ { next }

{
    ++lines[folder]
    code = index($0, "//") ? without_comment($0) : $0
    gsub(/[ \t\r\200-\277]/, "", code)  # a letter of several bytes counts once
    characters[folder] += length(code)
}

END {
    for (folder in files) {
        printf "%-24s %5d files %7d lines %8d characters\n", folder, files[folder], lines[folder],
            characters[folder] | "sort"
        if (files_limit > 0 && files[folder] > files_limit) {
            broken = broken "  " folder " has " files[folder] " files, at most " files_limit "\n"
        }
        if (lines_limit > 0 && lines[folder] > lines_limit) {
            broken = broken "  " folder " has " lines[folder] " lines of code, at most " lines_limit "\n"
        }
        all_files += files[folder]
        all_lines += lines[folder]
        all_characters += characters[folder]
    }
    close("sort")
    printf "%-24s %5d files %7d lines %8d characters\n", "all", all_files, all_lines, all_characters
    if (broken != "") {
        printf "Too much for one place:\n%s", broken
        exit 1
    }
}
