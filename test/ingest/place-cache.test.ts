import { expect, test } from "bun:test"
import { PlaceCache } from "../../src/ingest/place/mmdb.ts"
import { reducedEntry } from "../../src/ingest/place/place.ts"

/** Caches the length of strings and ignores all other values. */
const lengths = (capacity: number) => new PlaceCache(capacity, (value) => (typeof value === "string" ? value.length : undefined))

test("returns the decoded entry and the offset of the next one", () => {
  const cache = lengths(10)
  expect(cache.get(7)).toBeUndefined()
  cache.set(7, { value: "four", offset: 20 })
  expect(cache.get(7)).toEqual({ value: 4, offset: 20 })
})

test("does not cache parts of entries", () => {
  const cache = lengths(10)
  cache.set(7, { value: { names: {} }, offset: 20 })
  expect(cache.get(7)).toBeUndefined()
})

test("stays within its capacity and retains the entries that are used often", () => {
  const cache = lengths(10)
  cache.set(0, { value: "first", offset: 1 })
  for (let at = 1; at <= 100; at++) {
    cache.set(at, { value: "another", offset: at })
    expect(cache.get(0)).toEqual({ value: 5, offset: 1 })
  }
  const kept = Array.from({ length: 101 }, (_, at) => cache.get(at)).filter((decoded) => decoded !== undefined)
  expect(kept.length).toBeWithin(5, 11)
})

test.each([
  ["a country", { iso_code: "DE", names: { en: "Germany" }, continent: "EU" }],
  ["a city", { geoname_id: 1, names: { en: "Berlin" }, country: "DE" }],
  ["a city without a name", { geoname_id: 1, city: {} }],
  ["names", { en: "City", city: "x" }],
  ["coordinates", { latitude: 1, longitude: 2 }],
  ["a string", "DE"],
  ["a list", [{ iso_code: "BE" }]],
])("treats %s as part of an entry", (_, value) => {
  expect(reducedEntry(value)).toBeUndefined()
})

test("caches a flat entry, including one with a geoname id", () => {
  const flat = { city: "Berlin", country: "DE", geoname_id: "2950159", region: "Berlin", lat: "52.5" }
  expect(reducedEntry(flat)).toMatchObject({ country: "DE", city: "Berlin" })
})
