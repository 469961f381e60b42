#!/usr/bin/python3
"""Installs the library into a fresh tree and uses it from there, as another project would: the C++ example by find_package, the
C example by pkg-config and the C compiler, every installed header by itself, and every component of the registry."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

FORBIDDEN = ("libevent", "libyaml", "libprometheus", "libmysqlcppconn", "libhiredis", "libcurl", "libzookeeper", "libssl")


def run(*command, environment=None, may_fail=False):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
    if done.returncode != 0 and not may_fail:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def check(holds, what):
    if not holds:
        sys.exit(f"not so: {what}")


class Tree:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.prefix = os.path.join(folder, "installed")
        self.flags = options.flags.split()
        for component in ["idgen"] + self.components():
            run(options.cmake, "--install", options.build, "--component", component, "--prefix", self.prefix)
        # A tree that was moved must work too.
        moved = os.path.join(folder, "moved")
        os.rename(self.prefix, moved)
        self.prefix = moved
        self.include = os.path.join(self.prefix, "include")
        self.libraries = next(path for path, _, names in os.walk(self.prefix) if "libevenkeel_idgen_c.so" in names)

    def components(self):
        return [name for name in self.options.components.split(",") if name]

    def path(self, name):
        return os.path.join(self.folder, name)


def cpp_example(tree):
    source = os.path.join(tree.options.source, "examples/library/cpp")
    build_with_cmake(tree, source, "cpp", "order_ids")
    program = os.path.join(tree.path("cpp"), "order_ids")
    first = run(program, tree.path("ids")).stdout.splitlines()
    second = run(program, tree.path("ids")).stdout.splitlines()
    ids = [int(line.split()[0]) for line in first + second]
    check(len(ids) == 6 and ids == sorted(set(ids)), f"six ascending ids over two runs: {ids}")
    check(all(re.fullmatch(r"\d+ of 20\d\d-\d\d-\d\dT[\d:.]+Z", line) for line in first), f"ids with their times: {first}")
    linked = run("ldd", program).stdout
    check(not [name for name in FORBIDDEN if name in linked], f"the program links what ids do not need:\n{linked}")


def build_with_cmake(tree, source, name, target):
    run(tree.options.cmake, "-S", source, "-B", tree.path(name), f"-DCMAKE_PREFIX_PATH={tree.prefix}",
        f"-DCMAKE_CXX_COMPILER={tree.options.cxx}", f"-DCMAKE_CXX_FLAGS={tree.options.flags}")
    run(tree.options.cmake, "--build", tree.path(name), "--target", target)


def c_example(tree):
    environment = {"PKG_CONFIG_PATH": os.path.join(tree.libraries, "pkgconfig"), "LD_LIBRARY_PATH": tree.libraries}
    flags = run("pkg-config", "--cflags", "--libs", "evenkeel_idgen", environment=environment).stdout.split()
    program = tree.path("c_order_ids")
    sources = os.path.join(tree.options.source, "examples/library/c/order_ids.c")
    warnings = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    run(tree.options.cc, *warnings, *tree.flags, sources, "-o", program, *flags)
    lines = []
    for _ in range(2):
        lines += run(program, tree.path("ids"), "5", environment=environment).stdout.splitlines()
    found = [re.fullmatch(r"(\d+) of worker 5 in slot (\d+)", line) for line in lines]
    check(len(found) == 6 and all(found), f"six ids of worker 5: {lines}")
    ids = [int(match[1]) for match in found]
    check(ids == sorted(set(ids)) and all(int(match[1]) % 128 == int(match[2]) for match in found), f"ascending, each in its slot: {lines}")
    check(ids[1] == ids[0] + 1 and ids[2] == ids[0] + 2, f"a batch is consecutive: {lines}")
    refused = run(program, tree.path("ids"), "5000", environment=environment, may_fail=True)
    check(refused.returncode == 1 and "worker id" in refused.stderr, f"a worker id out of range is refused: {refused.stderr}")
    exported = run("nm", "-D", "--defined-only", os.path.join(tree.libraries, "libevenkeel_idgen_c.so")).stdout.splitlines()
    names = {line.split()[-1].split("@")[0] for line in exported} - {"EVENKEEL_IDGEN_0"}
    declared = set(re.findall(r"\b(evenkeel_idgen_\w+)\(", open(os.path.join(tree.include, "evenkeel_idgen.h"), encoding="utf-8").read()))
    check(names == declared, f"the shared library shows exactly what the header declares: {sorted(names ^ declared)}")
    linked = run("ldd", program, environment=environment).stdout
    check(not [name for name in FORBIDDEN if name in linked], f"the program links what ids do not need:\n{linked}")


def headers(tree):
    """Every installed C++ header compiles by itself from the installed tree alone."""
    root = os.path.join(tree.include, "evenkeel")
    found = [os.path.relpath(os.path.join(path, name), root) for path, _, names in os.walk(root) for name in names]
    check("idgen/library/leased_generator.h" in found, f"the library's header is installed: {found}")
    text = "".join(f'#include "{name}"\n' for name in sorted(found))
    source = tree.path("headers.cc")
    for name in sorted(found):
        with open(source, "w", encoding="utf-8") as file:
            file.write(f'#include "{name}"\n')
        run(tree.options.cxx, "-std=c++20", "-fsyntax-only", "-I", root, source)


def components(tree):
    """A program that makes a registry of each provider that was built."""
    names = [name.removeprefix("idgen_") for name in tree.components()]
    if not names:
        return
    folder = tree.path("providers_source")
    os.makedirs(folder)
    with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write("cmake_minimum_required(VERSION 3.25)\nproject(providers LANGUAGES C CXX)\n"
                   f"find_package(evenkeel_idgen REQUIRED COMPONENTS {' '.join(names)})\nadd_executable(providers providers.cc)\n"
                   f"target_link_libraries(providers PRIVATE evenkeel::idgen {' '.join('evenkeel::registry_' + name for name in names)})\n")
    with open(os.path.join(folder, "providers.cc"), "w", encoding="utf-8") as file:
        file.write("".join(f'#include "idgen/registry/{name}_registry.h"\n' for name in names))
        file.write("#include <iostream>\nint main() {\n  evenkeel::idgen::RegistrySettings settings;\n"
                   "  settings.endpoints = {{\"127.0.0.1\", 1}};\n  settings.timeout_ms = 200;\n")
        for name in names:
            file.write(f"  std::cout << evenkeel::idgen::make_{name}_registry(settings)->get(\"x\").error().message << \"\\n\";\n")
        file.write("}\n")
    build_with_cmake(tree, folder, "providers", "providers")
    said = run(os.path.join(tree.path("providers"), "providers")).stdout.splitlines()
    check(len(said) >= len(names) and all("127.0.0.1" in line for line in said[:len(names)]), f"each provider names the store that is not there: {said}")


def documented(tree):
    """The page shows the examples as they are."""
    page = open(os.path.join(tree.options.source, "docs/library.md"), encoding="utf-8").read()
    for name in ("cpp/CMakeLists.txt", "cpp/order_ids.cc", "c/order_ids.c"):
        text = open(os.path.join(tree.options.source, "examples/library", name), encoding="utf-8").read()
        check(text in page, f"docs/library.md shows examples/library/{name} as it is")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("source", "build", "components", "cmake", "cc", "cxx", "flags"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="installed-", dir=options.build)
    try:
        tree = Tree(options, folder)
        for step in (documented, headers, c_example, cpp_example, components):
            step(tree)
            print(f"{step.__name__}: ok", flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
