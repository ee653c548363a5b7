/*
 * GHASH of columns, for one width of registers: as cipher_kernels.h, before which kernels.c includes it.
 *
 * The field's order of bits is that of AES-GCM: the highest bit of the first byte is the coefficient of 1. With
 * the bytes of a block reversed, bit 127 - k of a number is the coefficient of x**k, and bit 254 - k of a product
 * without carries.
 */

enum { NAME(across) = sizeof(VECTOR) / sizeof(__m128i) };

#define REVERSED_BYTES _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f)

/*
 * The product of one block with its weight, added to sums of three products of halves (Karatsuba): the middle one
 * is that of the sums of halves, which has the low and the high one in it.
 */
TARGET INLINE void NAME(multiply_add)(VECTOR block, VECTOR weight, VECTOR *low, VECTOR *middle, VECTOR *high) {
    *low = XOR(*low, MULTIPLY(block, weight, 0x00));
    *high = XOR(*high, MULTIPLY(block, weight, 0x11));
    *middle = XOR(*middle, MULTIPLY(XOR(block, EXCHANGE(block)), XOR(weight, EXCHANGE(weight)), 0x00));
}

/* Sum of `n` blocks of a column times as many weights, with 256 bits as they come out: to be reduced. */
TARGET static void NAME(weigh_blocks)(const word *column, const word *weights, size_t n, __m128i *found) {
    VECTOR low = FILL(0), middle = FILL(0), high = FILL(0);
    size_t i = 0;
    for (; i + NAME(across) <= n; i += NAME(across)) {
        VECTOR block = REORDER(LOAD(column + 2 * i), SPREAD(REVERSED_BYTES));
        NAME(multiply_add)(block, LOAD(weights + 2 * i), &low, &middle, &high);
    }
    __m128i parts[3][NAME(across)], one[3];
    STORE(parts[0], low);
    STORE(parts[1], middle);
    STORE(parts[2], high);
    for (int part = 0; part < 3; part++) {
        one[part] = parts[part][0];
        for (int k = 1; k < NAME(across); k++) {
            one[part] = _mm_xor_si128(one[part], parts[part][k]);
        }
    }
    one[1] = _mm_xor_si128(one[1], _mm_xor_si128(one[0], one[2]));
    for (; i < n; i++) {
        __m128i block = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(column + 2 * i)), REVERSED_BYTES);
        __m128i weight = _mm_loadu_si128((const __m128i *)(weights + 2 * i));
        one[0] = _mm_xor_si128(one[0], _mm_clmulepi64_si128(block, weight, 0x00));
        one[2] = _mm_xor_si128(one[2], _mm_clmulepi64_si128(block, weight, 0x11));
        one[1] = _mm_xor_si128(
            one[1],
            _mm_xor_si128(_mm_clmulepi64_si128(block, weight, 0x01), _mm_clmulepi64_si128(block, weight, 0x10))
        );
    }
    found[0] = _mm_xor_si128(one[0], _mm_slli_si128(one[1], 8));
    found[1] = _mm_xor_si128(one[2], _mm_srli_si128(one[1], 8));
}

/*
 * As duetto_tags. Blocks are weighed by the powers SEGMENT + 1 to 2 of h; where a column has more of them, what has
 * been found so far is multiplied by h**SEGMENT first.
 */
TARGET static void NAME(tags)(const word *columns, size_t stride, size_t n, size_t w, const word *h, word *tags) {
    word weights[2 * SEGMENT];
    size_t blocks = w / 2 + w % 2, most = blocks < SEGMENT ? blocks : SEGMENT;
    __m128i one = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)h), REVERSED_BYTES), power = one, product[2];
    for (size_t i = SEGMENT; i-- > SEGMENT - most;) {
        product_of(power, one, product);
        power = reduce(product);
        _mm_storeu_si128((__m128i *)(weights + 2 * i), power); /* place SEGMENT - j has h**(j + 1) */
    }
    __m128i whole = _mm_loadu_si128((const __m128i *)(weights + (SEGMENT > 1 ? 2 : 0))); /* h**SEGMENT */
    for (size_t c = 0; c < n; c++, columns += stride, tags += 2) {
        __m128i found = _mm_setzero_si128(), sum[2];
        size_t first = blocks % SEGMENT ? blocks % SEGMENT : most, size;
        for (size_t at = 0; at < blocks; at += size) {
            size = at ? SEGMENT : first;
            const word *from = columns + 2 * at, *by = weights + 2 * (SEGMENT - size);
            size_t whole_blocks = at + size == blocks ? size - w % 2 : size;
            NAME(weigh_blocks)(from, by, whole_blocks, sum);
            if (whole_blocks < size) { /* the last one has 8 bytes */
                word last[2] = {from[2 * whole_blocks], 0};
                __m128i rest[2], block = _mm_loadu_si128((const __m128i *)last);
                product_of(_mm_shuffle_epi8(block, REVERSED_BYTES), _mm_loadu_si128((const __m128i *)(by + 2 * whole_blocks)), rest);
                sum[0] = _mm_xor_si128(sum[0], rest[0]);
                sum[1] = _mm_xor_si128(sum[1], rest[1]);
            }
            if (at) {
                product_of(found, whole, product);
                sum[0] = _mm_xor_si128(sum[0], product[0]);
                sum[1] = _mm_xor_si128(sum[1], product[1]);
            }
            found = reduce(sum);
        }
        _mm_storeu_si128((__m128i *)tags, _mm_shuffle_epi8(found, REVERSED_BYTES));
    }
}

#undef REVERSED_BYTES
#undef EXCHANGE
