import { expect, test } from "bun:test"
import { lastDue, nextDue, plan } from "../../reports/calendar.ts"
import { REPORT_KINDS, type ReportKind, type Run } from "../../reports/report.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR
const at = (text: string) => Date.parse(text)
const LENGTHS = { daily: { days: 1 }, weekly: { weeks: 1 }, monthly: { months: 1 } } as const
const ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Santiago", "Pacific/Chatham"]

test.each([
  ["daily", 7, "Europe/Berlin", "2026-11-21T06:00:00Z", "2026-11-20", "2026-11-20"],
  ["weekly", 7, "Europe/Berlin", "2026-11-16T06:00:00Z", "2026-11-09", "2026-11-15"],
  ["monthly", 7, "Europe/Berlin", "2026-11-01T06:00:00Z", "2026-10-01", "2026-10-31"],
  ["daily", 0, "America/New_York", "2026-11-21T05:00:00Z", "2026-11-20", "2026-11-20"],
  ["daily", 23, "Asia/Kathmandu", "2026-11-20T17:15:00Z", "2026-11-19", "2026-11-19"],
] as const)("a %s report at %d o'clock in %s was last due at %s", (kind, hour, zone, due, from, to) => {
  const last = lastDue({ kind, hour }, zone, at("2026-11-21T12:00:00Z"))
  expect({ at: new Date(last.at).toISOString(), from: last.period.from, to: last.period.to }).toEqual({
    at: new Date(due).toISOString(),
    from,
    to,
  })
})

test.each([
  // Berlin skips 2:00 to 3:00 on 29 March 2026, and has 2:00 twice on 25 October.
  ["a skipped hour", 2, "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"],
  ["a repeated hour", 2, "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:00:00Z"],
  // Lord Howe skips half an hour on 4 October 2026.
  ["a skipped half hour", 2, "Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-03T15:30:00Z"],
  // Santiago begins 6 September 2026 at 1:00.
  ["a day without midnight", 0, "America/Santiago", "2026-09-05T12:00:00Z", "2026-09-06T04:00:00Z"],
])("%s is due at the next time that exists", (_, hour, zone, after, due) => {
  expect(new Date(nextDue({ kind: "daily", hour }, zone, at(after))).toISOString()).toBe(new Date(due).toISOString())
})

/** A small generator of random numbers between 0 and 1. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff
    return state / 0x7fff_ffff
  }
}

interface Life {
  kind: ReportKind
  hour: number
  zone: string
  sent: { to: string; at: number }[]
  state: { kind: ReportKind; hour: number; next_at: number; sent: readonly Run[] }
}

/** Does at a moment what the job does, with the state that is stored. */
function run(life: Life, now: number): void {
  const { state, zone } = life
  const isDue = state.next_at <= now || state.next_at > now + { daily: 2, weekly: 8, monthly: 32 }[state.kind] * DAY
  if (!isDue) return
  const planned = plan(state, zone, now)
  if (planned.period) life.sent.push({ to: planned.period.to, at: now })
  life.state = { ...state, next_at: planned.next_at, sent: planned.period ? planned.sent : state.sent }
}

const lives = ZONES.flatMap((zone) => REPORT_KINDS.flatMap((kind) => [0, 2, 7, 23].map((hour) => ({ zone, kind, hour }))))
const born = ({ zone, kind, hour }: Pick<Life, "zone" | "kind" | "hour">, now: number): Life => ({
  ...{ zone, kind, hour, sent: [] },
  state: { kind, hour, next_at: nextDue({ kind, hour }, zone, now), sent: [] },
})

test("over three years each period is sent once, in its hour", () => {
  for (const one of lives) {
    const start = at("2025-01-15T00:00:00Z")
    const life = born(one, start)
    for (let now = start; now < start + 3 * 365 * DAY; now += HOUR / 4) run(life, now)
    const count = { daily: 3 * 365, weekly: 156, monthly: 35 }[one.kind]
    expect(Math.abs(life.sent.length - count)).toBeLessThanOrEqual(1)
    // Each period begins where the one before ends.
    const ends = life.sent.map(({ to }) => Temporal.PlainDate.from(to).add({ days: 1 }))
    for (const [index, end] of ends.entries())
      if (index > 0) expect(end.toString()).toBe(ends[index - 1]!.add(LENGTHS[one.kind]).toString())
    for (const { at: sentAt } of life.sent) {
      const local = Temporal.Instant.fromEpochMilliseconds(sentAt).toZonedDateTimeISO(one.zone)
      // A skipped time is moved by as much as the clock was.
      expect(local.hour === one.hour || local.hour === one.hour + 1).toBe(true)
      if (one.kind === "weekly") expect(local.dayOfWeek).toBe(1)
      if (one.kind === "monthly") expect(local.day).toBe(1)
    }
  }
})

test("no period is sent twice, whatever the clock does, and none is left out while it runs", () => {
  const chance = random(7)
  for (const one of lives) {
    let now = at("2025-01-15T00:00:00Z")
    const life = born(one, now)
    for (let step = 0; step < 3_000; step++) {
      const luck = chance()
      // Mostly an hour passes. Sometimes the process is down for days, or the clock is set forward or back by up to 500 days.
      if (luck < 0.97) now += HOUR
      else if (luck < 0.985) now += Math.floor(chance() * 5 * DAY)
      else now += Math.floor((chance() - 0.5) * 1_000 * DAY)
      run(life, now)
    }
    expect(new Set(life.sent.map(({ to }) => to)).size).toBe(life.sent.length)
    // Afterwards everything is as usual, from the first period that was not sent before.
    const before = life.sent.length
    const quiet = Math.max(now, at("2032-01-01T00:00:00Z"))
    for (let later = quiet; later < quiet + 70 * DAY; later += HOUR) run(life, later)
    expect(life.sent.length - before).toBeGreaterThanOrEqual({ daily: 69, weekly: 9, monthly: 2 }[one.kind])
  }
})

test("a report that starts late is sent once within 24 hours, and not afterwards", () => {
  const due = at("2026-11-23T06:00:00Z")
  for (const [late, isSent] of [
    [0, true],
    [23 * HOUR, true],
    [24 * HOUR, true],
    [24 * HOUR + 1, false],
  ] as const) {
    const life = born({ zone: "Europe/Berlin", kind: "weekly", hour: 7 }, due - DAY)
    run(life, due + late)
    run(life, due + late + HOUR)
    expect({ late, sent: life.sent.length }).toEqual({ late, sent: isSent ? 1 : 0 })
  }
})
