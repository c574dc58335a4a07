import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  constantOf,
  decodeFloat64,
  decodeUint32,
  encodeColumn,
  encodeGroup,
  groupFloat64,
  groupUint32,
  isZero,
  openGroup,
} from "../../../src/store/events/bytes/codec.ts"

const uint32 = fc.array(fc.oneof(fc.nat(3), fc.nat(300), fc.nat(70_000), fc.integer({ min: 0, max: 0xffff_ffff })), {
  minLength: 1,
  maxLength: 300,
})
const whole = fc.array(fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -9, max: 9 }), fc.integer()), { minLength: 1, maxLength: 300 })

describe("encodes and decodes a column without loss", () => {
  test("of 32-bit numbers", async () => {
    await fc.assert(
      fc.asyncProperty(uint32, async (values) => {
        expect([...decodeUint32(await encodeColumn(Uint32Array.from(values)))]).toEqual(values)
      }),
      { seed: 7 },
    )
  })

  // Amounts, times and sequences stay within ±2^52 of each other, so the difference of two is exact.
  test("of integers up to 2^52", async () => {
    await fc.assert(
      fc.asyncProperty(whole, async (given) => {
        const values = given.map((value) => Math.trunc(value / 4) + 0)
        expect([...decodeFloat64(await encodeColumn(Float64Array.from(values)))]).toEqual(values)
      }),
      { seed: 7 },
    )
  })

  test("in a group of 32-bit numbers, differences and integers up to 2^52", async () => {
    const column = fc.tuple(fc.array(fc.integer(), { maxLength: 50 }), uint32, whole)
    await fc.assert(
      fc.asyncProperty(column, async ([differences, values, given]) => {
        const integers = given.map((value) => Math.trunc(value / 4) + 0)
        const columns = [Int32Array.from(differences), Uint32Array.from(values), Float64Array.from(integers), new Uint32Array(9)]
        const group = openGroup(await encodeGroup(columns))
        expect([...Int32Array.from(groupUint32(group, 0))]).toEqual(differences)
        expect([...groupUint32(group, 1)]).toEqual(values)
        expect([...groupFloat64(group, 2)]).toEqual(integers)
        expect([...groupUint32(group, 3)]).toEqual(Array(9).fill(0))
        expect([0, 1, 2, 3].map((index) => isZero(group, index))).toEqual(
          [differences, values, integers, [0]].map((numbers) => numbers.every((value) => value === 0)),
        )
      }),
      { seed: 7 },
    )
  })

  test.each([
    ["ascending times", Array.from({ length: 500 }, (_, row) => 1_790_000_000_000 + row * 977)],
    ["an outlier", [0, 0, 0, 2 ** 50]],
    ["negative amounts", [-(10 ** 15), 10 ** 15, -1, 0, 1]],
  ])("of %s", async (_, values) => {
    expect([...decodeFloat64(await encodeColumn(Float64Array.from(values)))]).toEqual(values)
  })
})

test("stores a constant column as its value", () => {
  expect(constantOf(Uint32Array.of(4, 4, 4))).toBe(4)
  expect(constantOf(Uint32Array.of(4, 4, 5))).toBeUndefined()
  expect(constantOf(new Uint32Array(0))).toBe(0)
})

test("rejects a column with any damaged byte", async () => {
  const bytes = await encodeColumn(Uint32Array.from({ length: 100 }, (_, row) => row * row))
  for (let at = 0; at < bytes.length; at++) {
    const damaged = bytes.slice()
    damaged[at]! ^= 1
    expect(() => decodeUint32(damaged)).toThrow("damaged")
  }
  expect(() => decodeUint32(bytes.subarray(0, 10))).toThrow("damaged")
  const group = await encodeGroup([Uint32Array.from({ length: 100 }, (_, row) => row * row)])
  for (let at = 0; at < group.length; at++) {
    const damaged = group.slice()
    damaged[at]! ^= 1
    expect(() => openGroup(damaged)).toThrow("damaged")
  }
  expect(() => openGroup(group.subarray(0, 7))).toThrow("damaged")
})
