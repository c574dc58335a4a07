import { expect, test } from "bun:test"
import { numbersOfPseudonyms, pseudonyms } from "../../../src/query/show/pseudonyms.ts"

const KEY = Uint8Array.from({ length: 32 }, (_, i) => i)

// Computed independently in Python with OpenSSL's AES: ten Feistel rounds with a key derived by HKDF-SHA-256.
test.each([
  ["visitor", 0, "7aca682cdc43936f"],
  ["visitor", 1, "50f2ca0542b7bf43"],
  ["visitor", 2, "dbdd44841aa64cc0"],
  ["visitor", 2 ** 32 - 1, "04cfd5fce4807857"],
  ["visitor", 2 ** 32, "23f035ef2bf85cf6"],
  ["visitor", 2 ** 53 - 1, "41884e556a11b116"],
  ["visit", 0, "466344644c674504"],
  ["visit", 1, "5fc6c496a6216d72"],
  ["visit", 2 ** 53 - 1, "824a207d0aaf6988"],
] as const)("converts %s %p to the pseudonym %p and back", (kind, number, expected) => {
  expect(pseudonyms(KEY, kind)([number])).toEqual([expected])
  expect(numbersOfPseudonyms(KEY, kind)([expected])).toEqual([number])
})

test("gives each number its own pseudonym, regardless of the numbers in the same call", () => {
  const name = pseudonyms(KEY, "visitor")
  const numbers = Array.from({ length: 20_000 }, (_, i) => i)
  const names = name(numbers)
  expect(new Set(names).size).toBe(20_000)
  expect(names.every((each) => /^[0-9a-f]{16}$/.test(each))).toBe(true)
  expect(name([19_999, 7])).toEqual([names[19_999]!, names[7]!])
  expect(name([])).toEqual([])
  expect(numbersOfPseudonyms(KEY, "visitor")(names)).toEqual(numbers)
})

test("gives the same visitor another pseudonym on another site", () => {
  const other = Uint8Array.from(KEY, (byte) => byte ^ 1)
  expect(pseudonyms(other, "visitor")([1])).not.toEqual(pseudonyms(KEY, "visitor")([1]))
})
