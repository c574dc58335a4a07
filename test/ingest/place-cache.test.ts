import { expect, test } from "bun:test"
import { PlaceCache } from "../../src/ingest/place/mmdb.ts"
import { shortEntry } from "../../src/ingest/place/place.ts"

/** Keeps texts, by their length, and nothing else. */
const lengths = (most: number) => new PlaceCache(most, (value) => (typeof value === "string" ? value.length : undefined))

test("keeps what is left of an entry, and where the next one begins", () => {
  const cache = lengths(10)
  expect(cache.get(7)).toBeUndefined()
  cache.set(7, { value: "four", offset: 20 })
  expect(cache.get(7)).toEqual({ value: 4, offset: 20 })
})

test("keeps no parts of entries", () => {
  const cache = lengths(10)
  cache.set(7, { value: { names: {} }, offset: 20 })
  expect(cache.get(7)).toBeUndefined()
})

test("keeps no more than it may, and those that are asked for longest", () => {
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
  ["a place on the map", { latitude: 1, longitude: 2 }],
  ["a text", "DE"],
  ["a list", [{ iso_code: "BE" }]],
])("takes %s for a part of an entry", (_, value) => {
  expect(shortEntry(value)).toBeUndefined()
})

test("a flat entry is kept, whatever number its city has beside it", () => {
  const flat = { city: "Berlin", country: "DE", geoname_id: "2950159", region: "Berlin", lat: "52.5" }
  expect(shortEntry(flat)).toMatchObject({ country: "DE", city: "Berlin" })
})
