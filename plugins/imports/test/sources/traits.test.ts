import { expect, test } from "bun:test"
import { HashIndex, TextTable } from "../../sources/hash-index.ts"
import { regionByName } from "../../sources/region-names.ts"
import { fromLocal, localDays, parseTime } from "../../sources/times.ts"
import { browserTraits, countryOf, deviceOf, regionOf, sizeOf, systemTraits } from "../../sources/traits.ts"

test.each([
  ["crios", "", { browser: "Chrome" }],
  ["Chrome 86", "", { browser: "Chrome", browser_version: "86" }],
  ["chrome", "120.0.6099.109", { browser: "Chrome", browser_version: "120.0" }],
  ["edge-chromium", "", { browser: "Microsoft Edge" }],
  ["Samsung Internet 4.0", "", { browser: "Samsung Internet", browser_version: "4.0" }],
  ["Ladybird", "", { browser: "Ladybird" }],
  ["Unknown", "", {}],
  ["", "", {}],
])("names the browser %p %p", (name, version, traits) => {
  expect(browserTraits(name, version)).toEqual(traits)
})

test.each([
  ["Windows 10", "", { os: "Windows", os_version: "10" }],
  ["Windows Server 2003", "", { os: "Windows", os_version: "Server 2003" }],
  ["Windows Phone 8", "", { os: "Windows Phone", os_version: "8" }],
  ["windows", "11", { os: "Windows", os_version: "11" }],
  ["macOS 10.15.7", "", { os: "Mac", os_version: "10.15" }],
  ["Mac OS", "", { os: "Mac" }],
  ["Android OS", "", { os: "Android" }],
  ["GNU/Linux", "", { os: "Linux" }],
  ["Chrome OS 120", "", { os: "Chrome OS", os_version: "120" }],
  ["", "", {}],
])("names the system %p %p", (name, version, traits) => {
  expect(systemTraits(name, version)).toEqual(traits)
})

test.each([
  ["laptop", "Desktop"],
  ["Smartphone", "Mobile"],
  ["phablet", "Mobile"],
  ["tv", "Other"],
  ["unknown", ""],
  ["", ""],
])("classes the device %p", (name, device) => {
  expect(deviceOf(name)).toBe(device)
})

test.each([
  ["us", "US"],
  ["UK", "GB"],
  ["United Kingdom", "GB"],
  ["Germany", "DE"],
  ["Serbia", "RS"],
  ["xx", ""],
  ["Atlantis", ""],
  ["", ""],
])("finds the country %p", (text, code) => {
  expect(countryOf(text)).toBe(code)
})

test.each([
  ["US", "US-CA", "US-CA"],
  ["US", "CA", "US-CA"],
  ["GB", "eng", "GB-ENG"],
  ["", "CA", ""],
  ["US", "California", ""],
])("finds the region of %p in %p", (country, text, region) => {
  expect(regionOf(country, text)).toBe(region)
})

test.each([
  ["1920x1080", "1440+"],
  ["375,812,3", "<576"],
  ["768", "768-991"],
  ["0x0", ""],
  ["wide", ""],
])("classes the screen %p", (screen, size) => {
  expect(sizeOf(screen)).toBe(size)
})

test.each([
  ["2026-03-15 10:00:00", "2026-03-15T09:00:00.000Z"],
  // The clocks skip this hour, and repeat the next one.
  ["2026-03-29 02:30:00", "2026-03-29T01:30:00.000Z"],
  ["2026-10-25 02:30:00", "2026-10-25T00:30:00.000Z"],
  ["2026-03-15", "2026-03-14T23:00:00.000Z"],
  ["2026-03-15T10:00:00.502Z", "2026-03-15T10:00:00.502Z"],
  ["2026-03-15 10:00:00.5+00", "2026-03-15T10:00:00.500Z"],
  ["2026-03-15 10:00:00 -0530", "2026-03-15T15:30:00.000Z"],
  ["2026-02-29 10:00:00", undefined],
  ["2026-03-15 10:60:00", undefined],
  ["2026-03-15 10:00:00 CET", undefined],
  ["0001-01-01 00:00:00", undefined],
  ["2026-3-15", undefined],
])("reads the time %p in Berlin", (text, instant) => {
  const at = parseTime(text, fromLocal("Europe/Berlin"))
  expect(at === undefined ? undefined : new Date(at).toISOString()).toBe(instant)
})

test("names the local day of an instant", () => {
  expect(localDays("Asia/Kathmandu")(Date.parse("2026-03-15T18:14:59Z"))).toBe("2026-03-15")
  expect(localDays("Asia/Kathmandu")(Date.parse("2026-03-15T18:15:00Z"))).toBe("2026-03-16")
})

test("an index keeps a number for each of 100,000 ids", () => {
  const index = new HashIndex()
  for (let number = 0; number < 100_000; number++) index.add(`id-${number}`, number)
  expect(index.add("id-5", 1)).toBe(false)
  index.set("id-7", 42)
  expect([index.count, index.get("id-5"), index.get("id-7"), index.get("id-99999"), index.get("id-100000")]).toEqual([
    100_000,
    5,
    42,
    99_999,
    undefined,
  ])
})

test("a table of texts stores each text once", () => {
  const texts = new TextTable()
  const numbers = Array.from({ length: 5_000 }, (_, number) => texts.add(`Grüße ${number % 2_500} 🙂`))
  expect(new Set(numbers).size).toBe(2_500)
  expect([texts.text(numbers[0]!), texts.text(numbers[2_499]!), texts.text(texts.add(""))]).toEqual(["Grüße 0 🙂", "Grüße 2499 🙂", ""])
  const long = "x".repeat(20_000_000)
  expect(texts.text(texts.add(long))).toBe(long)
  expect(texts.text(texts.add("after"))).toBe("after")
})

test.each([
  ["US", "California", "US-CA"],
  ["US", "District of Columbia", "US-DC"],
  ["DE", "Bavaria", "DE-BY"],
  ["DE", "Bayern", "DE-BY"],
  ["FR", "île-de-france", "FR-IDF"],
  ["BR", "State of Sao Paulo", "BR-SP"],
  ["PL", "Lower Silesian Voivodeship", "PL-02"],
  ["ES", "Community of Madrid", "ES-MD"],
  ["IE", "County Dublin", "IE-D"],
  ["DK", "Capital Region of Denmark", "DK-84"],
  ["KR", "Seoul", "KR-11"],
  ["TR", "Istanbul", "TR-34"],
  ["EG", "Cairo Governorate", "EG-C"],
  ["MX", "State of Mexico", "MX-MEX"],
  ["NZ", "Auckland", "NZ-AUK"],
  ["RU", "Moscow", "RU-MOW"],
  // Lima is a region and a province in it, and both are called so.
  ["PE", "Lima Province", ""],
  ["US", "Bavaria", ""],
  ["XX", "California", ""],
  ["DE", "", ""],
])("finds the region %p %p", (country, name, code) => {
  expect(regionByName(country, name)).toBe(code)
})
