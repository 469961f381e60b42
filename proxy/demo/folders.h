// Where the demo keeps files: a cache that may be deleted at any time, and state folders of running clusters.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"

namespace evenkeel::demo {

// $XDG_CACHE_HOME/evenkeel, else ~/.cache/evenkeel, else a folder of this user under the temporary folder.
std::filesystem::path default_cache_folder();
// $XDG_STATE_HOME/evenkeel, else ~/.local/state/evenkeel, else as above.
std::filesystem::path default_state_folder();

// Makes the folder (mode 0700) with its parents.
Status make_private_folder(const std::filesystem::path& folder);
// A file that only this user can read, replaced as a whole.
Status write_private_file(const std::filesystem::path& file, const std::string& content);

// An exclusive lock on a file, held until destroyed and given up by the system when the process ends.
class FolderLock {
 public:
  // Waits for another holder to finish.
  static Result<FolderLock> wait_for(const std::filesystem::path& file);
  // Empty when another process holds it.
  static Result<std::optional<FolderLock>> try_take(const std::filesystem::path& file);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_ = -1;
};

}  // namespace evenkeel::demo
