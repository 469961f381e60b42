# cmake -DPAGE=folder -DOUT=page_files.cc -P embed_page.cmake: the files of the page as C++ arrays, so that the program needs none beside it.
file(GLOB files RELATIVE ${PAGE} ${PAGE}/*)
list(SORT files)
set(arrays "")
set(entries "")
foreach(name IN LISTS files)
  string(MAKE_C_IDENTIFIER ${name} symbol)
  file(READ ${PAGE}/${name} hex HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
  # Lines that editors and compilers bear.
  string(REGEX REPLACE "(('..[0-9a-f][0-9a-f]',){32})" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "constexpr char ${symbol}[] = {\n${bytes}};\n")
  string(APPEND entries "    {\"${name}\", {${symbol}, sizeof ${symbol}}},\n")
endforeach()
file(WRITE ${OUT} "// Made by embed_page.cmake.
#include \"proxy/admin/dashboard/page_files.h\"

namespace evenkeel::admin {
namespace {

${arrays}
constexpr PageFile files[] = {
${entries}};

}  // namespace

std::span<const PageFile> page_files() { return files; }

}  // namespace evenkeel::admin
")
