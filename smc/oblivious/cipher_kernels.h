/*
 * The inner loops with AES in them, for one width of registers: kernels.c says what a VECTOR is and what can be
 * done with it, and includes this file once for each. All AES is that of 128 bits.
 */

enum { NAME(words) = sizeof(VECTOR) / sizeof(word), NAME(series) = SERIES * NAME(words) };

/* AES of SERIES vectors in place, which keep the processor's pipeline full. */
TARGET INLINE void NAME(encrypt)(const __m128i *schedule, VECTOR *x) {
    VECTOR key = SPREAD(schedule[0]);
    for (int i = 0; i < SERIES; i++) {
        x[i] = XOR(x[i], key);
    }
    for (int round = 1; round < ROUNDS; round++) {
        key = SPREAD(schedule[round]);
        for (int i = 0; i < SERIES; i++) {
            x[i] = ROUND(x[i], key);
        }
    }
    key = SPREAD(schedule[ROUNDS]);
    for (int i = 0; i < SERIES; i++) {
        x[i] = LAST(x[i], key);
    }
}

/* The numbers of consecutive blocks in counter mode, big end first: `upper`, then from `lower` on. */
TARGET INLINE void NAME(count)(word upper, word lower, VECTOR *x) {
    static const word places[8] = {0, 0, 0, 1, 0, 2, 0, 3};
    for (size_t i = 0; i < SERIES; i++) {
        VECTOR numbers = SPREAD(_mm_set_epi64x((long long)(lower + i * NAME(words) / 2), (long long)upper));
        x[i] = REORDER(ADD(numbers, LOAD(places)), SPREAD(REVERSED_WORDS));
    }
}

/*
 * Words `start` to start + w of the streams of 2**depth seeds for each of t trees, summed as by duetto_weigh; a
 * stream is AES in counter mode from zero. It is never written anywhere.
 */
TARGET static void NAME(leaves)(
    const word *seeds, size_t t, size_t depth, word start, size_t w, word *weighed, word *total
) {
    __m128i schedules[MOST_LEAVES][ROUNDS + 1];
    for (size_t tree = 0; tree < t; tree++) {
        for (size_t x = 0; x >> depth == 0; x++) {
            expand(seeds + 2 * ((tree << depth) + x), schedules[x]);
        }
        size_t size;
        for (size_t at = 0; at < w; at += size) {
            size_t skipped = (start + at) & 1; /* whole blocks are made, of which the first may begin before */
            size = w - at < NAME(series) - skipped ? w - at : NAME(series) - skipped;
            VECTOR counters[SERIES], sums[MOST_DEPTH + 1][SERIES];
            NAME(count)(0, (start + at) / 2, counters);
            memset(sums, 0, sizeof(sums));
            for (size_t x = 0; x >> depth == 0; x++) {
                VECTOR stream[SERIES];
                memcpy(stream, counters, sizeof(stream));
                NAME(encrypt)(schedules[x], stream);
                for (size_t b = 0; b <= depth; b++) {
                    if (b == depth || x >> b & 1) {
                        for (int i = 0; i < SERIES; i++) {
                            sums[b][i] = XOR(sums[b][i], stream[i]);
                        }
                    }
                }
            }
            for (size_t b = 0; b < depth; b++) {
                memcpy(weighed + (tree * depth + b) * w + at, (word *)sums[b] + skipped, size * sizeof(word));
            }
            memcpy(total + tree * w + at, (word *)sums[depth] + skipped, size * sizeof(word));
        }
    }
    wipe(schedules, sizeof(schedules));
}

/*
 * Bits of E(z) + z for z = row + offset, each row of a square: bit r of each word of line r into first, and its
 * bit r ^ 32 into second, unless that is NULL.
 */
TARGET INLINE void NAME(hash_square)(
    const __m128i *schedule, square rows, const word *offset, word *first, word *second
) {
    enum { ACROSS = 2 * COLUMNS_AT_ONCE / NAME(words), LINES = SERIES / ACROSS };
    const VECTOR added = SPREAD(_mm_loadu_si128((const __m128i *)offset));
    VECTOR one[ACROSS], two[ACROSS];
    memset(one, 0, sizeof(one));
    memset(two, 0, sizeof(two));
    for (size_t r = 0; r < SLOTS; r += LINES) {
        VECTOR plain[SERIES], hashed[SERIES];
        for (size_t i = 0; i < SERIES; i++) {
            plain[i] = XOR(LOAD(rows[r + i / ACROSS] + i % ACROSS * NAME(words)), added);
            hashed[i] = plain[i];
        }
        NAME(encrypt)(schedule, hashed);
        for (size_t i = 0; i < SERIES; i++) {
            size_t line = r + i / ACROSS;
            VECTOR z = XOR(hashed[i], plain[i]);
            one[i % ACROSS] = OR(one[i % ACROSS], AND(z, FILL((word)1 << line)));
            if (second) {
                two[i % ACROSS] = OR(two[i % ACROSS], AND(z, FILL((word)1 << (line ^ 32))));
            }
        }
    }
    for (size_t i = 0; i < ACROSS; i++) {
        STORE(first + i * NAME(words), one[i]);
        if (second) {
            STORE(second + i * NAME(words), two[i]);
        }
    }
}

/*
 * Columns are turned to rows as by duetto_rows, and of the hashes of row + offset two bits are kept as by
 * duetto_diagonals, for each of n offsets: planes has n times two lines of w words. Every `span` words have a key
 * of their own.
 */
TARGET static void NAME(hash_columns)(
    const word *columns, size_t stride, size_t w, const word *keys, size_t span, const word *offsets, size_t n,
    word *planes
) {
    for (size_t begin = 0; begin < w; begin += span, keys += 2) {
        size_t end = w - begin < span ? w : begin + span;
        __m128i schedule[ROUNDS + 1];
        expand(keys, schedule);
        for (size_t start = begin; start < end; start += COLUMNS_AT_ONCE) {
            size_t size = end - start < COLUMNS_AT_ONCE ? end - start : COLUMNS_AT_ONCE;
            square m;
            take_columns(columns + start, stride, size, m);
            transpose(m);
            for (size_t v = 0; v < n; v++) {
                word found[2 * COLUMNS_AT_ONCE];
                NAME(hash_square)(schedule, m, offsets + 2 * v, found, NULL);
                for (size_t i = 0; i < 2 * size; i++) {
                    planes[(2 * v + i % 2) * w + start + i / 2] = found[i];
                }
            }
        }
    }
}

/*
 * Of the hashes of row + offset four bits are kept as by duetto_diagonals, for each of n offsets: rows has SLOTS
 * lines of w rows, planes n times four lines, `stride` words apart. Unless choices is NULL, bit r of its word k is
 * the lowest bit of row (r, k).
 */
TARGET static void NAME(hash_rows)(
    const word *rows, size_t w, const word *key, const word *offsets, size_t n, word *planes, size_t stride,
    word *choices
) {
    __m128i schedule[ROUNDS + 1];
    expand(key, schedule);
    for (size_t start = 0; start < w; start += COLUMNS_AT_ONCE) {
        size_t size = w - start < COLUMNS_AT_ONCE ? w - start : COLUMNS_AT_ONCE;
        square m; /* lines of a whole page would fall on each other in the cache */
        word lowest[2 * COLUMNS_AT_ONCE] = {0};
        for (size_t r = 0; r < SLOTS; r++) {
            const word *line = rows + 2 * (r * w + start);
            if (size == COLUMNS_AT_ONCE) {
                memcpy(m[r], line, sizeof(m[r]));
            } else {
                memset(m[r], 0, sizeof(m[r]));
                memcpy(m[r], line, 2 * size * sizeof(word));
            }
            for (size_t i = 0; i < 2 * COLUMNS_AT_ONCE; i++) {
                lowest[i] |= (m[r][i] & 1) << r;
            }
        }
        for (size_t k = 0; choices && k < size; k++) {
            choices[start + k] = lowest[2 * k];
        }
        for (size_t v = 0; v < n; v++) {
            word first[2 * COLUMNS_AT_ONCE], second[2 * COLUMNS_AT_ONCE];
            NAME(hash_square)(schedule, m, offsets + 2 * v, first, second);
            for (size_t i = 0; i < 2 * size; i++) {
                word *plane = planes + (4 * v + i % 2) * stride + start + i / 2;
                plane[0] = first[i];
                plane[2 * stride] = second[i] >> 32 | second[i] << 32; /* the bit of row r stands at r ^ 32 */
            }
        }
    }
}

/*
 * duetto_add_drawn with a stream that is made here: for every `piece` rows, a multiple of SLOTS, HALF_WEIGHT
 * lines of as many words, of AES in counter mode from block (number, 0) on.
 */
TARGET static void NAME(add_code)(
    const word *secret, word mask, const word *key, word number, size_t n, size_t piece, word *rows
) {
    __m128i schedule[ROUNDS + 1];
    expand(key, schedule);
    for (size_t row = 0; row < n; row += SLOTS) {
        word drawn[HALF_WEIGHT][SLOTS];
        for (size_t j = 0; j < HALF_WEIGHT; j++) {
            word place = row / piece * piece * HALF_WEIGHT + j * piece + row % piece;
            for (size_t at = 0; at < SLOTS; at += NAME(series)) {
                VECTOR stream[SERIES];
                NAME(count)(number, (place + at) / 2, stream);
                NAME(encrypt)(schedule, stream);
                memcpy(drawn[j] + at, stream, sizeof(stream));
            }
        }
        add_drawn(secret, drawn[0], SLOTS, mask, rows + 2 * row);
    }
}

/*
 * left = E(turned) + turned in the place of each parent (low, high), where turned is (low + high, low), and
 * parent + left into `right`; n words in all.
 */
TARGET INLINE void NAME(double_nodes)(const __m128i *schedule, word *parents, size_t n, word *right) {
    const VECTOR low = SPREAD(_mm_set_epi64x(0, -1));
    for (size_t start = 0; start < n; start += NAME(series)) {
        size_t size = n - start < NAME(series) ? n - start : NAME(series);
        word some[NAME(series)] = {0}, left[NAME(series)];
        VECTOR turned[SERIES], hashed[SERIES];
        memcpy(some, parents + start, size * sizeof(word));
        for (size_t i = 0; i < SERIES; i++) {
            VECTOR node = LOAD(some + i * NAME(words));
            turned[i] = XOR(REORDER(node, SPREAD(SWAPPED_WORDS)), AND(node, low));
            hashed[i] = turned[i];
        }
        NAME(encrypt)(schedule, hashed);
        for (size_t i = 0; i < SERIES; i++) {
            STORE(left + i * NAME(words), XOR(hashed[i], turned[i]));
        }
        for (size_t i = 0; i < size; i++) {
            parents[start + i] = left[i];
            right[start + i] = some[i] ^ left[i];
        }
    }
}

/*
 * The owner's trees, as Kernels.grow: nodes has 2**depth lines with a node of each tree, sums `depth` lines.
 */
TARGET static void NAME(grow)(
    const word *seeds, const word *offset, const word *key, size_t trees, size_t depth, word *nodes, word *sums
) {
    const size_t period = 2 * trees;
    word nowhere[2 * MOST_TREES];
    __m128i schedule[ROUNDS + 1];
    expand(key, schedule);
    memset(nowhere, 0xff, sizeof(nowhere));
    for (size_t i = 0; i < period; i++) {
        sums[i] = nodes[i] = seeds[i];
        nodes[period + i] = seeds[i] ^ offset[i % 2];
    }
    for (size_t level = 1; level < depth; level++) {
        size_t n = period << level;
        NAME(double_nodes)(schedule, nodes, n, nodes + n);
        sum_known(nodes, (size_t)1 << level, period, nowhere, sums + level * period);
    }
    clear_lowest(nodes, period << depth);
}

/*
 * The guest's trees, as Kernels.regrow: sums and choices have `depth` lines with one for each tree. The missing
 * nodes, whose places nobody may see, are found by looking at all.
 */
TARGET static void NAME(regrow)(
    const word *sums, const uint8_t *choices, const word *key, size_t trees, size_t depth, word *nodes
) {
    const size_t period = 2 * trees;
    word path[2 * MOST_TREES] = {0}, known[2 * MOST_TREES] = {0}; /* the missing node, and the sum of all others */
    __m128i schedule[ROUNDS + 1];
    expand(key, schedule);
    memset(nodes, 0, period * sizeof(word));
    for (size_t level = 0; level < depth; level++, sums += period, choices += trees) {
        size_t count = (size_t)1 << level, n = period << level;
        word left[2 * MOST_TREES], values[2][2 * MOST_TREES];
        if (level) {
            NAME(double_nodes)(schedule, nodes, n, nodes + n);
        }
        /* Children sum to parents, so what is known of the right side sums to `known` less the left side. The sum
         * of the opened side less what is known of it is the one node that was missing there. */
        sum_known(nodes, count, period, path, left);
        for (size_t i = 0; i < period; i++) {
            word right = 0 - (word)(choices[i / 2] & 1); /* all ones where that side is opened */
            word opened = sums[i] ^ left[i] ^ (known[i] & right);
            values[0][i] = opened & ~right;
            values[1][i] = opened & right;
            known[i] ^= opened;
        }
        put(nodes, count, period, path, values[0]);
        put(nodes + n, count, period, path, values[1]);
        for (size_t i = 0; i < period; i++) {
            path[i] += count & (0 - (word)(~choices[i / 2] & 1)); /* its sibling is missing from now on */
        }
    }
    /* All leaves sum to the offset, so the sum of the others is the missing leaf plus that. */
    clear_lowest(nodes, period << depth);
    for (size_t i = 0; i < period; i += 2) {
        known[i] |= 1;
    }
    put(nodes, (size_t)1 << depth, period, path, known);
}

#include "field_kernels.h"
#include "store_rows.h"

#undef NAME
#undef TARGET
#undef VECTOR
#undef LOAD
#undef STORE
#undef SPREAD
#undef FILL
#undef XOR
#undef AND
#undef OR
#undef ADD
#undef REORDER
#undef ROUND
#undef LAST
#undef MULTIPLY
#undef UPWARD
#undef DOWNWARD
