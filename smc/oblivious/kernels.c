/*
 * The inner loops of oblivious transfer, as smc/oblivious/numpy_kernels.py has them in numpy: the same
 * results bit for bit, in one pass over memory instead of several. What is hashed and drawn stays AES of the
 * library that the rest uses.
 *
 * Words are 64 bits, little end first as everywhere on the machines this is built for. The caller has checked
 * all sizes. No branch and no address depends on a secret: the places of the local code come from a public key
 * stream.
 */

/* An empty module for whoever imports the file; where the headers are missing it is still a library. */
#if defined(__has_include)
#if __has_include(<Python.h>)
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernels", NULL, -1, NULL, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit__kernels(void) { return PyModule_Create(&module); }
#endif
#endif

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__)
/* One copy for each instruction set, of which the loader takes the best that the processor has. */
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif

typedef uint64_t word;

enum { LANES = 64, HALF_WEIGHT = 5, COLUMNS_AT_ONCE = 8, CHUNK = 128 };

/* So that a library of another release is not taken for this one. */
int duetto_kernels_version(void) { return 1; }

/*
 * rows[i] += sum over j of secret[place(j, i)] + secret[place'(j, i)], rows of two words.
 *
 * drawn has HALF_WEIGHT lines of n words; each gives two places, by its lower and its upper half under the mask.
 */
void duetto_add_code(const word *secret, const word *drawn, size_t n, word mask, word *rows) {
    for (size_t i = 0; i < n; i++) {
        word low = rows[2 * i], high = rows[2 * i + 1];
        for (size_t j = 0; j < HALF_WEIGHT; j++) {
            word places = drawn[j * n + i];
            const word *first = secret + 2 * (places & mask);
            const word *second = secret + 2 * (places >> 32 & mask);
            low ^= first[0] ^ second[0];
            high ^= first[1] ^ second[1];
        }
        rows[2 * i] = low;
        rows[2 * i + 1] = high;
    }
}

/*
 * One or two bits of each half of every row: hashed and rows have LANES lines of w rows of two words, and row
 * (r, k) gives bit r of word k of planes 0 and 1, and with four planes its bits r ^ 32 to planes 2 and 3.
 *
 * rows may be NULL, which stands for zeros. Planes are `stride` words apart.
 */
WIDE void duetto_diagonals(const word *hashed, const word *rows, size_t w, word *planes, size_t stride, int four) {
    for (size_t start = 0; start < 2 * w; start += CHUNK) {
        size_t size = 2 * w - start < CHUNK ? 2 * w - start : CHUNK;
        word first[CHUNK] = {0}, second[CHUNK] = {0};
        for (size_t r = 0; r < LANES; r++) {
            const word *line = hashed + 2 * w * r + start;
            word bit = (word)1 << r, other = (word)1 << (r ^ 32);
            if (rows) {
                const word *plain = rows + 2 * w * r + start;
                for (size_t i = 0; i < size; i++) {
                    word x = line[i] ^ plain[i];
                    first[i] |= x & bit;
                    second[i] |= x & other;
                }
            } else {
                for (size_t i = 0; i < size; i++) {
                    first[i] |= line[i] & bit;
                    second[i] |= line[i] & other;
                }
            }
        }
        for (size_t i = 0; i < size; i++) {
            size_t half = i & 1, k = (start + i) / 2;
            planes[half * stride + k] = first[i];
            if (four) { /* the bit of row r stands at r ^ 32 */
                planes[(2 + half) * stride + k] = second[i] >> 32 | second[i] << 32;
            }
        }
    }
}

/*
 * Columns to rows: columns has 2 LANES lines, `stride` words apart, of which w words count; row (r, k) of rows,
 * LANES lines of w rows of two words, gets bit r of word k of columns 0 to 63 and 64 to 127.
 *
 * Columns lie in `square` as they do in rows, both halves side by side; then the off-diagonal blocks of side
 * 32, 16, ..., 1 of all 64 x 64 matrices change places, as in smc/oblivious/bitmatrix.py.
 */
WIDE void duetto_rows(const word *columns, size_t stride, size_t w, word *rows) {
    static const word masks[6] = {
        0x00000000ffffffff, 0x0000ffff0000ffff, 0x00ff00ff00ff00ff,
        0x0f0f0f0f0f0f0f0f, 0x3333333333333333, 0x5555555555555555,
    };
    for (size_t start = 0; start < w; start += COLUMNS_AT_ONCE) {
        size_t size = w - start < COLUMNS_AT_ONCE ? w - start : COLUMNS_AT_ONCE;
        word square[LANES][2 * COLUMNS_AT_ONCE] = {{0}};
        for (size_t r = 0; r < LANES; r++) {
            for (size_t k = 0; k < size; k++) {
                square[r][2 * k] = columns[r * stride + start + k];
                square[r][2 * k + 1] = columns[(LANES + r) * stride + start + k];
            }
        }
        for (int round = 0; round < 6; round++) {
            size_t side = (size_t)32 >> round;
            for (size_t r = 0; r < LANES; r++) {
                if (r & side) {
                    continue;
                }
                word *low = square[r], *high = square[r + side];
                for (size_t i = 0; i < 2 * COLUMNS_AT_ONCE; i++) {
                    word swap = (low[i] >> side ^ high[i]) & masks[round];
                    high[i] ^= swap;
                    low[i] ^= swap << side;
                }
            }
        }
        for (size_t r = 0; r < LANES; r++) {
            memcpy(rows + 2 * (r * w + start), square[r], 2 * size * sizeof(word));
        }
    }
}

/*
 * The sums of x times stream x over 16 streams, bit by bit of x, for each of t trees: streams has 16 lines of w
 * words a tree, weighed 4. Stream 0 is left with the sum of all.
 *
 * Stream x + 8 is folded onto stream x, then x + 4, ...: what stands at x is then the sum of all whose numbers
 * agree with x in the bits below, and a bit's sum is that of the half that is folded away. A piece of few words
 * at a time, since lines that are a power of two apart fall on each other in the cache.
 */
WIDE void duetto_weigh(word *streams, size_t t, size_t w, word *weighed) {
    for (size_t tree = 0; tree < t; tree++) {
        word *s = streams + 16 * w * tree, *sums = weighed + 4 * w * tree;
        for (size_t start = 0; start < w; start += CHUNK) {
            size_t size = w - start < CHUNK ? w - start : CHUNK;
            word folded[8][CHUNK], sum[CHUNK] = {0};
            for (size_t x = 0; x < 8; x++) {
                const word *lower = s + x * w + start, *upper = s + (8 + x) * w + start;
                for (size_t k = 0; k < size; k++) {
                    sum[k] ^= upper[k];
                    folded[x][k] = lower[k] ^ upper[k];
                }
            }
            for (size_t k = 0; k < size; k++) {
                word f0 = folded[0][k] ^ folded[4][k], f1 = folded[1][k] ^ folded[5][k];
                word f2 = folded[2][k] ^ folded[6][k], f3 = folded[3][k] ^ folded[7][k];
                sums[3 * w + start + k] = sum[k];
                sums[2 * w + start + k] = folded[4][k] ^ folded[5][k] ^ folded[6][k] ^ folded[7][k];
                sums[w + start + k] = f2 ^ f3;
                sums[start + k] = f1 ^ f3;
                s[start + k] = f0 ^ f1 ^ f2 ^ f3;
            }
        }
    }
}

/* turned[i] = (low + high, low) for each of n nodes (low, high) of two words. */
WIDE void duetto_turn(const word *nodes, size_t n, word *turned) {
    for (size_t i = 0; i < n; i++) {
        turned[2 * i] = nodes[2 * i] ^ nodes[2 * i + 1];
        turned[2 * i + 1] = nodes[2 * i];
    }
}

/*
 * left = hashed + turned in the place of the parents, right = parent + left, and the sum of all left nodes by
 * tree: n words in all, of which `period` belong to one line of trees.
 */
WIDE void duetto_children(
    word *restrict parents, const word *restrict hashed, const word *restrict turned, size_t n, size_t period,
    word *restrict right, word *restrict total
) {
    memset(total, 0, period * sizeof(word));
    for (size_t start = 0; start < n; start += period) {
        for (size_t i = 0; i < period; i++) {
            word left = hashed[start + i] ^ turned[start + i];
            right[start + i] = parents[start + i] ^ left;
            parents[start + i] = left;
            total[i] ^= left;
        }
    }
}
