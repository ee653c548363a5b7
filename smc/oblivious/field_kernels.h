/*
 * Loops over the field of 2**128 elements, as smc/oblivious/numpy_field.py has them, for one width of registers;
 * cipher_kernels.h includes this file once for each. The field is {0, 1}[x] modulo x**128 + x**7 + x**2 + x + 1, and
 * bit j of an element is the coefficient of x**j.
 *
 * Elements are two words, little end first. Places of the code come from a public key stream; nothing else serves as
 * an address, and there is no branch on an element.
 */

enum { NAME(elements) = NAME(words) / 2 };

/* Lower and upper halves of products, of as many elements as a vector has, to products in the field. */
TARGET INLINE VECTOR NAME(reduced)(VECTOR low, VECTOR high) {
    const VECTOR modulus = SPREAD(_mm_set_epi64x(0, 0x87));
    VECTOR top = MULTIPLY(high, modulus, 0x01);
    low = XOR(low, UPWARD(top));
    high = XOR(high, DOWNWARD(top));
    return XOR(low, MULTIPLY(high, modulus, 0x00));
}

TARGET INLINE VECTOR NAME(product)(VECTOR x, VECTOR y) {
    VECTOR middle = XOR(MULTIPLY(x, y, 0x01), MULTIPLY(x, y, 0x10));
    VECTOR low = XOR(MULTIPLY(x, y, 0x00), UPWARD(middle)), high = XOR(MULTIPLY(x, y, 0x11), DOWNWARD(middle));
    return NAME(reduced)(low, high);
}

/* Up to a vector of elements, and zeros where there are no more. */
TARGET INLINE VECTOR NAME(take)(const word *from, size_t count) {
    word some[NAME(words)] = {0};
    if (count >= NAME(elements)) {
        return LOAD(from);
    }
    memcpy(some, from, 2 * count * sizeof(word));
    return LOAD(some);
}

/* sums[i] += factor * elements[i], n of them. */
TARGET static void NAME(add_products)(const word *elements, const word *factor, size_t n, word *sums) {
    const VECTOR by = SPREAD(_mm_loadu_si128((const __m128i *)factor));
    for (size_t i = 0; i < n; i += NAME(elements)) {
        word some[NAME(words)];
        VECTOR sum = XOR(NAME(take)(sums + 2 * i, n - i), NAME(product)(NAME(take)(elements + 2 * i, n - i), by));
        STORE(some, sum);
        memcpy(sums + 2 * i, some, (n - i < NAME(elements) ? n - i : NAME(elements)) * 2 * sizeof(word));
    }
}

/*
 * tag = tag * key**n + sum of key**(n - 1 - i) elements[i]; elements are `stride` words apart, n a multiple of
 * TAG_LANES. powers has key**TAG_LANES first and then key**(TAG_LANES - 1) to key**0.
 */
TARGET static void NAME(add_tag)(const word *elements, size_t stride, size_t n, const word *powers, word *tag) {
    enum { VECTORS = TAG_LANES / NAME(elements) };
    const VECTOR step = SPREAD(_mm_loadu_si128((const __m128i *)powers));
    VECTOR sums[VECTORS];
    memset(sums, 0, sizeof(sums));
    /* What was there stands before the first element, in the lane of the last one. */
    memcpy((word *)sums + 2 * (TAG_LANES - 1), tag, 2 * sizeof(word));
    for (size_t i = 0; i < n; i += TAG_LANES) {
        word some[2 * TAG_LANES];
        for (size_t j = 0; j < TAG_LANES; j++) {
            memcpy(some + 2 * j, elements + (i + j) * stride, 2 * sizeof(word));
        }
        for (size_t v = 0; v < VECTORS; v++) {
            sums[v] = XOR(NAME(product)(sums[v], step), LOAD(some + v * NAME(words)));
        }
    }
    VECTOR total[VECTORS];
    word lanes[2 * TAG_LANES];
    for (size_t v = 0; v < VECTORS; v++) {
        total[v] = NAME(product)(sums[v], LOAD(powers + 2 + v * NAME(words)));
        STORE(lanes + v * NAME(words), total[v]);
    }
    tag[0] = tag[1] = 0;
    for (size_t j = 0; j < TAG_LANES; j++) {
        tag[0] ^= lanes[2 * j];
        tag[1] ^= lanes[2 * j + 1];
    }
}

/* The product of an element by one below x**16. */
TARGET INLINE __m128i NAME(short_product)(__m128i x, word factor) {
    const __m128i modulus = _mm_set_epi64x(0, 0x87), by = _mm_set_epi64x(0, (long long)factor);
    __m128i low = _mm_clmulepi64_si128(x, by, 0x00), high = _mm_clmulepi64_si128(x, by, 0x01);
    __m128i top = _mm_clmulepi64_si128(_mm_srli_si128(high, 8), modulus, 0x00);
    return _mm_xor_si128(_mm_xor_si128(low, _mm_slli_si128(high, 8)), top);
}

/* The stream's words `place` and on, `n` of them: AES in counter mode from block (number, 0). */
TARGET INLINE void NAME(draw)(const __m128i *schedule, word number, word place, size_t n, word *drawn) {
    for (size_t at = 0; at < n; at += NAME(series)) {
        VECTOR stream[SERIES];
        NAME(count)(number, (place + at) / 2, stream);
        NAME(encrypt)(schedule, stream);
        memcpy(drawn + at, stream, sizeof(stream));
    }
}

/*
 * Each row gets five entries of the secret, and five others times an element below x**16: rows and entries have
 * `across` elements, 1 or 2. Of the stream a piece of rows has five lines of as many words, each with two places in
 * its halves, and then 16 bits a row; n and `piece` are multiples of FIELD_ROWS.
 */
TARGET INLINE void NAME(add_field_rows)(
    const word *secret, word mask, const word *key, word number, size_t n, size_t piece, size_t across, word *rows
) {
    __m128i schedule[ROUNDS + 1];
    expand(key, schedule);
    for (size_t row = 0; row < n; row += FIELD_ROWS) {
        word drawn[HALF_WEIGHT][FIELD_ROWS], factors[FIELD_ROWS / 4];
        word start = row / piece * (HALF_WEIGHT * piece + piece / 4), inside = row % piece;
        for (size_t j = 0; j < HALF_WEIGHT; j++) {
            NAME(draw)(schedule, number, start + j * piece + inside, FIELD_ROWS, drawn[j]);
        }
        NAME(draw)(schedule, number, start + HALF_WEIGHT * piece + inside / 4, FIELD_ROWS / 4, factors);
        for (size_t i = 0; i < FIELD_ROWS; i++, rows += 2 * across) {
            word factor = factors[i / 4] >> 16 * (i % 4) & 0xffff;
            __m128i plain[2], scaled[2];
            for (size_t a = 0; a < across; a++) {
                plain[a] = _mm_loadu_si128((const __m128i *)rows + a);
                scaled[a] = _mm_setzero_si128();
            }
            for (size_t j = 0; j < HALF_WEIGHT; j++) {
                const __m128i *first = (const __m128i *)(secret + 2 * across * (drawn[j][i] & mask));
                const __m128i *second = (const __m128i *)(secret + 2 * across * (drawn[j][i] >> 32 & mask));
                for (size_t a = 0; a < across; a++) {
                    plain[a] = _mm_xor_si128(plain[a], _mm_loadu_si128(first + a));
                    scaled[a] = _mm_xor_si128(scaled[a], _mm_loadu_si128(second + a));
                }
            }
            for (size_t a = 0; a < across; a++) {
                __m128i product = NAME(short_product)(scaled[a], factor);
                _mm_storeu_si128((__m128i *)rows + a, _mm_xor_si128(plain[a], product));
            }
        }
    }
}

TARGET static void NAME(add_field_code)(
    const word *secret, word mask, const word *key, word number, size_t n, size_t piece, size_t across, word *rows
) {
    if (across == 1) {
        NAME(add_field_rows)(secret, mask, key, number, n, piece, 1, rows);
    } else {
        NAME(add_field_rows)(secret, mask, key, number, n, piece, 2, rows);
    }
}
