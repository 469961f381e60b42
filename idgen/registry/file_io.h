// The few file operations of the file registry, each with its error named. Blocking.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace evenkeel::idgen {

// Owns a file descriptor, closed on exec.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

// "cannot <doing> <path>: <what errno says>", kind registry.
Error io_failure(std::string_view doing, const std::string& path, int error_number);

// Creates the directory, mode 0700, with its parents.
Status make_directory(const std::string& path);

// Opens for reading and writing, creating the file with mode 0600.
Result<FileDescriptor> open_or_create(const std::string& path);

// Takes the whole file's flock if it is free; false when another descriptor has it.
Result<bool> try_lock(const FileDescriptor& file, const std::string& path);

// Nothing when the file does not exist.
Result<std::optional<std::string>> read_file(const std::string& path);

// Replaces the content through an open descriptor.
Status overwrite(const FileDescriptor& file, const std::string& path, std::string_view content);

// Replaces `name` in `directory` atomically; after success the new content survives a crash of the machine.
Status replace_file(const std::string& directory, const std::string& name, std::string_view content);

}  // namespace evenkeel::idgen
