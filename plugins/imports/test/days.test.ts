import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { type DayRules, daySkips, daySpan, type HeldImport, localDay, maskedDays, OVERLAPS, rangesOf, retentionCutoff } from "../days.ts"

const DAYS = Array.from({ length: 8 }, (_, at) => new Date(Date.UTC(2026, 2, 25 + at)).toISOString().slice(0, 10))

describe("masked days", () => {
  const held = (id: number, change: Partial<HeldImport> = {}): HeldImport => ({
    ...{ id, overlap: "native_wins", timezone: "Europe/Berlin", finishedAt: id, days: DAYS.slice(0, 3) },
    ...change,
  })
  const masksOf = (...imports: HeldImport[]) =>
    Object.fromEntries([...maskedDays(imports)].map(([id, days]) => [id, Object.fromEntries(days)]))

  test("belong to the import that was completed first", () => {
    expect(masksOf(held(2, { days: DAYS.slice(2, 4) }), held(1))).toEqual({ 1: {}, 2: { [DAYS[2]!]: 1 } })
  })
  test("are taken over by an import that wins over imports", () => {
    expect(masksOf(held(1), held(2, { overlap: "import_wins_over_imports", days: [DAYS[0]!] }))).toEqual({ 1: { [DAYS[0]!]: 2 }, 2: {} })
  })
  test("never hide an import that accepts double counting, which holds free days", () => {
    const days = DAYS.slice(0, 2)
    expect(masksOf(held(1, { days }), held(2, { overlap: "allow" }), held(3, { days: DAYS.slice(2, 4) }))).toEqual({
      1: {},
      2: {},
      3: { [DAYS[2]!]: 2 },
    })
  })
  test("of different zones exclude each other if they share an instant", () => {
    const later = held(2, { timezone: "America/New_York", days: [DAYS[2]!, DAYS[3]!] })
    expect(masksOf(held(1, { days: [DAYS[2]!] }), later)).toEqual({ 1: {}, 2: { [DAYS[2]!]: 1 } })
  })

  /** Tells of every quarter of an hour who holds it. */
  function bruteForce(imports: readonly HeldImport[]): Map<number, Map<string, number>> {
    const holders = new Map<number, { by: HeldImport; day: string }>()
    const masked = new Map<number, Map<string, number>>(imports.map(({ id }) => [id, new Map()]))
    const quartersOf = (day: string, timezone: string) => {
      const { from, to } = daySpan(day, timezone)
      return Array.from({ length: (to - from) / 900_000 }, (_, at) => from / 900_000 + at)
    }
    const order = imports.toSorted((a, b) => a.finishedAt - b.finishedAt || a.id - b.id)
    for (const one of order) {
      for (const day of one.days) {
        const own = quartersOf(day, one.timezone)
        const others = own.map((quarter) => holders.get(quarter)).filter((holder) => holder !== undefined)
        const wins = one.overlap === "import_wins_over_imports"
        if (others.length > 0 && !wins) {
          if (one.overlap !== "allow") masked.get(one.id)!.set(day, others[0]!.by.id)
          continue
        }
        for (const { by, day: lost } of others) {
          for (const [quarter, holder] of holders) if (holder.by === by && holder.day === lost) holders.delete(quarter)
          if (by.overlap !== "allow") masked.get(by.id)!.set(lost, one.id)
        }
        for (const quarter of own) holders.set(quarter, { by: one, day })
      }
    }
    for (const { id, timezone } of imports) {
      const days = masked.get(id)!
      for (const day of days.keys()) {
        const now = quartersOf(day, timezone)
          .map((quarter) => holders.get(quarter))
          .find((holder) => holder !== undefined)
        if (now) days.set(day, now.by.id)
      }
    }
    return masked
  }

  const anyImport = fc.record({
    overlap: fc.constantFrom(...OVERLAPS),
    timezone: fc.constantFrom("Europe/Berlin", "UTC", "America/New_York", "Pacific/Kiritimati", "Asia/Kathmandu"),
    finishedAt: fc.integer({ min: 1, max: 4 }),
    days: fc.subarray(DAYS, { minLength: 1 }),
    isShown: fc.boolean(),
  })
  const identified = (imports: readonly Omit<HeldImport, "id">[]): HeldImport[] => imports.map((one, at) => ({ ...one, id: at + 1 }))

  test("are those of a model that knows the holder of every quarter of an hour, whatever was run, hidden or undone", () => {
    fc.assert(
      fc.property(fc.array(anyImport, { maxLength: 6 }), fc.boolean(), (all, oneZone) => {
        const shown = identified(all.map((one) => (oneZone ? { ...one, timezone: "UTC" } : one))).filter((_, at) => all[at]!.isShown)
        expect(maskedDays(shown)).toEqual(bruteForce(shown))
      }),
      { numRuns: 500 },
    )
  })
  test("are the same after an import was added and undone again", () => {
    fc.assert(
      fc.property(fc.array(anyImport, { minLength: 1, maxLength: 5 }), fc.nat(), (all, which) => {
        const imports = identified(all)
        const without = imports.filter((_, at) => at !== which % imports.length)
        const before = maskedDays(without)
        maskedDays(imports)
        expect(maskedDays(without)).toEqual(before)
      }),
    )
  })
  test("leave every instant to one import, except for those that accept double counting", () => {
    fc.assert(
      fc.property(fc.array(anyImport, { maxLength: 6 }), (all) => {
        const imports = identified(all)
        const masked = maskedDays(imports)
        const spans = imports
          .filter(({ overlap }) => overlap !== "allow")
          .flatMap(({ id, days, timezone }) =>
            days.filter((day) => !masked.get(id)!.has(day)).map((day) => ({ id, ...daySpan(day, timezone) })),
          )
        const clashes = spans.filter((a) => spans.some((b) => a.id !== b.id && a.from < b.to && b.from < a.to))
        expect(clashes).toEqual([])
      }),
    )
  })
})

describe("skipped days", () => {
  const rules: DayRules = { overlap: "native_wins", today: "2026-11-21", nativeFrom: "2026-11-10", cutoff: "2026-01-01" }

  test.each([
    ["native_wins", { "2026-11-09": undefined, "2026-11-10": "native", "2026-11-15": "native" }],
    ["import_wins_over_imports", { "2026-11-09": undefined, "2026-11-10": "native" }],
    ["fill_gaps", { "2026-11-10": "native", "2026-11-11": undefined, "2026-11-12": "native" }],
    ["allow", { "2026-11-10": undefined, "2026-11-21": undefined }],
  ] as const)("follow the policy %s on days with native visits", (overlap, days) => {
    const skipOf = daySkips({ ...rules, overlap, nativeDays: ["2026-11-10", "2026-11-12"] })
    expect(Object.fromEntries(Object.keys(days).map((day) => [day, skipOf(day)]))).toEqual(days)
  })
  test("lie before the cutoff of the retention, or in the future, under every policy", () => {
    for (const overlap of OVERLAPS) {
      const skipOf = daySkips({ ...rules, overlap })
      expect([skipOf("2025-12-31"), skipOf("2026-01-01"), skipOf("2026-11-22")]).toEqual(["beyond_retention", undefined, "in_future"])
    }
  })
  test("begin at the first day that the retention removes", () => {
    expect([retentionCutoff("2026-03-01", 1), retentionCutoff("2026-03-01", null)]).toEqual(["2026-02-28", undefined])
  })
})

test("a day of an instant is that of the zone", () => {
  expect(localDay(Date.parse("2026-03-28T23:30:00Z"), "Europe/Berlin")).toBe("2026-03-29")
})
test("a day has 23 hours when clocks are set forward", () => {
  const { from, to } = daySpan("2026-03-29", "Europe/Berlin")
  expect((to - from) / 3_600_000).toBe(23)
})
test("groups consecutive days with the same value", () => {
  expect(
    rangesOf([
      ["2026-03-30", "a"],
      ["2026-03-31", "a"],
      ["2026-04-01", "b"],
      ["2026-04-03", "b"],
    ]),
  ).toEqual([
    { from: "2026-03-30", to: "2026-03-31", value: "a" },
    { from: "2026-04-01", to: "2026-04-01", value: "b" },
    { from: "2026-04-03", to: "2026-04-03", value: "b" },
  ])
})
