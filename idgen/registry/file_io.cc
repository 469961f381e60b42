#include "idgen/registry/file_io.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "idgen/registry/registry.h"

namespace evenkeel::idgen {
namespace {

// Repeats a call that a signal interrupted.
template <typename Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

Status write_all(const FileDescriptor& file, const std::string& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written =
        uninterrupted([&] { return ::write(file.get(), content.data(), content.size()); });
    if (written < 0) return fail(io_failure("write", path, errno));
    content.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status sync(const FileDescriptor& file, const std::string& path) {
  if (uninterrupted([&] { return ::fsync(file.get()); }) < 0)
    return fail(io_failure("force to disk", path, errno));
  return {};
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Error io_failure(std::string_view doing, const std::string& path, int error_number) {
  return registry_error(
      fmt::format("cannot {} {}: {}", doing, path, std::generic_category().message(error_number)));
}

Status make_directory(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return {};
  const auto parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (::mkdir(path.c_str(), 0700) < 0 && errno != EEXIST)
    return fail(io_failure("create directory", path, errno));
  if (!std::filesystem::is_directory(path, error))
    return fail(io_failure("use as a directory", path, ENOTDIR));
  return {};
}

Result<FileDescriptor> open_or_create(const std::string& path) {
  const int fd = uninterrupted([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); });
  if (fd < 0) return fail(io_failure("open", path, errno));
  return FileDescriptor(fd);
}

Result<bool> try_lock(const FileDescriptor& file, const std::string& path) {
  if (uninterrupted([&] { return ::flock(file.get(), LOCK_EX | LOCK_NB); }) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  return fail(io_failure("lock", path, errno));
}

Result<std::optional<std::string>> read_file(const std::string& path) {
  const FileDescriptor file(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!file.is_open()) {
    if (errno == ENOENT) return std::nullopt;
    return fail(io_failure("open", path, errno));
  }
  std::string content;
  std::array<char, 4096> chunk;
  for (;;) {
    const ssize_t got = uninterrupted([&] { return ::read(file.get(), chunk.data(), chunk.size()); });
    if (got < 0) return fail(io_failure("read", path, errno));
    if (got == 0) return content;
    content.append(chunk.data(), static_cast<size_t>(got));
  }
}

Status overwrite(const FileDescriptor& file, const std::string& path, std::string_view content) {
  if (uninterrupted([&] { return ::ftruncate(file.get(), 0); }) < 0 || ::lseek(file.get(), 0, SEEK_SET) < 0)
    return fail(io_failure("empty", path, errno));
  return write_all(file, path, content);
}

Status replace_file(const std::string& directory, const std::string& name, std::string_view content) {
  const std::string path = directory + "/" + name;
  const std::string fresh = path + ".new";
  const FileDescriptor file(
      uninterrupted([&] { return ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600); }));
  if (!file.is_open()) return fail(io_failure("create", fresh, errno));
  EVENKEEL_TRY(write_all(file, fresh, content));
  EVENKEEL_TRY(sync(file, fresh));
  if (::rename(fresh.c_str(), path.c_str()) < 0) return fail(io_failure("replace", path, errno));
  // The rename itself lives in the directory.
  const FileDescriptor folder(
      uninterrupted([&] { return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!folder.is_open()) return fail(io_failure("open", directory, errno));
  return sync(folder, directory);
}

}  // namespace evenkeel::idgen
