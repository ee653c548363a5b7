/*
 * Keys of stores to rows, for one width of registers: cipher_kernels.h includes this file, each time anew.
 *
 * Row i is made of E(x) + x under the two keys of the seed, x being key i, as in smc/oblivious/numpy_store.py.
 * Places are below `columns` and parts below `parts`, whatever keys and seed are.
 */
TARGET static void NAME(store_rows)(
    const word *keys, size_t n, const word *seed, word columns, word parts, store_row *rows
) {
    __m128i schedules[2][ROUNDS + 1];
    expand(seed, schedules[0]);
    expand(seed + 2, schedules[1]);
    for (size_t start = 0; start < 2 * n; start += NAME(series)) {
        size_t size = 2 * n - start < NAME(series) ? 2 * n - start : NAME(series);
        word some[NAME(series)] = {0}, drawn[2][NAME(series)];
        memcpy(some, keys + start, size * sizeof(word));
        for (size_t hash = 0; hash < 2; hash++) {
            VECTOR hashed[SERIES];
            memcpy(hashed, some, sizeof(hashed));
            NAME(encrypt)(schedules[hash], hashed);
            for (size_t i = 0; i < SERIES; i++) {
                STORE(drawn[hash] + i * NAME(words), XOR(hashed[i], LOAD(some + i * NAME(words))));
            }
        }
        for (size_t i = 0; i < size; i += 2) {
            const word *first = drawn[0] + i, *second = drawn[1] + i;
            store_row *row = rows + (start + i) / 2;
            row->places[0] = (uint32_t)((first[0] >> 32) * columns >> 32);
            row->places[1] = (uint32_t)((first[1] >> 32) * columns >> 32);
            row->places[2] = (uint32_t)((second[0] >> 32) * columns >> 32);
            row->part = (uint32_t)((first[0] & 0xffffffff) * parts >> 32);
            row->pattern = second[1] & (((word)1 << DENSE_COLUMNS) - 1);
        }
    }
}
