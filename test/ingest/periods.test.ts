import { describe, expect, test } from "bun:test"
import { createCalendar } from "../../src/ingest/calendar.ts"
import { periodOf } from "../../src/ingest/salts.ts"
import { personKey, rotatingIds } from "../../src/ingest/visitor.ts"
import { siteOf } from "./intake.ts"

const at = (text: string) => Date.parse(text)

describe("a salt's period", () => {
  test.each([
    [
      "daily",
      "Europe/Berlin",
      "2026-11-20T23:30:00Z",
      "2026-11-21",
      "2026-11-20T23:00:00Z",
      "2026-11-21T23:00:00Z",
      "2026-11-22T23:00:00Z",
    ],
    [
      "identified",
      "Asia/Kathmandu",
      "2026-11-20T18:20:00Z",
      "2026-11-21",
      "2026-11-20T18:15:00Z",
      "2026-11-21T18:15:00Z",
      "2026-11-22T18:15:00Z",
    ],
    [
      "daily",
      "Europe/Berlin",
      "2026-03-29T10:00:00Z",
      "2026-03-29",
      "2026-03-28T23:00:00Z",
      "2026-03-29T22:00:00Z",
      "2026-03-30T23:00:00Z",
    ],
    [
      "daily",
      "America/Sao_Paulo",
      "2018-11-04T12:00:00Z",
      "2018-11-04",
      "2018-11-04T03:00:00Z",
      "2018-11-05T02:00:00Z",
      "2018-11-06T03:00:00Z",
    ],
    ["weekly", "UTC", "2027-01-01T12:00:00Z", "2026-W53", "2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z", "2027-01-05T00:00:00Z"],
    [
      "weekly",
      "America/New_York",
      "2026-01-05T04:59:00Z",
      "2026-W01",
      "2025-12-29T05:00:00Z",
      "2026-01-05T05:00:00Z",
      "2026-01-06T05:00:00Z",
    ],
    ["monthly", "UTC", "2026-02-14T00:00:00Z", "2026-02", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"],
  ] as const)("%s in %s at %s is %s", (mode, zone, moment, name, from, to, expiresAt) => {
    expect(periodOf(mode, zone, at(moment))).toEqual({ name, from: at(from), to: at(to), expiresAt: at(expiresAt) })
  })
})

describe("the calendar", () => {
  test("knows the period before, as long as its salt lives", () => {
    const { periods } = createCalendar()
    const site = siteOf({ settings: { identity_mode: "weekly" } })
    const monday = at("2026-11-16T01:00:00Z")
    expect(periods(site, monday, monday)).toMatchObject({ current: { name: "2026-W47" }, previous: { name: "2026-W46" } })
    const tuesday = at("2026-11-17T00:00:00Z")
    expect(periods(site, tuesday, tuesday)).toMatchObject({ current: { name: "2026-W47" }, previous: undefined })
  })

  test("changes zone and mode when the running period ends", () => {
    const { periods } = createCalendar()
    const noon = at("2026-11-21T12:00:00Z")
    periods(siteOf({}), noon, noon)
    const changed = siteOf({ timezone: "Asia/Tokyo", settings: { identity_mode: "monthly" } })
    expect(periods(changed, noon + 1, noon + 1).current.name).toBe("2026-11-21")
    const next = at("2026-11-22T00:00:00Z")
    expect(periods(changed, next, next).current.name).toBe("2026-11")
  })

  test("gives the local day of many moments, in any order", () => {
    const { day } = createCalendar()
    const site = siteOf({ timezone: "America/New_York" })
    for (let round = 0; round < 2; round++) {
      for (let hour = 0; hour < 24 * 20; hour += 7) {
        const moment = at("2026-11-01T00:00:00Z") + hour * 3_600_000
        const expected = new Intl.DateTimeFormat("sv-SE", { timeZone: "America/New_York" }).format(moment)
        expect(day(site, moment)).toBe(expected)
      }
    }
  })
})

describe("a rotating id", () => {
  const salt = new Uint8Array(32).fill(7)
  const four = Uint8Array.of(1, 2, 3, 4)
  const six = (last: number, network = 1) => Uint8Array.of(0x20, 1, 0xd, 0xb8, 0, 0, 0, network, 9, 9, 9, 9, 9, 9, 9, last)
  const id = (address: Uint8Array | undefined, agent = "agent", site = 1, by = salt) =>
    rotatingIds([by], { siteId: site, address, userAgent: agent })[0]!

  test("is the first 64 bits of the keyed hash of site, address and user agent", () => {
    const hash = new Bun.CryptoHasher("sha256", salt)
      .update(Uint8Array.from([0x31, 0, 1, 2, 3, 4, 0, ...Buffer.from("agent")]))
      .digest("hex")
    const { high, low } = id(four)
    expect(high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0")).toBe(hash.slice(0, 16))
  })

  test("differs by site, address, user agent and salt", () => {
    const ids = [
      id(four),
      id(Uint8Array.of(1, 2, 3, 5)),
      id(four, "other"),
      id(four, "agent", 2),
      id(four, "agent", 1, new Uint8Array(32)),
      id(undefined),
    ]
    expect(new Set(ids.map(({ high, low }) => `${high} ${low}`)).size).toBe(ids.length)
  })

  test("takes of an IPv6 address its network, of a user agent 512 bytes", () => {
    expect(id(six(1))).toEqual(id(six(2)))
    expect(id(six(1))).not.toEqual(id(six(1, 2)))
    expect(id(four, "x".repeat(512))).toEqual(id(four, `${"x".repeat(512)}y`))
    expect(id(four, "é".repeat(512))).toEqual(id(four, "é".repeat(256)))
  })

  test("of a person says which kind of id made it", () => {
    expect(personKey(salt, "user", "1")).toEqual(personKey(salt, "user", "1"))
    expect(personKey(salt, "user", "1")).not.toEqual(personKey(salt, "device", "1"))
  })
})
