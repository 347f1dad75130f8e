# Pages as Doxygen reads them: code for the compiler alone is left out, and links lead to what this build makes.
/^<!-- cpp$/,/^-->$/d
s,\]\((examples/pages/)?([a-z_]*)\.md\),](@ref md_examples_pages_\2),g
s,\]\((examples|\.\.|bench/results|\.\./\.\./bench/results)/([a-z0-9_]*\.svg)\),](\2),g
s,\[([^]]*)\]\((\.\./[a-z0-9_]*\.cpp|bench/results/[a-z0-9_]*\.txt)\),`\1`,g
s,\[([^]]*)\]\((LICENSE|CHANGELOG\.md|CITATION\.cff|CONTRIBUTING\.md|SECURITY\.md)\),\1,g
