#!/usr/bin/env python3
"""Writes remap.txt: for several layouts and steering maps, which sequences of a tick are permitted.

Found by trying every sequence of the tick, with none of the arithmetic of the C++ side.
Run in this folder:  python3 make_remap_vectors.py > remap.txt
"""


def ranges(text):
    values = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        values += range(int(low), int(high or low) + 1)
    return values


def permitted_by_weight(weights, levels):
    """Residues of levels*slots, each slot in `weight` of the blocks, the blocks spread evenly."""
    slots = len(weights)
    return {
        block * slots + slot
        for slot, weight in enumerate(weights)
        for block in range(levels)
        if (block + 1) * weight // levels > block * weight // levels
    }


def emit(sequence_bits, worker_bits, tick, worker, slots, permit=None, weights=None, levels=1):
    if permit is not None:
        allowed, period, pattern = set(ranges(permit)), slots, f"permit={permit}"
    else:
        numbers = [int(w) for w in weights.split(",")]
        allowed, period = permitted_by_weight(numbers, levels), slots * levels
        pattern = f"weights={weights} levels={levels}"
    base = ((tick << worker_bits) | worker) << sequence_bits
    valid = [y for y in range(1 << sequence_bits) if (base + y) % period in allowed]
    checksum = 0
    for y in valid:
        checksum = (checksum * 31 + y + 1) % (1 << 32)
    print(f"sequence_bits={sequence_bits} worker_bits={worker_bits} tick={tick} worker={worker} slots={slots} {pattern} "
          f"capacity={len(valid)} first={','.join(map(str, valid[:8]))} last={','.join(map(str, valid[-3:]))} "
          f"checksum={checksum}")


print("# Made by make_remap_vectors.py; do not edit.")
for tick in (0, 1, 123456789, (1 << 41) - 1):
    emit(12, 10, tick, 835, 128, permit="32-127")
emit(12, 10, 7, 0, 128, permit="4-15,20-31,36-47,52-63,68-79,84-95,100-111,116-127")
emit(3, 2, 5, 1, 8, permit="3-6")
for tick in (0, 1, 2, 3, 987654321):
    emit(12, 10, tick, 5, 96, permit="24-95")
emit(15, 7, 60000000000, 100, 8192, permit="2048-8191")
emit(12, 10, 1767225600, 1023, 1000, permit="0,999")
emit(4, 4, 9, 3, 13, permit="2,5,6,11")
emit(5, 0, 77, 0, 30, permit="29")
for tick in (0, 1, 2):
    emit(9, 3, tick, 6, 4, weights="1,2,4,8", levels=8)
emit(12, 10, 42, 17, 8, weights="0,1,5,5,2,0,3,4", levels=5)
emit(6, 1, 3, 1, 3, weights="1,0,2", levels=3)
