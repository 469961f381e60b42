"""A raw MySQL-protocol client over a Unix socket: shows column definitions and row bytes as they stand on the
wire, text and binary, undecoded. For accounts without a password. For measurements and tests only."""

import dataclasses
import socket
import struct

CAPABILITIES = 0x00000001 | 0x00000004 | 0x00000200 | 0x00002000 | 0x00008000 | 0x00020000 | 0x00080000


class ServerError(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Column:
    schema: str
    table: str
    org_table: str
    name: str
    org_name: str
    charset: int
    length: int
    type: int
    flags: int
    decimals: int


@dataclasses.dataclass
class Answer:
    columns: list
    rows: list  # payloads, without the frame header


def lenenc(buffer, at):
    first = buffer[at]
    if first < 0xFB:
        return first, at + 1
    if first == 0xFC:
        return struct.unpack_from("<H", buffer, at + 1)[0], at + 3
    if first == 0xFD:
        return int.from_bytes(buffer[at + 1 : at + 4], "little"), at + 4
    return struct.unpack_from("<Q", buffer, at + 1)[0], at + 9


def lenenc_text(buffer, at):
    size, at = lenenc(buffer, at)
    return buffer[at : at + size].decode("utf-8", "replace"), at + size


def parse_column(payload):
    _, at = lenenc_text(payload, 0)
    names = []
    for _ in range(5):
        text, at = lenenc_text(payload, at)
        names.append(text)
    _, at = lenenc(payload, at)
    charset, length, kind, flags, decimals = struct.unpack_from("<HIBHB", payload, at)
    schema, table, org_table, name, org_name = names
    return Column(schema, table, org_table, name, org_name, charset, length, kind, flags, decimals)


class Connection:
    def __init__(self, path, user="root"):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(path)
        self.buffer = b""
        self.sequence = 0
        greeting = self.read()
        self.version = greeting[1 : greeting.index(b"\0", 1)].decode()
        self.write(struct.pack("<IIB23x", CAPABILITIES, 1 << 24, 45) + user.encode() + b"\0" + b"\0"
                   + self.plugin_of(greeting) + b"\0")
        reply = self.read()
        if reply[0] == 0xFE:  # another plugin: an empty password is an empty answer in all of them
            self.write(b"")
            reply = self.read()
        while reply[0] == 0x01:
            reply = self.read()
        self.check(reply)

    @staticmethod
    def plugin_of(greeting):
        return greeting.rstrip(b"\0").rsplit(b"\0", 1)[-1]

    def read(self):
        body = b""
        while True:
            while len(self.buffer) < 4:
                self.fill()
            size = int.from_bytes(self.buffer[:3], "little")
            while len(self.buffer) < 4 + size:
                self.fill()
            self.sequence = (self.buffer[3] + 1) & 0xFF
            body += self.buffer[4 : 4 + size]
            self.buffer = self.buffer[4 + size :]
            if size < 0xFFFFFF:
                return body

    def fill(self):
        part = self.socket.recv(1 << 20)
        if not part:
            raise ServerError("connection closed")
        self.buffer += part

    def write(self, payload):
        self.socket.sendall(struct.pack("<I", len(payload))[:3] + bytes([self.sequence]) + payload)

    @staticmethod
    def check(payload):
        if payload[0] == 0xFF:
            raise ServerError(payload[3:].decode("utf-8", "replace"))
        return payload

    def command(self, code, payload):
        self.sequence = 0
        self.write(bytes([code]) + payload)
        return self.check(self.read())

    def read_columns(self, count):
        columns = [parse_column(self.read()) for _ in range(count)]
        if count:
            self.read()
        return columns

    def answer(self, first):
        if first[0] == 0x00:
            return Answer([], [])
        count, _ = lenenc(first, 0)
        columns = self.read_columns(count)
        rows = []
        while True:
            row = self.check(self.read())
            if row[0] == 0xFE and len(row) < 9:
                return Answer(columns, rows)
            rows.append(row)

    def query(self, sql):
        return self.answer(self.command(0x03, sql.encode()))

    def prepare(self, sql):
        """(statement id, column definitions of the PREPARE answer)"""
        reply = self.command(0x16, sql.encode())
        statement, columns, parameters = struct.unpack_from("<IHH", reply, 1)
        self.read_columns(parameters)
        return statement, self.read_columns(columns)

    def execute(self, statement, parameters=()):
        """`parameters`: pairs (type code, value bytes as the binary protocol wants them)."""
        payload = struct.pack("<IBI", statement, 0, 1)
        if parameters:
            payload += bytes((len(parameters) + 7) // 8) + b"\1"
            payload += b"".join(struct.pack("<H", kind) for kind, _ in parameters)
            payload += b"".join(value for _, value in parameters)
        return self.answer(self.command(0x17, payload))

    def binary(self, sql, parameters=()):
        """(columns of PREPARE, Answer of EXECUTE)"""
        statement, prepared = self.prepare(sql)
        try:
            return prepared, self.execute(statement, parameters)
        finally:
            self.sequence = 0
            self.write(b"\x19" + struct.pack("<I", statement))
