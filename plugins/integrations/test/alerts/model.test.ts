import { expect, setDefaultTimeout, test } from "bun:test"
import { bySize, SEED } from "#plugin/test"
import { receiver, stand } from "../kit.ts"

setDefaultTimeout(600_000)

const MINUTE = 60_000
const DAY = 1_440 * MINUTE

/** What the model remembers of an event. */
interface Seen {
  at: number
  visitor: number
  name: string
}

/** A rule of the model, written from the specification and independent of the product. */
interface Rule {
  spec: { type: string; threshold: number; window_minutes?: number; goal_id?: number }
  event: string
  /** Minutes between two evaluations. */
  every: number
  holds(seen: readonly Seen[], now: number): boolean
}

const within = (seen: readonly Seen[], now: number, minutes: number) => seen.filter(({ at }) => at >= now - minutes * MINUTE && at <= now)
const visitors = (seen: readonly Seen[]) => new Set(seen.map(({ visitor }) => visitor)).size
const named = (seen: readonly Seen[], name: string) => seen.filter((one) => one.name === name).length

test("alerts fire, stay silent and end as a model of simulated traffic does", async () => {
  using hook = receiver()
  await using at = await stand([hook], { now: "2026-11-16T12:00:00Z" })
  const { instance } = at
  await at.webhook(hook.url())
  await instance.api.post("/api/public/v1/sites/1/goals", { name: "Signup", kind: "event", value: "Signup" }, instance.key)
  const goal_id = (await at.ask("GET", "/goals")).body.data[0].id
  await at.after(DAY + MINUTE)
  const rules: Rule[] = [
    {
      spec: { type: "spike", threshold: 4 },
      ...{ event: "traffic.spike", every: 1 },
      // Current visitors: an event after now - 5 min.
      holds: (seen, now) => visitors(seen.filter((one) => one.at > now - 5 * MINUTE && one.at <= now)) >= 4,
    },
    {
      spec: { type: "drop", threshold: 3, window_minutes: 20 },
      ...{ event: "traffic.drop", every: 5 },
      holds: (seen, now) => visitors(within(seen, now, 20)) < 3,
    },
    {
      spec: { type: "goal", threshold: 3, window_minutes: 15, goal_id },
      ...{ event: "traffic.goal", every: 5 },
      holds: (seen, now) => named(within(seen, now, 15), "Signup") >= 3,
    },
    {
      spec: { type: "not_found", threshold: 4, window_minutes: 10 },
      ...{ event: "traffic.not_found", every: 5 },
      holds: (seen, now) => named(within(seen, now, 10), "404") >= 4,
    },
  ]
  for (const { spec } of rules) expect(await at.ask("POST", "/alerts", spec)).toMatchObject({ status: 201 })

  let state = SEED
  const chance = () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff
    return state / 0x7fff_ffff
  }
  const seen: Seen[] = []
  // Rounds without alerts are skipped, so the first one is over all alerts.
  const model = rules.map(() => ({ isFiring: false, fired: [] as number[], lastAt: Number.NEGATIVE_INFINITY }))
  const expected: string[] = []
  const received = () =>
    hook.received
      .map(({ body }) => JSON.parse(body))
      .filter(({ type }) => type.startsWith("traffic."))
      .map(({ type, timestamp, data }) => `${timestamp} ${type} ${data.alert_id}`)
  const minutes = bySize({ check: 120, full: 900, release: 5_000 })
  for (let minute = 0; minute < minutes; minute++) {
    const now = instance.clock.now()
    // Traffic comes in waves.
    const wave = 1 + Math.sin(minute / 17) + Math.sin(minute / 5)
    for (let i = Math.floor(chance() * 3 * Math.max(0, wave)); i > 0; i--) {
      const [visitor, luck] = [Math.floor(chance() * 30), chance()]
      const name = luck < 0.7 ? "pageview" : luck < 0.85 ? "Signup" : "404"
      await instance.collect({ n: name, u: "https://shop.example/", d: "shop.example" }, { address: `198.51.100.${visitor + 1}` })
      seen.push({ at: now, visitor, name })
    }
    await at.after(MINUTE)
    const time = instance.clock.now()
    for (const [index, rule] of rules.entries()) {
      const own = model[index]!
      if (time - own.lastAt < rule.every * MINUTE) continue
      own.lastAt = time
      const holds = rule.holds(seen, time)
      const recent = own.fired.filter((fired) => time - fired < DAY).length
      const stamp = new Date(time).toISOString().replace(".000", "")
      if (holds && !own.isFiring && recent < 2) {
        own.isFiring = true
        own.fired.push(time)
        expected.push(`${stamp} ${rule.event} ${index + 1}`)
      } else if (!holds && own.isFiring) {
        own.isFiring = false
        expected.push(`${stamp} traffic.resolved ${index + 1}`)
      }
    }
  }
  expect(expected.length).toBeGreaterThan(5)
  expect(received().toSorted()).toEqual(expected.toSorted())
})
