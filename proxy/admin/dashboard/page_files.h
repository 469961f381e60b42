// The files of the dashboard's page (proxy/admin/dashboard/page), compiled into the program by
// embed_page.cmake.
#pragma once

#include <span>
#include <string_view>

namespace evenkeel::admin {

struct PageFile {
  std::string_view name;  // "index.html"
  std::string_view content;
};

// By name.
std::span<const PageFile> page_files();

}  // namespace evenkeel::admin
