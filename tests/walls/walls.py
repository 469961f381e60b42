#!/usr/bin/python3
"""The walls of the house, held by a test.

  walls.py includes|words|docs|headers REPOSITORY [--compiler g++] [--jobs N]

includes  a room includes only rooms below it (ROOMS), and only some rooms touch the outside (OUTSIDE)
words     no file names a path of somebody's machine; no type is called a manager, helper, handler …
docs      folders and files that the documents name exist
headers   every header compiles by itself and is safe to include twice
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

# Room -> the rooms it stands on. What those stand on is allowed too. Order matters for people only.
ROOMS = {
    "base": [],  # base/mysql with it
    "router/sql": ["base"],
    "router/rule": ["base"],
    "router/catalog": ["router/sql"],  # CREATE TABLE texts of schema files
    "router/plan": ["router/sql", "router/rule", "router/catalog", "router/merge"],  # a plan says how results merge
    "router/merge": ["base"],
    "idgen": ["base"],
    "idgen/registry": ["idgen"],
    "idgen/remap": ["idgen"],
    "idgen/segment": ["idgen"],
    "idgen/library": ["idgen/registry"],
    "proxy/protocol": ["base"],
    "proxy/front": ["proxy/protocol"],
    "proxy/answer": ["proxy/front", "router/sql"],  # statements that the program answers itself are lexed as MySQL's
    "proxy/http": ["proxy/answer"],
    "proxy/ids": ["proxy/http", "idgen"],
    "proxy/backend": ["proxy/protocol"],
    "proxy/exec": ["proxy/front", "router/plan", "router/merge", "idgen"],
    "proxy/session": ["proxy/exec"],
    "proxy/skew": ["idgen/registry", "router/rule"],
    "proxy/net": ["proxy/session", "proxy/backend", "proxy/answer", "proxy/http"],
    "proxy/control": ["router/catalog", "router/rule", "proxy/backend"],
    "proxy/admin": ["proxy/http", "proxy/skew"],
    "proxy/demo": ["base"],
    "config": ["idgen", "router/rule"],  # and the settings.h of all, see SETTINGS_READERS
    "proxy": ["proxy/skew", "config", "idgen/registry", "idgen/segment", "proxy/ids", "proxy/net", "proxy/control", "proxy/admin", "proxy/demo"],
    "bench": ["proxy"],
}
# Rooms that may include the settings.h of every room: config fills them, control logs in with the accounts they hold.
SETTINGS_READERS = ["config", "proxy/control"]

# Outside things and the only rooms that may touch them.
OUTSIDE = {
    r"<yaml-cpp/": ["config"],
    r"<event2/|<evhttp|<event\.h>": ["proxy/net", "proxy/admin"],
    r"<cppconn/|<mysql_driver|<mysql_connection": ["proxy/control", "proxy/demo", "idgen/registry", "idgen/segment"],
    r"<hiredis/|<zookeeper/|<curl/": ["idgen/registry"],
    r"<sys/socket\.h>|<netinet/|<sys/epoll\.h>|<sys/un\.h>": ["proxy/net", "proxy/control", "proxy/demo", "proxy/admin", "idgen/registry"],
}
# Time is injected: only these ask the system for it.
CLOCK_READS = re.compile(r"\b(?:steady_clock|system_clock|high_resolution_clock)::now\(|\bclock_gettime\(|\bgettimeofday\(|\btime\((?:nullptr|NULL|0|&\w+)\)")
CLOCK_ROOMS = ["proxy/net", "proxy/control", "proxy/demo", "proxy/admin", "idgen/registry", "bench"]
CLOCK_FILES = ["base/clock.cc"]

SOURCE = re.compile(r"\.(cc|h)$")
NOUNS = re.compile(r"\b(?:class|struct|enum class|enum)\s+(\w*(?:Manager|Helper|Util|Utils|Handler|Info|Data|Context))\b")
NOUN_FILES = re.compile(r"(^|_)(manager|helper|helpers|util|utils|handler|info|data|context)(_|\.)")
# Messages of MySQL's protocol keep the names that its manual gives them.
WIRE_NAMES = {"AuthMoreData", "StmtSendLongData"}
MACHINE_PATHS = re.compile(r"(?<![\w.~}])(?<!\w\")/(?:work|root|home/\w+)/")


def files_of(repository):
    listed = subprocess.run(["git", "-C", repository, "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True,
                            text=True)
    if listed.returncode == 0:
        return sorted(name for name in set(listed.stdout.splitlines()) if os.path.isfile(os.path.join(repository, name)))
    found = []
    for folder, folders, names in os.walk(repository):
        folders[:] = [name for name in folders if name not in ("build", "node_modules", ".git", "__pycache__")]
        found += [os.path.relpath(os.path.join(folder, name), repository) for name in names]
    return sorted(found)


def text_of(repository, name):
    with open(os.path.join(repository, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def room_of(name):
    """The longest room that the path lies in; None when it lies in none."""
    folder = os.path.dirname(name)
    while folder:
        if folder in ROOMS:
            return folder
        folder = os.path.dirname(folder)
    return None


def below(room, seen=None):
    seen = set() if seen is None else seen
    for other in ROOMS[room]:
        if other not in seen:
            seen.add(other)
            below(other, seen)
    return seen


def is_test(name):
    return "/tests/" in name or "/fuzz/" in name or name.startswith("tests/") or name.endswith(("_test.cc", "_bench.cc", "_fuzz.cc"))


def check_includes(repository, faults):
    for room in ROOMS:
        if room in below(room):
            faults.append(f"the table of rooms has a circle through {room}")
    names = files_of(repository)
    known = set(names)
    for name in filter(SOURCE.search, names):
        room = room_of(name)
        for number, line in enumerate(text_of(repository, name).splitlines(), 1):
            place = f"{name}:{number}"
            included = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if included:
                check_include(name, room, included[1], known, place, faults)
            for pattern, rooms in OUTSIDE.items():
                if re.match(r"\s*#\s*include\s+(?:%s)" % pattern, line) and not is_test(name) and room not in rooms:
                    faults.append(f"{place}: only {', '.join(rooms)} may include {line.split()[-1]}")
            code = line.split("//")[0]
            if CLOCK_READS.search(code) and not is_test(name) and name not in CLOCK_FILES and room not in CLOCK_ROOMS:
                faults.append(f"{place}: time is injected (base/clock.h); only base/clock.cc and the rooms with IO read it")


def check_include(name, room, header, known, place, faults):
    if header not in known:
        faults.append(f"{place}: \"{header}\" is not the full path of a file of this repository")
        return
    target = room_of(header)
    if is_test(name) or room is None or target is None or room == target:
        return
    if target in below(room):
        return
    if room in SETTINGS_READERS and os.path.basename(header) == "settings.h":
        return
    faults.append(f"{place}: {room} may not include {target} (\"{header}\"): it stands on {', '.join(sorted(below(room))) or 'nothing'}")


def check_words(repository, faults):
    for name in files_of(repository):
        if name.startswith("tests/walls/") or name.endswith(("package-lock.json", "LICENSE")):
            continue
        if SOURCE.search(name) and NOUN_FILES.search(os.path.basename(name)):
            faults.append(f"{name}: a name that says nothing; the nouns are in ARCHITECTURE.md")
        for number, line in enumerate(text_of(repository, name).splitlines(), 1):
            path = MACHINE_PATHS.search(line)
            if path:
                faults.append(f"{name}:{number}: names a path of one machine: {path[0]}")
            noun = NOUNS.search(line.split("//")[0]) if SOURCE.search(name) else None
            if noun and noun[1] not in WIRE_NAMES:
                faults.append(f"{name}:{number}: {noun[1]}: a name that says nothing; the nouns are in ARCHITECTURE.md")


def check_docs(repository, faults):
    names = set(files_of(repository))
    folders = {os.path.dirname(name) for name in names}
    for folder in list(folders):
        while folder:
            folders.add(folder)
            folder = os.path.dirname(folder)
    tops = {name.split("/")[0] for name in names if "/" in name}
    for name in sorted(names):
        if not name.endswith(".md"):
            continue
        for number, line in enumerate(text_of(repository, name).splitlines(), 1):
            targets = re.findall(r"`([^`\s]+)`", line) + re.findall(r"\]\(([^)#\s]+)[)#]", line)
            for target in targets:
                if target.startswith("./") and "/" in target[2:]:
                    target = target[2:]
                is_path = re.fullmatch(r"[\w./-]+", target) and target.split("/")[0] in tops and "/" in target and "..." not in target
                if not is_path:
                    continue
                plain = target.rstrip("/")
                if plain not in names and plain not in folders and plain.split("/")[0] != "build" and \
                        os.path.normpath(os.path.join(os.path.dirname(name), plain)) not in names | folders:
                    faults.append(f"{name}:{number}: {target} does not exist")


def leads_its_source(repository, header, names):
    """True when the .cc of the same name includes it before all else: the build itself then proves that it stands alone."""
    source = header[:-2] + ".cc"
    if source not in names:
        return False
    first = re.search(r'^\s*#\s*include\s+(\S+)', text_of(repository, source), re.M)
    return bool(first) and first[1] == f'"{header}"'


def check_headers(repository, faults, compiler, jobs):
    names = set(files_of(repository))
    headers = sorted(name for name in names if name.endswith(".h") and not is_test(name) and room_of(name))
    for header in headers:
        if "#pragma once" not in text_of(repository, header):
            faults.append(f"{header} has no #pragma once")

    def compile_alone(header):
        done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", "-DFMT_SHARED", "-DSPDLOG_COMPILED_LIB",
                               "-DSPDLOG_FMT_EXTERNAL", "-DSPDLOG_SHARED_LIB", "-I", repository, "-"],
                              input=f'#include "{header}"\n', capture_output=True, text=True)
        return header, done.returncode, done.stderr

    alone = [header for header in headers if not leads_its_source(repository, header, names)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for header, status, errors in pool.map(compile_alone, alone):
            if status != 0:
                first = next((line for line in errors.splitlines() if "error" in line), errors[:200])
                faults.append(f"{header} does not compile by itself: {first}")
    if not headers:
        faults.append("no header was found")
    print(f"{len(headers)} headers, {len(alone)} of them compiled here, the others by their own source")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("includes", "words", "docs", "headers"))
    parser.add_argument("repository")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    faults = []
    if options.part == "headers":
        check_headers(options.repository, faults, options.compiler, options.jobs)
    else:
        {"includes": check_includes, "words": check_words, "docs": check_docs}[options.part](options.repository, faults)
    for fault in faults:
        print(fault)
    print(f"{options.part}: {len(faults)} faults")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
