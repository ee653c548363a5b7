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
    word first[NAME(words)];
    unsigned char places[sizeof(VECTOR)];
    for (size_t i = 0; i < NAME(words); i++) {
        first[i] = i & 1 ? lower + i / 2 : upper;
    }
    for (size_t i = 0; i < sizeof(VECTOR); i++) {
        places[i] = (unsigned char)(i % 16 ^ 7);
    }
    for (size_t i = 0; i < SERIES; i++) {
        word step[NAME(words)];
        for (size_t j = 0; j < NAME(words); j++) {
            step[j] = j & 1 ? i * NAME(words) / 2 : 0;
        }
        x[i] = REORDER(ADD(LOAD(first), LOAD(step)), LOAD(places));
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
 * Bits of E(z) + z for the rows z = row + offset of a square, of which line r lies at rows + r * stride: bit r of
 * each word of row r into first, and its bit r ^ 32 into second, unless that is NULL.
 */
TARGET INLINE void NAME(hash_square)(
    const __m128i *schedule, const word *rows, size_t stride, const word *offset, word *first, word *second
) {
    enum { ACROSS = 2 * COLUMNS_AT_ONCE / NAME(words), LINES = SERIES / ACROSS };
    const VECTOR added = SPREAD(_mm_loadu_si128((const __m128i *)offset));
    VECTOR one[ACROSS], two[ACROSS];
    memset(one, 0, sizeof(one));
    memset(two, 0, sizeof(two));
    for (size_t r = 0; r < LANES; r += LINES) {
        VECTOR plain[SERIES], hashed[SERIES];
        for (size_t i = 0; i < SERIES; i++) {
            plain[i] = XOR(LOAD(rows + (r + i / ACROSS) * stride + i % ACROSS * NAME(words)), added);
            hashed[i] = plain[i];
        }
        NAME(encrypt)(schedule, hashed);
        for (size_t i = 0; i < SERIES; i++) {
            size_t line = r + i / ACROSS;
            VECTOR z = XOR(hashed[i], plain[i]);
            one[i % ACROSS] = KEEP(one[i % ACROSS], z, FILL((word)1 << line));
            if (second) {
                two[i % ACROSS] = KEEP(two[i % ACROSS], z, FILL((word)1 << (line ^ 32)));
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
                NAME(hash_square)(schedule, m[0], 2 * COLUMNS_AT_ONCE, offsets + 2 * v, found, NULL);
                for (size_t i = 0; i < 2 * size; i++) {
                    planes[(2 * v + i % 2) * w + start + i / 2] = found[i];
                }
            }
        }
    }
}

#undef NAME
#undef TARGET
#undef VECTOR
#undef LOAD
#undef STORE
#undef SPREAD
#undef FILL
#undef XOR
#undef KEEP
#undef ADD
#undef REORDER
#undef ROUND
#undef LAST
