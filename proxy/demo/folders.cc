#include "proxy/demo/folders.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "proxy/demo/io_error.h"

namespace evenkeel::demo {
namespace {

std::filesystem::path user_folder(const char* variable, const char* under_home) {
  const char* named = std::getenv(variable);
  if (named != nullptr && *named == '/') return std::filesystem::path(named) / "evenkeel";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::filesystem::path(home) / under_home / "evenkeel";
  std::error_code ignored;
  std::filesystem::path temporary = std::filesystem::temp_directory_path(ignored);
  if (ignored) temporary = "/tmp";
  return temporary / ("evenkeel-" + std::to_string(getuid()));
}

Result<int> open_lock_file(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return fail(io_error("open", file));
  return descriptor;
}

}  // namespace

std::filesystem::path default_cache_folder() { return user_folder("XDG_CACHE_HOME", ".cache"); }
std::filesystem::path default_state_folder() { return user_folder("XDG_STATE_HOME", ".local/state"); }

Status make_private_folder(const std::filesystem::path& folder) {
  std::error_code cause;
  std::filesystem::create_directories(folder, cause);
  if (cause) return fail(io_error("make the folder", folder, cause));
  if (chmod(folder.c_str(), 0700) != 0) return fail(io_error("make private", folder));
  return {};
}

Status write_private_file(const std::filesystem::path& file, const std::string& content) {
  const std::string unfinished = file.string() + ".new";
  const int descriptor = open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) return fail(io_error("create", unfinished));
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t written = write(descriptor, content.data() + done, content.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const Error error = io_error("write", unfinished);
      close(descriptor);
      return fail(error);
    }
    done += static_cast<size_t>(written);
  }
  close(descriptor);
  if (rename(unfinished.c_str(), file.c_str()) != 0) return fail(io_error("replace", file));
  return {};
}

Result<FolderLock> FolderLock::wait_for(const std::filesystem::path& file) {
  EVENKEEL_ASSIGN(const int descriptor, open_lock_file(file));
  FolderLock lock(descriptor);
  while (flock(descriptor, LOCK_EX) != 0) {
    if (errno != EINTR) return fail(io_error("lock", file));
  }
  return lock;
}

Result<std::optional<FolderLock>> FolderLock::try_take(const std::filesystem::path& file) {
  EVENKEEL_ASSIGN(const int descriptor, open_lock_file(file));
  FolderLock lock(descriptor);
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return std::optional<FolderLock>(std::move(lock));
  if (errno == EWOULDBLOCK) return std::optional<FolderLock>();
  return fail(io_error("lock", file));
}

FolderLock::FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace evenkeel::demo
