import fc from "fast-check"

/** Strings that no well-behaved client sends. */
export const strangeText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.constantFrom(
    ...["", " ", "\0", "\ud800", "\udfff\ud800", "\u202e", "%00", "a".repeat(3_000)],
    ...["__proto__", "constructor", "toString", "../../etc/passwd", "' or 1=1 --"],
    ...["-0", "NaN", "null", "1", "01", "1.5", "//", "?", "#"],
  ),
)

/** Values of any type that no well-behaved client sends. */
export const strangeValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: strangeText },
  fc.integer(),
  fc.double(),
  fc.constantFrom<unknown>(-1, 0, 1, 1.5, 255, 2 ** 31, 2 ** 53, 1e308, -1e308, null, true, false, [], {}, [[]], { __proto__: null }),
  fc.array(strangeText, { maxLength: 3 }),
  fc.jsonValue({ maxDepth: 4 }),
  fc
    .constantFrom('{"__proto__":{"polluted":1}}', '{"constructor":{"prototype":{"polluted":1}}}')
    .map((text) => JSON.parse(text) as unknown),
)
