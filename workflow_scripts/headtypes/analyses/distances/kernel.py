"""The distance feature on a GPU: attention is reduced where it is computed, and never reaches the device's memory.

Two kernels, in the language of Triton. `read_rows` computes the head outputs of some query rows of a head, as flash
attention does (Dao et al. 2022), and sums their attention by the offset key - query and by kind of special token;
`fold_offsets` folds the sums of a head's rows into its feature. Nothing is added atomically, so that a result does
not depend on the order in which a GPU happens to compute.

Attention is computed tile by tile, twice: once for the sum of each row, and again, divided by it, to be used. To
sum a tile by offset, each of its rows is rotated to the left by the row's number, and the columns are summed: pairs of
the same offset then stand in one column. Entries that the rotation wrapped around belong to another offset, which is
smaller by the width of the tile.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["tokens"])
def read_rows(
    query,
    key,
    value,
    kinds,
    special,
    lengths,
    output,
    by_offset,
    to_special,
    to_first,
    scale,
    query_sample,
    query_head,
    query_token,
    key_sample,
    key_head,
    key_token,
    value_sample,
    value_head,
    value_token,
    output_sample,
    output_head,
    output_token,
    tokens,
    padded,
    slots,
    group,
    HEAD_SIZE: tl.constexpr,  # noqa: N803
    CHANNELS: tl.constexpr,  # noqa: N803
    TILE: tl.constexpr,  # noqa: N803
    CAUSAL: tl.constexpr,  # noqa: N803
    FIRST: tl.constexpr,  # noqa: N803
    PRECISION: tl.constexpr,  # noqa: N803
    LEADING_BITS: tl.constexpr,  # noqa: N803
):
    """Compute `TILE` query rows of one head of one sample; grid [row block, head, sample].

    query, key, value, output: [sample, head, token, channel] by their strides, the last of which is one.
    kinds:      [sample, padded] int32, 0 for ordinary tokens; special: [sample, padded, 16] their one-hot kinds, in
        the precision of the queries.
    lengths:    [sample] int32, real tokens.
    by_offset:  [sample, head, row block, slot] float32: attention to ordinary tokens summed over the pairs of
        an offset; slot 0 is the offset -(first row of the block) - TILE.
    to_special: [sample, head, row block, 16] float32: attention to special tokens by kind.
    to_first:   [sample, head, token] float32: attention to the first token; written if FIRST.
    scale:      factor of the scores, divided by log(2), so that the softmax takes powers of two instead of e.
    group:      query heads that share a key head.
    LEADING_BITS: mask of the bits of a float32 that the queries' precision can represent.
    """
    block, head, sample = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    length = tl.load(lengths + sample)
    first = block * TILE
    rows = first + tl.arange(0, TILE)
    columns = tl.arange(0, TILE)
    kind_columns = tl.arange(0, 16)
    query += sample * query_sample + head * query_head
    key += sample * key_sample + head // group * key_head
    value += sample * value_sample + head // group * value_head
    output += sample * output_sample + head * output_head
    kinds += sample * padded
    special += sample * padded * 16
    program = (sample * tl.num_programs(1) + head) * tl.num_programs(0) + block
    by_offset += program * slots
    to_special += program * 16
    end = length
    if CAUSAL:
        end = tl.minimum(length, first + TILE)
    # A block of padding alone has no keys, and zeros are written.
    key_blocks = tl.where(first < length, tl.cdiv(end, TILE), 0)

    queries = _load(query, query_token, rows, length, HEAD_SIZE, CHANNELS)
    largest = tl.full([TILE], float("-inf"), tl.float32)
    total = tl.zeros([TILE], tl.float32)
    for number in range(key_blocks):
        positions = number * TILE + columns
        keys = _load(key, key_token, positions, length, HEAD_SIZE, CHANNELS)
        scores = tl.dot(queries, tl.trans(keys), input_precision=PRECISION)
        scores = tl.where(_allowed(rows, positions, length, CAUSAL), scores, float("-inf"))
        larger = tl.maximum(largest, tl.max(scores, 1) * scale)
        total = total * tl.exp2(largest - larger) + tl.sum(tl.exp2(scores * scale - larger[:, None]), 1)
        largest = larger
    # Rows of padding get no attention.
    normaliser = tl.where(rows < length, largest + tl.log2(total), float("inf"))

    # A tile is taken apart into blocks of 8 x 8, [row block, key block, key % 2, row % 8, key // 2 % 4]: in this order,
    # neither the tile as tensor cores leave it nor its rotation makes two threads of a warp wait for one another at a
    # bank of shared memory.
    SPAN: tl.constexpr = TILE // 8  # noqa: N806
    row_block = tl.arange(0, SPAN)[:, None, None, None, None]
    key_block = tl.arange(0, SPAN)[None, :, None, None, None]
    key_parity = tl.arange(0, 2)[None, None, :, None, None]
    row_low = tl.arange(0, 8)[None, None, None, :, None]
    key_pair = tl.arange(0, 4)[None, None, None, None, :]
    low = row_low + 2 * key_pair + key_parity
    high = row_block + key_block + low // 8
    comes_around = high >= SPAN
    source = (row_block * SPAN + high % SPAN) * 64 + low % 2 * 32 + row_low * 4 + low // 2 % 4
    source = source.reshape(TILE * TILE)
    slot = tl.arange(0, SPAN)[:, None, None] * 8 + tl.arange(0, 2)[None, :, None] + tl.arange(0, 4)[None, None, :] * 2

    summed = tl.zeros([TILE, CHANNELS], tl.float32)
    by_kind = tl.zeros([TILE, 16], tl.float32)
    at_first = tl.zeros([TILE], tl.float32)
    ahead = tl.zeros([SPAN, 2, 8, 4], tl.float32)
    for number in range(key_blocks):
        positions = number * TILE + columns
        keys = _load(key, key_token, positions, length, HEAD_SIZE, CHANNELS)
        values = _load(value, value_token, positions, length, HEAD_SIZE, CHANNELS)
        one_hot = tl.load(special + positions[:, None] * 16 + kind_columns[None, :])
        kind = tl.load(kinds + positions)
        scores = tl.dot(queries, tl.trans(keys), input_precision=PRECISION)
        attention = tl.exp2(scores * scale - normaliser[:, None])
        attention = tl.where(_allowed(rows, positions, length, CAUSAL), attention, 0.0)
        if FIRST:
            at_first += tl.sum(tl.where((positions == 0)[None, :], attention, 0.0), 1)
        ordinary = tl.where((kind == 0)[None, :], attention, 0.0)
        tile = ordinary.reshape(SPAN, 8, SPAN, 4, 2).permute(0, 2, 4, 1, 3).reshape(TILE * TILE)
        rotated = tl.gather(tile, source, 0).reshape(SPAN, SPAN, 2, 8, 4)
        # What came around belongs to the offsets that the tile before left incomplete.
        stays = tl.sum(tl.where(comes_around, 0.0, rotated), 0)
        complete = ahead + (tl.sum(rotated, 0) - stays)
        tl.store(by_offset + number * TILE + slot, tl.sum(complete, 2))
        ahead = stays
        # Last, and the kinds in one piece: else the compiler waits for each product of a tile by itself.
        summed = tl.dot(attention.to(queries.dtype), values, summed, input_precision=PRECISION)
        if queries.dtype == tl.float32:
            by_kind = tl.dot(attention, one_hot, by_kind, input_precision=PRECISION)
        else:
            # In two parts, since rounding attention to one number of this precision would lose its last bits.
            leading = (attention.to(tl.int32, bitcast=True) & LEADING_BITS).to(tl.float32, bitcast=True)
            both = tl.dot(leading.to(queries.dtype), one_hot)
            by_kind += tl.dot((attention - leading).to(queries.dtype), one_hot, both)
    tl.store(by_offset + key_blocks * TILE + slot, tl.sum(ahead, 2))
    tl.store(to_special + kind_columns, tl.sum(by_kind, 0))
    if FIRST:
        to_first += (sample * tl.num_programs(1) + head) * tokens
        tl.store(to_first + rows, at_first, mask=rows < tokens)
    channels = tl.arange(0, CHANNELS)
    inside = (rows < tokens)[:, None] & (channels < HEAD_SIZE)[None, :]
    place = output + rows[:, None] * output_token + channels[None, :]
    tl.store(place, summed.to(output.dtype.element_ty), mask=inside)


@triton.jit(do_not_specialize=["row_blocks"])
def fold_offsets(
    by_offset,
    to_special,
    lengths,
    features,
    row_blocks,
    slots,
    TILE: tl.constexpr,  # noqa: N803
    CAUSAL: tl.constexpr,  # noqa: N803
    BINS: tl.constexpr,  # noqa: N803
    KINDS: tl.constexpr,  # noqa: N803
):
    """Fold the sums of `read_rows` into features; grid [head, sample].

    row_blocks: number of row blocks in the grid of `read_rows`, including those of padding alone.
    features: [sample, head, BINS + 1 + KINDS] float32: bins, self, kinds.
    """
    pair = tl.program_id(1).to(tl.int64) * tl.num_programs(0) + tl.program_id(0)
    length = tl.load(lengths + tl.program_id(1))
    bins = tl.arange(0, BINS)
    REACH: tl.constexpr = 4 * TILE  # noqa: N806
    columns = tl.arange(0, REACH)
    by_bin = tl.zeros([BINS], tl.float32)
    itself = 0.0
    blocks = tl.cdiv(length, TILE)
    for start in range(-blocks * TILE, blocks * TILE, REACH):
        offsets = start + columns
        total = tl.zeros([REACH], tl.float32)
        for block in range(blocks):
            slot = offsets + (block + 1) * TILE
            written = blocks + 1
            if CAUSAL:
                written = block + 2
            inside = (slot >= 0) & (slot < written * TILE)
            total += tl.load(by_offset + (pair * row_blocks + block) * slots + slot, mask=inside, other=0.0)
        itself += tl.sum(tl.where(offsets == 0, total, 0.0), 0)
        bin = tl.where(offsets == 0, -1, tl.abs(offsets) * BINS // length)
        by_bin += tl.sum(tl.where(bin[:, None] == bins[None, :], total[:, None], 0.0), 0)
    kinds = tl.arange(0, 16)
    by_kind = tl.zeros([16], tl.float32)
    for block in range(row_blocks):
        by_kind += tl.load(to_special + (pair * row_blocks + block) * 16 + kinds)
    features += pair * (BINS + 1 + KINDS)
    tl.store(features + bins, by_bin / length)
    tl.store(features + BINS, itself / length)
    tl.store(features + BINS + 1 + kinds, by_kind / length, mask=kinds < KINDS)


@triton.jit
def _load(pointer, stride, rows, end, HEAD_SIZE: tl.constexpr, CHANNELS: tl.constexpr):  # noqa: N803
    """Rows before `end`, and zeros: [row, CHANNELS]."""
    channels = tl.arange(0, CHANNELS)
    inside = (rows < end)[:, None]
    if HEAD_SIZE != CHANNELS:
        inside = inside & (channels < HEAD_SIZE)[None, :]
    return tl.load(pointer + rows[:, None] * stride + channels[None, :], mask=inside, other=0.0)


@triton.jit
def _allowed(rows, keys, length, CAUSAL: tl.constexpr):  # noqa: N803
    allowed = (keys < length)[None, :]
    if CAUSAL:
        allowed = allowed & (rows[:, None] >= keys[None, :])
    return allowed
