import { expect, test } from "bun:test"
import { utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { readAddress } from "../../src/ingest/address/client-address.ts"
import { openPlaceFile } from "../../src/ingest/place/place.ts"
import { temporaryFolder } from "../kit.ts"
import { placeFileBytes } from "./place-file.ts"

const find = async (entry: Record<string, unknown>) => {
  using folder = temporaryFolder()
  const path = join(folder.path, "places.mmdb")
  writeFileSync(path, placeFileBytes({ "9.9.9.9": entry }))
  const file = openPlaceFile(path)
  expect(await file.refresh()).toBeUndefined()
  return file.find(readAddress("::ffff:9.9.9.9")!)
}

test.each([
  [
    "MaxMind's city file",
    {
      country: { iso_code: "US" },
      subdivisions: [{ iso_code: "CA" }, { iso_code: "X" }],
      city: { geoname_id: 5_391_959, names: { en: "San Francisco" } },
    },
    { country: "US", region: "US-CA", city: "5391959" },
  ],
  ["MaxMind's country file", { country: { iso_code: "DE" } }, { country: "DE", region: "", city: "" }],
  [
    "DB-IP's city file",
    { country: { iso_code: "FR" }, subdivisions: [{ names: { en: "Bretagne" } }], city: { names: { en: "Brest" } } },
    { country: "FR", region: "", city: "Brest" },
  ],
  ["a flat country file", { country_code: "it" }, { country: "IT", region: "", city: "" }],
  ["IPinfo's file", { country: "NL", city: "Delft" }, { country: "NL", region: "", city: "Delft" }],
  ["IPinfo's free file", { country: "Netherlands", country_code: "NL" }, { country: "NL", region: "", city: "" }],
  ["an entry without a country", { continent: { code: "EU" } }, { country: "", region: "", city: "" }],
])("reads %s", async (_, entry, expected) => {
  expect(await find(entry)).toEqual(expected)
})

test("returns nothing for an address that is not in the file", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "places.mmdb")
  writeFileSync(path, placeFileBytes({ "9.9.9.9": { country: { iso_code: "DE" } } }))
  const file = openPlaceFile(path)
  await file.refresh()
  expect(file.find(readAddress("8.8.8.8")!)).toEqual({ country: "", region: "", city: "" })
  expect(file.find(readAddress("2001:db8::1")!)).toEqual({ country: "", region: "", city: "" })
})

test("returns the same entry again after many others", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "places.mmdb")
  const addresses = Array.from({ length: 400 }, (_, index) => `9.${index >> 14}.${(index >> 7) & 127}.${index & 127}`)
  const entryAt = (index: number) => ({
    country: { iso_code: index % 2 ? "DE" : "US" },
    subdivisions: [{ iso_code: `S${index % 90}`, names: { en: `State ${index}` } }],
    city: { geoname_id: index + 1, names: { en: `City ${index}`, de: `Stadt ${index}` } },
  })
  writeFileSync(path, placeFileBytes(Object.fromEntries(addresses.map((address, index) => [address, entryAt(index)]))))
  const file = openPlaceFile(path)
  await file.refresh()
  const wrong = (index: number): boolean => {
    const address = readAddress(addresses[index]!)!
    const { country, region, city } = file.find(address)
    const code = index % 2 ? "DE" : "US"
    return (
      country !== code || region !== `${code}-S${index % 90}` || city !== String(index + 1) || file.cityName(address) !== `City ${index}`
    )
  }
  const everyFourth = addresses.flatMap((_, index) => (index % 4 === 0 ? [index] : []))
  const order = [...everyFourth, ...everyFourth, ...addresses.keys(), ...everyFourth]
  expect(order.filter(wrong)).toEqual([])
})

test("reads a file again when it changes, and keeps the old one while the new one is invalid", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "places.mmdb")
  const write = (bytes: Uint8Array, seconds: number) => {
    writeFileSync(path, bytes)
    utimesSync(path, seconds, seconds)
  }
  const file = openPlaceFile(path)
  const country = () => file.find(readAddress("9.9.9.9")!).country
  write(placeFileBytes({ "9.9.9.9": { country: { iso_code: "DE" } } }), 1_000)
  await file.refresh()
  expect([country(), file.builtAt()]).toEqual(["DE", 1_700_000_000_000])
  write(placeFileBytes({ "9.9.9.9": { country: { iso_code: "FR" } } }), 2_000)
  expect(country()).toBe("DE")
  await file.refresh()
  expect(country()).toBe("FR")
  write(new TextEncoder().encode("half a file"), 3_000)
  expect(await file.refresh()).toBeString()
  expect(country()).toBe("FR")
})
