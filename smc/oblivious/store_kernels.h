/*
 * The inner loops of oblivious key-value stores, as smc/oblivious/numpy_store.py has them.
 *
 * Which entries are read and written, and in which order, follows from the rows of keys, which are secret hashes of
 * the party that runs them: unlike in the other loops, whoever watches this processor's caches can learn of them.
 * The values are only added. Places and parts of rows are compared with the sizes before they serve as addresses.
 */

enum { ROW_ONES = 3, DENSE_COLUMNS = 40, OCTETS = 256, DENSE_OCTETS = DENSE_COLUMNS / 8, AHEAD = 8 };

typedef struct {
    uint32_t places[ROW_ONES];
    uint32_t part;
    word pattern;
} store_row;

typedef struct {
    uint32_t rows;  /* how many are left that have a one there */
    uint32_t owner; /* the XOR of their numbers: of one row, its number */
} store_column;

typedef struct {
    uint32_t row, pivot;
} store_step;

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
typedef word two_words __attribute__((vector_size(16), aligned(8), may_alias));
#else
#define PREFETCH(address) ((void)(address))
typedef word two_words;
#endif
#define AT(type, words, k) (*(type *)((words) + (k)))

INLINE int within(const store_row *row, size_t columns) {
    return row->places[0] < columns && row->places[1] < columns && row->places[2] < columns;
}

/*
 * The numbers of n rows part by part, and `parts` + 1 places where parts begin and the last one ends. Returns 0 if
 * a row is of no part.
 */
size_t duetto_order_rows(const store_row *rows, size_t n, size_t parts, uint32_t *order, size_t *starts) {
    memset(starts, 0, (parts + 1) * sizeof(*starts));
    for (size_t i = 0; i < n; i++) {
        if (rows[i].part >= parts) {
            return 0;
        }
        starts[rows[i].part]++;
    }
    for (size_t p = 0, before = 0; p <= parts; p++) {
        size_t size = starts[p];
        starts[p] = before;
        before += size;
    }
    for (size_t i = 0; i < n; i++) {
        order[starts[rows[i].part]++] = (uint32_t)i;
    }
    memmove(starts + 1, starts, parts * sizeof(*starts)); /* each part has gone on to where the next one begins */
    starts[0] = 0;
    return 1;
}

/*
 * Take rows away as StoreLoops.peel: their places among the members, and their pivots, one after the other.
 *
 * own, n rows, gets those of the members; table and queue have a place for each column, queue one more. Returns how
 * many it were, or n + 1 if a row has a place past the columns.
 */
size_t duetto_peel(
    const store_row *rows, const uint32_t *members, size_t n, size_t columns, store_row *own, store_column *table,
    uint32_t *queue, store_step *steps
) {
    size_t tail = 0, taken = 0;
    memset(table, 0, columns * sizeof(*table));
    for (size_t i = 0; i < n; i++) {
        PREFETCH(rows + members[i + 2 * AHEAD < n ? i + 2 * AHEAD : i]);
        own[i] = rows[members[i]];
        if (!within(own + i, columns)) {
            return n + 1;
        }
        for (size_t j = 0; j < ROW_ONES; j++) {
            store_column *column = table + own[i].places[j];
            column->rows++;
            column->owner ^= (uint32_t)i;
        }
    }
    for (size_t c = 0; c < columns; c++) {
        queue[tail] = (uint32_t)c;
        tail += table[c].rows == 1;
    }
    for (size_t head = 0; head < tail;) {
        size_t end = tail, first = taken;
        for (; head < end; head++) {
            PREFETCH(own + table[queue[head + AHEAD < end ? head + AHEAD : head]].owner);
            uint32_t c = queue[head], i = table[c].owner;
            if (table[c].rows != 1) {
                continue; /* its last row was taken in the round before */
            }
            const uint32_t *places = own[i].places;
            size_t j = 0;
            while (table[places[j]].rows != 1) {
                j++;
            }
            if (places[j] == c) { /* else the row comes with that column, in this round too */
                steps[taken].row = i;
                steps[taken++].pivot = c;
            }
        }
        for (size_t k = first; k < taken; k++) {
            uint32_t i = steps[k].row;
            for (size_t j = 0; j < ROW_ONES; j++) {
                uint32_t c = own[i].places[j];
                table[c].owner ^= i;
                if (--table[c].rows == 1) {
                    queue[tail++] = c;
                }
            }
        }
    }
    return taken;
}

/* All sums of eight dense entries of w words each, for each eight of them. */
INLINE void sum_octets(const word *dense, size_t w, word *sums) {
    for (size_t octet = 0; octet < DENSE_OCTETS; octet++, dense += 8 * w, sums += OCTETS * w) {
        memset(sums, 0, w * sizeof(word));
        for (size_t bit = 0; bit < 8; bit++) {
            for (size_t i = 0; i < w << bit; i++) {
                sums[(w << bit) + i] = sums[i] ^ dense[bit * w + i % w];
            }
        }
    }
}

/* The octets of a row's pattern, as places of their sums. */
INLINE void find_octets(const word *sums, const store_row *row, size_t w, const word **found) {
    for (size_t octet = 0; octet < DENSE_OCTETS; octet++) {
        found[octet] = sums + w * (OCTETS * octet + (row->pattern >> 8 * octet & (OCTETS - 1)));
    }
}

/* into[k] = added[k] + word k of what the row says of the part, sums being those of its dense entries. */
INLINE void sum_row(const word *part, const word *sums, const store_row *row, size_t w, const word *added, word *into) {
    const word *first = part + w * row->places[0], *second = part + w * row->places[1];
    const word *third = part + w * row->places[2], *found[DENSE_OCTETS];
    find_octets(sums, row, w, found);
#define SUM_ROW(type, k)                                                                                               \
    type x = AT(type, first, k) ^ AT(type, second, k) ^ AT(type, third, k) ^ AT(type, found[0], k)                     \
        ^ AT(type, found[1], k) ^ AT(type, found[2], k) ^ AT(type, found[3], k) ^ AT(type, found[4], k);               \
    if (added) {                                                                                                       \
        x ^= AT(type, added, k);                                                                                       \
    }                                                                                                                  \
    AT(type, into, k) = x
    size_t k = 0;
    for (; k + sizeof(two_words) / sizeof(word) <= w; k += sizeof(two_words) / sizeof(word)) {
        SUM_ROW(two_words, k);
    }
    for (; k < w; k++) {
        SUM_ROW(word, k);
    }
#undef SUM_ROW
}

INLINE void prefetch_row(const word *part, const store_row *row, size_t w) {
    for (size_t j = 0; j < ROW_ONES; j++) {
        PREFETCH(part + w * row->places[j]);
    }
}

INLINE void fill_store(
    const store_row *own, const uint32_t *members, const store_step *steps, size_t taken, const word *values, size_t w,
    const word *sums, word *part
) {
    for (size_t k = taken; k--;) {
        size_t soon = k < AHEAD ? 0 : k - AHEAD, later = k < 2 * AHEAD ? 0 : k - 2 * AHEAD;
        PREFETCH(members + steps[later].row);
        PREFETCH(own + steps[later].row);
        PREFETCH(values + w * members[steps[soon].row]);
        prefetch_row(part, own + steps[soon].row, w);
        const word *value = values + w * members[steps[k].row];
        word *pivot = part + w * steps[k].pivot;
        for (size_t i = 0; i < w; i++) {
            pivot[i] = 0;
        }
        sum_row(part, sums, own + steps[k].row, w, value, pivot);
    }
}

INLINE size_t sum_rows(
    const word *part, size_t columns, const word *sums, const store_row *rows, const uint32_t *members, size_t n,
    size_t w, word *result
) {
    for (size_t i = 0; i < n; i++) {
        if (!within(rows + members[i], columns)) {
            return 0;
        }
        PREFETCH(rows + members[i + 2 * AHEAD < n ? i + 2 * AHEAD : i]);
        prefetch_row(part, rows + members[i + AHEAD < n ? i + AHEAD : i], w);
        sum_row(part, sums, rows + members[i], w, NULL, result + w * members[i]);
    }
    return 1;
}

/* The usual widths have loops of their own, without loops over words. */
#define OF_WIDTH(w, call) ((w) == 1 ? call(1) : (w) == 2 ? call(2) : (w) == 3 ? call(3) : call(w))

/*
 * As Peeled.fill, of what duetto_peel took away: part has `columns` + DENSE_COLUMNS entries of w words, sums gets
 * DENSE_OCTETS * OCTETS of them.
 */
void duetto_fill_store(
    const store_row *own, const uint32_t *members, const store_step *steps, size_t taken, size_t columns,
    const word *values, size_t w, word *sums, word *part
) {
    sum_octets(part + columns * w, w, sums);
#define FILL_STORE(w) fill_store(own, members, steps, taken, values, w, sums, part)
    OF_WIDTH(w, FILL_STORE);
#undef FILL_STORE
}

/* As StoreLoops.sums; returns 0 if a row has a place past the columns. */
size_t duetto_sum_rows(
    const word *part, size_t columns, const store_row *rows, const uint32_t *members, size_t n, size_t w, word *sums,
    word *result
) {
    sum_octets(part + columns * w, w, sums);
#define SUM_ROWS(w) sum_rows(part, columns, sums, rows, members, n, w, result)
    return OF_WIDTH(w, SUM_ROWS);
#undef SUM_ROWS
}
