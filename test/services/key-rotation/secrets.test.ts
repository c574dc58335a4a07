import { expect, test } from "bun:test"
import { createSecrets } from "../../../src/services/secrets/secrets.ts"

const place = { table: "salts", row: "1 2026-11-21", purpose: "salt" }
const plain = new TextEncoder().encode("thirty-two bytes that are secret")
const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))
const key = (fill: number) => new Uint8Array(32).fill(fill)
const secrets = createSecrets({ secretKey: key(1), random })

test("opens a sealed value, which does not reveal its content", () => {
  const sealed = secrets.seal(plain, place)
  expect(secrets.open(sealed, place)).toEqual(plain)
  expect(Buffer.from(sealed).includes(Buffer.from(plain.subarray(0, 8)))).toBe(false)
  expect(secrets.seal(plain, place)).not.toEqual(sealed)
  expect(createSecrets({ secretKey: key(1), random }).open(sealed, place)).toEqual(plain)
  expect(secrets.open(secrets.seal(new Uint8Array(), place), place)).toEqual(new Uint8Array())
})

test.each([
  ["another row", { ...place, row: "2 2026-11-21" }],
  ["another table", { ...place, table: "site_keys" }],
  ["another purpose", { ...place, purpose: "identity" }],
  ["a row that is a number", { table: "salts", row: 1, purpose: "salt" }],
])("does not open in %s", (_, other) => {
  expect(secrets.open(secrets.seal(plain, place), other)).toBeUndefined()
})

test("does not open if a byte was changed or some are missing", () => {
  const sealed = secrets.seal(plain, place)
  for (let i = 0; i < sealed.length; i++) {
    const changed = Uint8Array.from(sealed)
    changed[i]! ^= 1
    expect(secrets.open(changed, place)).toBeUndefined()
    expect(secrets.open(sealed.subarray(0, i), place)).toBeUndefined()
  }
})

test("another secret key opens a value only if the former key is also known", () => {
  const sealed = secrets.seal(plain, place)
  expect(createSecrets({ secretKey: key(2), random }).open(sealed, place)).toBeUndefined()
  expect(createSecrets({ secretKey: key(2), former: [key(1)], random }).open(sealed, place)).toEqual(plain)
})
