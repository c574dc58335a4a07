import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { Site, SiteSettings } from "../../src/domain/site.ts"
import { changedHistory, createCalendar, periodAt, periodOf } from "../../src/ingest/identity/salt-period.ts"
import { identityOf, personKey } from "../../src/ingest/identity/visitor.ts"
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
    // Cairo's midnight does not exist on that day: it begins at 01:00, UTC+3.
    ["daily", "Africa/Cairo", "2026-04-24T12:00:00Z", "2026-04-24", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z", "2026-04-25T22:00:00Z"],
    ["weekly", "Europe/Berlin", "2026-11-18T12:00:00Z", "2026-W47", "2026-11-15T23:00:00Z", "2026-11-22T23:00:00Z", "2026-11-23T23:00:00Z"],
    ["monthly", "Asia/Tokyo", "2026-12-14T00:00:00Z", "2026-12", "2026-11-30T15:00:00Z", "2026-12-31T15:00:00Z", "2027-01-01T15:00:00Z"],
    ["monthly", "UTC", "2026-02-14T00:00:00Z", "2026-02", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"],
  ] as const)("%s in %s at %s is %s", (mode, zone, moment, name, from, to, expiresAt) => {
    expect(periodOf(mode, zone, at(moment))).toEqual({ name, from: at(from), to: at(to), expiresAt: at(expiresAt) })
  })
})

describe("the calendar", () => {
  test("returns the previous period, whose salt outlives its end by a day", () => {
    const { periods } = createCalendar()
    const site = siteOf({ settings: { identity_mode: "weekly" } })
    const { current, previous } = periods(site, at("2026-11-16T01:00:00Z"))
    expect(current.name).toBe("2026-W47")
    expect(previous).toMatchObject({ name: "2026-W46", expiresAt: at("2026-11-17T00:00:00Z") })
  })

  test("returns the local day of many moments, in any order", () => {
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

describe("a change of time zone or mode", () => {
  type Change = [at: string, next: { timezone?: string; mode?: SiteSettings["identity_mode"] }]
  /** A site that starts with UTC days, after the given changes. */
  const siteAfter = (...changes: Change[]): Site =>
    changes.reduce((site, [moment, { timezone = site.timezone, mode = site.settings.identity_mode }]) => {
      const identity_history = changedHistory(site, { timezone, identity_mode: mode }, at(moment))
      return siteOf({ timezone, settings: { identity_mode: mode }, identity_history })
    }, siteOf({}))
  const nameAt = (site: Site, moment: string) => periodAt(site, at(moment)).name

  test("takes effect when the running period ends", () => {
    const site = siteAfter(["2026-11-21T12:00:00Z", { timezone: "Asia/Tokyo", mode: "monthly" }])
    expect(nameAt(site, "2026-11-20T12:00:00Z")).toBe("2026-11-20")
    expect(periodAt(site, at("2026-11-21T23:59:59Z"))).toMatchObject({ name: "2026-11-21", to: at("2026-11-22T00:00:00Z") })
    expect(periodAt(site, at("2026-11-22T00:00:00Z"))).toEqual({
      name: "2026-11 Asia/Tokyo",
      from: at("2026-11-22T00:00:00Z"),
      to: at("2026-11-30T15:00:00Z"),
      expiresAt: at("2026-12-01T15:00:00Z"),
    })
    expect(nameAt(site, "2026-11-30T15:00:00Z")).toBe("2026-12 Asia/Tokyo")
  })

  test("to monthly and back creates one short month", () => {
    const site = siteAfter(["2026-11-21T12:00:00Z", { mode: "monthly" }], ["2026-12-10T12:00:00Z", { mode: "daily" }])
    expect(nameAt(site, "2026-11-30T23:59:59Z")).toBe("2026-11 UTC")
    expect(nameAt(site, "2026-12-31T23:59:59Z")).toBe("2026-12 UTC")
    expect(nameAt(site, "2027-01-01T00:00:00Z")).toBe("2027-01-01 UTC")
  })

  test("that is reverted before it begins leaves no trace in the periods", () => {
    const site = siteAfter(["2026-11-21T12:00:00Z", { mode: "monthly" }], ["2026-11-21T13:00:00Z", { mode: "daily" }])
    expect(site.identity_history).toEqual([{ from: 0, timezone: "UTC", identity_mode: "daily", mode_changed_on: ["2026-11-21"] }])
    expect(nameAt(site, "2026-11-22T00:00:00Z")).toBe("2026-11-22")
  })

  test("records the local day of a mode change, but not of a zone change", () => {
    const site = siteAfter(
      ["2026-11-21T12:00:00Z", { timezone: "Asia/Tokyo" }],
      ["2026-11-22T15:00:00Z", { mode: "weekly" }],
      ["2026-11-22T16:00:00Z", { mode: "identified" }],
      ["2026-11-25T12:00:00Z", { mode: "monthly" }],
    )
    expect(site.identity_history.map(({ identity_mode, mode_changed_on = [] }) => [identity_mode, ...mode_changed_on])).toEqual([
      ["daily"],
      ["daily", "2026-11-23"],
      ["identified", "2026-11-25"],
      ["monthly"],
    ])
  })

  test("that is made twice in a period takes its last value", () => {
    const site = siteAfter(["2026-11-21T12:00:00Z", { mode: "monthly" }], ["2026-11-21T13:00:00Z", { mode: "weekly" }])
    expect(nameAt(site, "2026-11-22T00:00:00Z")).toBe("2026-W47 UTC")
    expect(nameAt(site, "2026-11-23T00:00:00Z")).toBe("2026-W48 UTC")
  })

  test("to the west gives the repeated date a different salt", () => {
    const site = siteAfter(
      ["2026-11-20T12:00:00Z", { timezone: "Pacific/Kiritimati" }],
      ["2026-11-21T12:00:00Z", { timezone: "Etc/GMT+12" }],
    )
    expect(nameAt(site, "2026-11-21T09:59:59Z")).toBe("2026-11-21 Pacific/Kiritimati")
    expect(nameAt(site, "2026-11-22T10:00:00Z")).toBe("2026-11-21 Etc/GMT+12")
  })

  test("never creates a gap, an overlap, or a repeated name", () => {
    const zones = fc.constantFrom(
      "UTC",
      "Europe/Berlin",
      "America/New_York",
      "Australia/Lord_Howe",
      "Asia/Kathmandu",
      "Africa/Cairo",
      "Etc/GMT+12",
      "Pacific/Kiritimati",
    )
    const modes = fc.constantFrom("daily" as const, "weekly" as const, "monthly" as const, "identified" as const)
    const change = fc.record({ after: fc.integer({ min: 0, max: 40 * 24 }), timezone: zones, mode: modes })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        // Begins before the spring clock changes of all these zones.
        const start = at("2026-02-20T00:00:00Z")
        let now = start
        let site = siteOf({})
        for (const { after, timezone, mode } of changes) {
          now += after * 3_600_000
          const before = periodAt(site, now)
          const identity_history = changedHistory(site, { timezone, identity_mode: mode }, now)
          site = siteOf({ timezone, settings: { identity_mode: mode }, identity_history })
          expect(periodAt(site, now)).toEqual(before)
        }
        const names = new Set<string>()
        for (let period = periodAt(site, start); period.from < now + 70 * 86_400_000; ) {
          expect(names.has(period.name)).toBe(false)
          names.add(period.name)
          expect(period.to).toBeGreaterThan(period.from)
          expect(period.expiresAt).toBeGreaterThanOrEqual(period.to)
          expect(periodAt(site, period.to - 1)).toEqual(period)
          const next = periodAt(site, period.to)
          expect(next.from).toBe(period.to)
          period = next
        }
      }),
      { seed: 7, numRuns: 100 },
    )
  })
})

describe("a rotating id", () => {
  const salt = new Uint8Array(32).fill(7)
  const four = Uint8Array.of(1, 2, 3, 4)
  const six = (last: number, network = 1) => Uint8Array.of(0x20, 1, 0xd, 0xb8, 0, 0, 0, network, 9, 9, 9, 9, 9, 9, 9, last)
  const id = (address: Uint8Array | undefined, agent = "agent", site = 1, by = salt) =>
    identityOf({ current: { period: "", salt: by }, previous: undefined }, { siteId: site, address, userAgent: agent }).current.id

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

  test("uses the network of an IPv6 address, and 512 bytes of the user agent", () => {
    expect(id(six(1))).toEqual(id(six(2)))
    expect(id(six(1))).not.toEqual(id(six(1, 2)))
    expect(id(four, "x".repeat(512))).toEqual(id(four, `${"x".repeat(512)}y`))
    expect(id(four, "é".repeat(512))).toEqual(id(four, "é".repeat(256)))
  })

  test("of an identified user differs from that of a device", () => {
    expect(personKey(salt, "user", "1")).toEqual(personKey(salt, "user", "1"))
    expect(personKey(salt, "user", "1")).not.toEqual(personKey(salt, "device", "1"))
    const long = "\u{1f600}".repeat(256)
    const hash = new Bun.CryptoHasher("sha256", salt).update(`user:${long}`).digest()
    expect(personKey(salt, "user", long)).toEqual({ high: hash.readUInt32BE(0), low: hash.readUInt32BE(4) })
  })
})
