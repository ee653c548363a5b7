/*
 * The inner loops of oblivious transfer, as smc/oblivious/numpy_kernels.py and the ciphers of the library that
 * the rest uses have them: the same results bit for bit, in one pass over memory instead of several.
 *
 * Here are the loops for every machine; cipher_kernels.h has those with AES in them, for x86-64 with AES
 * instructions, and is compiled once for each width of registers, together with field_kernels.h and tag_kernels.h.
 * store_kernels.h and store_rows.h are those of key-value stores.
 *
 * Words are 64 bits, little end first as everywhere on the machines this is built for. The caller has checked
 * all sizes. But for the two files of stores, no branch and no address depends on a secret: the places of the
 * local code come from a public key stream. Keys that are expanded here are wiped; other scratch memory is not.
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
#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

typedef uint64_t word;
#if defined(__GNUC__)
typedef word some_words __attribute__((vector_size(64), aligned(8), may_alias)); /* added and shifted at once */
#else
typedef word some_words;
#endif

enum { SLOTS = 64, HALF_WEIGHT = 5, COLUMNS_AT_ONCE = 8, CHUNK = 128, MOST_DEPTH = 4, MOST_LEAVES = 16, MOST_TREES = 32 };
enum { ELEMENT_BITS = 128, TAG_LANES = 16, FIELD_ROWS = 256 };

typedef word square[SLOTS][2 * COLUMNS_AT_ONCE];

#include "store_kernels.h"

/* So that a library of another release is not taken for this one. */
int duetto_kernels_version(void) { return 6; }

/*
 * rows[i] += sum over j of secret[place(j, i)] + secret[place'(j, i)], rows of two words.
 *
 * drawn has HALF_WEIGHT lines of n words; each gives two places, by its lower and its upper half under the mask.
 */
INLINE void add_drawn(const word *secret, const word *drawn, size_t n, word mask, word *rows) {
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

void duetto_add_drawn(const word *secret, const word *drawn, size_t n, word mask, word *rows) {
    add_drawn(secret, drawn, n, mask, rows);
}

/*
 * One or two bits of each half of every row: hashed and rows have SLOTS lines of w rows of two words, and row
 * (r, k) gives bit r of word k of planes 0 and 1, and with four planes its bits r ^ 32 to planes 2 and 3.
 *
 * rows may be NULL, which stands for zeros. Planes are `stride` words apart.
 */
WIDE void duetto_diagonals(const word *hashed, const word *rows, size_t w, word *planes, size_t stride, int four) {
    for (size_t start = 0; start < 2 * w; start += CHUNK) {
        size_t size = 2 * w - start < CHUNK ? 2 * w - start : CHUNK;
        word first[CHUNK] = {0}, second[CHUNK] = {0};
        for (size_t r = 0; r < SLOTS; r++) {
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
 * Up to COLUMNS_AT_ONCE words of 2 SLOTS columns, `stride` words apart, as they lie in rows: both halves side by
 * side, and zeros where there are no more.
 */
INLINE void take_columns(const word *columns, size_t stride, size_t size, square s) {
    for (size_t r = 0; r < SLOTS; r++) {
        const word *low = columns + r * stride, *high = columns + (SLOTS + r) * stride;
        word some[2][COLUMNS_AT_ONCE] = {{0}};
        if (size < COLUMNS_AT_ONCE) {
            memcpy(some[0], low, size * sizeof(word));
            memcpy(some[1], high, size * sizeof(word));
            low = some[0];
            high = some[1];
        }
        for (size_t k = 0; k < COLUMNS_AT_ONCE; k++) {
            s[r][2 * k] = low[k];
            s[r][2 * k + 1] = high[k];
        }
    }
}

/*
 * Three rounds of a transposition: in all 64 x 64 matrices the off-diagonal blocks of side 4 s, 2 s and s change
 * places. Eight lines that are s apart stay among themselves.
 */
INLINE void turn_blocks(square m, size_t s) {
    for (size_t r = 0; r < SLOTS; r++) {
        if (r & 7 * s) {
            continue;
        }
        for (size_t i = 0; i < 2 * COLUMNS_AT_ONCE; i += sizeof(some_words) / sizeof(word)) {
            some_words x[8];
            for (size_t j = 0; j < 8; j++) {
                x[j] = *(some_words *)&m[r + j * s][i];
            }
            for (size_t step = 4; step; step /= 2) {
                size_t side = step * s;
                word mask = ~(word)0 / (((word)1 << side) + 1); /* of the bits whose place lacks `side` */
                for (size_t j = 0; j < 8; j++) {
                    if (!(j & step)) {
                        some_words swap = (x[j] >> side ^ x[j + step]) & mask;
                        x[j + step] ^= swap;
                        x[j] ^= swap << side;
                    }
                }
            }
            for (size_t j = 0; j < 8; j++) {
                *(some_words *)&m[r + j * s][i] = x[j];
            }
        }
    }
}

INLINE void transpose(square m) {
    turn_blocks(m, 8);
    turn_blocks(m, 1);
}

/*
 * Columns to rows: columns has 2 SLOTS lines, `stride` words apart, of which w words count; row (r, k) of rows,
 * SLOTS lines of w rows of two words, gets bit r of word k of columns 0 to 63 and 64 to 127.
 */
WIDE void duetto_rows(const word *columns, size_t stride, size_t w, word *rows) {
    for (size_t start = 0; start < w; start += COLUMNS_AT_ONCE) {
        size_t size = w - start < COLUMNS_AT_ONCE ? w - start : COLUMNS_AT_ONCE;
        square m;
        take_columns(columns + start, stride, size, m);
        transpose(m);
        for (size_t r = 0; r < SLOTS; r++) {
            memcpy(rows + 2 * (r * w + start), m[r], 2 * size * sizeof(word));
        }
    }
}

/*
 * The sum of 2**depth streams, and those of x times stream x, bit by bit of x, for each of t trees: streams has
 * 2**depth lines of w words a tree, weighed `depth` and total one. A piece of few words at a time.
 */
WIDE void duetto_weigh(const word *streams, size_t t, size_t depth, size_t w, word *weighed, word *total) {
    for (size_t tree = 0; tree < t; tree++) {
        for (size_t start = 0; start < w; start += CHUNK) {
            size_t size = w - start < CHUNK ? w - start : CHUNK;
            word sums[MOST_DEPTH + 1][CHUNK] = {{0}};
            for (size_t x = 0; x >> depth == 0; x++) {
                const word *stream = streams + ((tree << depth) + x) * w + start;
                for (size_t b = 0; b <= depth; b++) {
                    if (b == depth || x >> b & 1) {
                        for (size_t k = 0; k < size; k++) {
                            sums[b][k] ^= stream[k];
                        }
                    }
                }
            }
            for (size_t b = 0; b < depth; b++) {
                memcpy(weighed + (tree * depth + b) * w + start, sums[b], size * sizeof(word));
            }
            memcpy(total + tree * w + start, sums[depth], size * sizeof(word));
        }
    }
}

/* All ones where a == b, and else zero. */
INLINE word equal(word a, word b) {
    word difference = a ^ b;
    return ((difference | (0 - difference)) >> 63) - 1;
}

/* What is known of the sum of `count` lines of nodes, `period` words each, if in place i line missing[i] is not. */
INLINE void sum_known(const word *nodes, size_t count, size_t period, const word *missing, word *sum) {
    memset(sum, 0, period * sizeof(word));
    for (word line = 0; line < count; line++, nodes += period) {
        for (size_t i = 0; i < period; i++) {
            sum[i] ^= nodes[i] & ~equal(line, missing[i]);
        }
    }
}

/* Put value[i] in the place of word i of line path[i] of nodes. */
INLINE void put(word *nodes, size_t count, size_t period, const word *path, const word *value) {
    for (word line = 0; line < count; line++, nodes += period) {
        for (size_t i = 0; i < period; i++) {
            word here = equal(line, path[i]);
            nodes[i] = (nodes[i] & ~here) | (value[i] & here);
        }
    }
}

INLINE void clear_lowest(word *nodes, size_t n) {
    for (size_t i = 0; i < n; i += 2) {
        nodes[i] &= ~(word)1;
    }
}

/* packed[i] = sum over j of x**j * rows[ELEMENT_BITS * i + j] in the field of field_kernels.h, n of them. */
void duetto_pack_elements(const word *rows, size_t n, word *packed) {
    enum { CHAINS = 4, LENGTH = ELEMENT_BITS / CHAINS };
    for (size_t i = 0; i < n; i++, rows += 2 * ELEMENT_BITS) {
        word low[CHAINS] = {0}, high[CHAINS] = {0}; /* Horner's rule on four parts at once */
        for (size_t j = LENGTH; j--;) {
            for (size_t c = 0; c < CHAINS; c++) {
                const word *row = rows + 2 * (c * LENGTH + j);
                word carry = (0 - (high[c] >> 63)) & 0x87;
                high[c] = (high[c] << 1 | low[c] >> 63) ^ row[1];
                low[c] = (low[c] << 1 ^ carry) ^ row[0];
            }
        }
        for (size_t c = CHAINS - 1; c--;) {
            word top = high[c + 1] >> (64 - LENGTH); /* x**128 is x**7 + x**2 + x + 1 */
            word shifted = low[c + 1] << LENGTH ^ top ^ top << 1 ^ top << 2 ^ top << 7;
            high[c] ^= high[c + 1] << LENGTH | low[c + 1] >> (64 - LENGTH);
            low[c] ^= shifted;
        }
        packed[2 * i] = low[0];
        packed[2 * i + 1] = high[0];
    }
}

/*
 * The sums of the leaves of each tree without the one that is marked by the lowest bit of its node: nodes and leaves
 * have `lines` lines with two words of each tree.
 */
WIDE void duetto_known_sums(const word *nodes, const word *leaves, size_t lines, size_t trees, word *sums) {
    memset(sums, 0, 2 * trees * sizeof(word));
    for (size_t line = 0; line < lines; line++, nodes += 2 * trees, leaves += 2 * trees) {
        for (size_t i = 0; i < 2 * trees; i++) {
            sums[i] ^= leaves[i] & ((nodes[i & ~(size_t)1] & 1) - 1);
        }
    }
}

/* Pairs of elements: a leaf and 0, or at the marked place of each tree the two elements that are given for it. */
void duetto_place_leaves(
    const word *nodes, const word *leaves, size_t lines, size_t trees, const word *missing, const word *factors, word *pairs
) {
    for (size_t line = 0; line < lines; line++) {
        for (size_t tree = 0; tree < trees; tree++, nodes += 2, leaves += 2, pairs += 4) {
            word here = 0 - (nodes[0] & 1);
            for (size_t i = 0; i < 2; i++) {
                pairs[i] = (leaves[i] & ~here) | (missing[2 * tree + i] & here);
                pairs[2 + i] = factors[2 * tree + i] & here;
            }
        }
    }
}

/*
 * The instructions for AES and products without carries that this processor has: 0 none, 1 for single blocks, 2 for
 * two at once, 3 for four. The functions that take `set` are called with 1 to 3, and no more than this.
 */
#if defined(__x86_64__) && (defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 9))
#include <cpuid.h>
#include <immintrin.h>

int duetto_ciphers(void) {
    unsigned a, b, c, d;
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("aes") || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("pclmul")) {
        return 0;
    }
    unsigned wide = bit_VAES | bit_VPCLMULQDQ;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (c & wide) != wide) {
        return 1;
    }
    return __builtin_cpu_supports("avx512bw") ? 3 : 2;
}

enum { ROUNDS = 10, SERIES = 8 };

/* For REORDER: which byte goes to each place of a block. */
#define REVERSED_WORDS _mm_set_epi64x(0x08090a0b0c0d0e0f, 0x0001020304050607)
#define SWAPPED_WORDS _mm_set_epi64x(0x0706050403020100, 0x0f0e0d0c0b0a0908)

/* The key schedule of AES-128. */
__attribute__((target("aes,avx2"))) static void expand(const word *key, __m128i *schedule) {
    const __m128i turned_last = _mm_set1_epi32(0x0c0f0e0d); /* the last column, its bytes turned by one */
    __m128i round_key = _mm_loadu_si128((const __m128i *)key);
    schedule[0] = round_key;
    for (int round = 1, constant = 1; round <= ROUNDS; round++) {
        /* All columns are the same, so a last round of AES does nothing but substitute and add the constant. */
        __m128i added = _mm_aesenclast_si128(_mm_shuffle_epi8(round_key, turned_last), _mm_set1_epi32(constant));
        round_key = _mm_xor_si128(round_key, _mm_slli_si128(round_key, 4));
        round_key = _mm_xor_si128(round_key, _mm_slli_si128(round_key, 8));
        round_key = _mm_xor_si128(round_key, added);
        schedule[round] = round_key;
        constant = constant << 1 ^ (constant >> 7) * 0x11b;
    }
}

static void wipe(void *memory, size_t size) {
    memset(memory, 0, size);
    __asm__ volatile("" : : "r"(memory) : "memory"); /* somebody may read it: it has to be written */
}

/* The product of two blocks without carries, 256 bits; see tag_kernels.h for the order of bits. */
__attribute__((target("pclmul,avx2"))) INLINE void product_of(__m128i a, __m128i b, __m128i *found) {
    __m128i middle = _mm_xor_si128(_mm_clmulepi64_si128(a, b, 0x01), _mm_clmulepi64_si128(a, b, 0x10));
    found[0] = _mm_xor_si128(_mm_clmulepi64_si128(a, b, 0x00), _mm_slli_si128(middle, 8));
    found[1] = _mm_xor_si128(_mm_clmulepi64_si128(a, b, 0x11), _mm_srli_si128(middle, 8));
}

/* 256 bits of a product, or of a sum of them, modulo x**128 + x**7 + x**2 + x + 1. */
__attribute__((target("pclmul,avx2"))) INLINE __m128i reduce(const __m128i *product) {
    word p[4], high[2], low[2];
    _mm_storeu_si128((__m128i *)p, product[0]);
    _mm_storeu_si128((__m128i *)(p + 2), product[1]);
    /* After one place to the left bit 255 - k is the coefficient of x**k. */
    high[1] = p[3] << 1 | p[2] >> 63;
    high[0] = p[2] << 1 | p[1] >> 63;
    low[1] = p[1] << 1 | p[0] >> 63;
    low[0] = p[0] << 1;
    /* x**128 is x**7 + x**2 + x + 1, and a product by x is a place to the right: what falls off comes again. */
    word over = low[0] << 63 ^ low[0] << 62 ^ low[0] << 57;
    low[1] ^= over;
    high[1] ^= low[1] ^ low[1] >> 1 ^ low[1] >> 2 ^ low[1] >> 7;
    high[0] ^= low[0] ^ (low[0] >> 1 | low[1] << 63) ^ (low[0] >> 2 | low[1] << 62) ^ (low[0] >> 7 | low[1] << 57);
    return _mm_set_epi64x((long long)high[1], (long long)high[0]);
}

enum { SEGMENT = 256 }; /* blocks of a column under one table of powers, which fits the nearest cache */

#define NAME(name) name##_single
#define TARGET __attribute__((target("aes,avx2,pclmul")))
#define MULTIPLY(x, y, halves) _mm_clmulepi64_si128(x, y, halves)
#define EXCHANGE(x) _mm_shuffle_epi32(x, 0x4e)
#define VECTOR __m128i
#define LOAD(from) _mm_loadu_si128((const __m128i *)(from))
#define STORE(to, x) _mm_storeu_si128((__m128i *)(to), x)
#define SPREAD(block) (block)
#define FILL(one) _mm_set1_epi64x((long long)(one))
#define XOR(x, y) _mm_xor_si128(x, y)
#define AND(x, y) _mm_and_si128(x, y)
#define OR(x, y) _mm_or_si128(x, y)
#define ADD(x, y) _mm_add_epi64(x, y)
#define REORDER(x, places) _mm_shuffle_epi8(x, places)
#define ROUND(x, key) _mm_aesenc_si128(x, key)
#define LAST(x, key) _mm_aesenclast_si128(x, key)
#define UPWARD(x) _mm_slli_si128(x, 8)
#define DOWNWARD(x) _mm_srli_si128(x, 8)
#include "tag_kernels.h"
#include "cipher_kernels.h"

#define NAME(name) name##_twofold
#define TARGET __attribute__((target("aes,vaes,avx2,pclmul,vpclmulqdq")))
#define MULTIPLY(x, y, halves) _mm256_clmulepi64_epi128(x, y, halves)
#define EXCHANGE(x) _mm256_shuffle_epi32(x, 0x4e)
#define UPWARD(x) _mm256_bslli_epi128(x, 8)
#define DOWNWARD(x) _mm256_bsrli_epi128(x, 8)
#define VECTOR __m256i
#define LOAD(from) _mm256_loadu_si256((const __m256i *)(from))
#define STORE(to, x) _mm256_storeu_si256((__m256i *)(to), x)
#define SPREAD(block) _mm256_broadcastsi128_si256(block)
#define FILL(one) _mm256_set1_epi64x((long long)(one))
#define XOR(x, y) _mm256_xor_si256(x, y)
#define AND(x, y) _mm256_and_si256(x, y)
#define OR(x, y) _mm256_or_si256(x, y)
#define ADD(x, y) _mm256_add_epi64(x, y)
#define REORDER(x, places) _mm256_shuffle_epi8(x, places)
#define ROUND(x, key) _mm256_aesenc_epi128(x, key)
#define LAST(x, key) _mm256_aesenclast_epi128(x, key)
#include "tag_kernels.h"
#include "cipher_kernels.h"

#define NAME(name) name##_fourfold
#define TARGET __attribute__((target("aes,vaes,avx512bw,pclmul,vpclmulqdq")))
#define MULTIPLY(x, y, halves) _mm512_clmulepi64_epi128(x, y, halves)
#define EXCHANGE(x) _mm512_shuffle_epi32(x, 0x4e)
#define VECTOR __m512i
#define LOAD(from) _mm512_loadu_si512(from)
#define STORE(to, x) _mm512_storeu_si512(to, x)
#define SPREAD(block) _mm512_broadcast_i32x4(block)
#define FILL(one) _mm512_set1_epi64((long long)(one))
#define XOR(x, y) _mm512_xor_si512(x, y)
#define AND(x, y) _mm512_and_si512(x, y)
#define OR(x, y) _mm512_or_si512(x, y)
#define ADD(x, y) _mm512_add_epi64(x, y)
#define REORDER(x, places) _mm512_shuffle_epi8(x, places)
#define ROUND(x, key) _mm512_aesenc_epi128(x, key)
#define LAST(x, key) _mm512_aesenclast_epi128(x, key)
#define UPWARD(x) _mm512_bslli_epi128(x, 8)
#define DOWNWARD(x) _mm512_bsrli_epi128(x, 8)
#include "tag_kernels.h"
#include "cipher_kernels.h"

/* The loop of a set of instructions, by its number. */
#define CHOSEN(name, set) ((set) == 3 ? name##_fourfold : (set) == 2 ? name##_twofold : name##_single)

void duetto_leaves(
    int set, const word *seeds, size_t t, size_t depth, word start, size_t w, word *weighed, word *total
) {
    CHOSEN(leaves, set)(seeds, t, depth, start, w, weighed, total);
}

void duetto_hash_columns(
    int set, const word *columns, size_t stride, size_t w, const word *keys, size_t span, const word *offsets,
    size_t n, word *planes
) {
    CHOSEN(hash_columns, set)(columns, stride, w, keys, span, offsets, n, planes);
}

void duetto_hash_rows(
    int set, const word *rows, size_t w, const word *key, const word *offsets, size_t n, word *planes, size_t stride,
    word *choices
) {
    CHOSEN(hash_rows, set)(rows, w, key, offsets, n, planes, stride, choices);
}

void duetto_add_code(
    int set, const word *secret, word mask, const word *key, word number, size_t n, size_t piece, word *rows
) {
    CHOSEN(add_code, set)(secret, mask, key, number, n, piece, rows);
}

/* n columns of w words, `stride` words apart: the sum of block i of m times h**(m + 1 - i). */
void duetto_tags(int set, const word *columns, size_t stride, size_t n, size_t w, const word *h, word *tags) {
    CHOSEN(tags, set)(columns, stride, n, w, h, tags);
}

void duetto_grow(
    int set, const word *seeds, const word *offset, const word *key, size_t trees, size_t depth, word *nodes, word *sums
) {
    CHOSEN(grow, set)(seeds, offset, key, trees, depth, nodes, sums);
}

void duetto_regrow(
    int set, const word *sums, const uint8_t *choices, const word *key, size_t trees, size_t depth, word *nodes
) {
    CHOSEN(regrow, set)(sums, choices, key, trees, depth, nodes);
}

void duetto_add_products(int set, const word *elements, const word *factor, size_t n, word *sums) {
    CHOSEN(add_products, set)(elements, factor, n, sums);
}

void duetto_add_tag(int set, const word *elements, size_t stride, size_t n, const word *powers, word *tag) {
    CHOSEN(add_tag, set)(elements, stride, n, powers, tag);
}

void duetto_add_field_code(
    int set, const word *secret, word mask, const word *key, word number, size_t n, size_t piece, size_t across,
    word *rows
) {
    CHOSEN(add_field_code, set)(secret, mask, key, number, n, piece, across, rows);
}

void duetto_store_rows(
    int set, const word *keys, size_t n, const word *seed, word columns, word parts, store_row *rows
) {
    CHOSEN(store_rows, set)(keys, n, seed, columns, parts, rows);
}

#else

int duetto_ciphers(void) { return 0; }

#endif
