import { expect, setDefaultTimeout, test } from "bun:test"
import { bySize, SEED } from "#plugin/test"
import { receiver, stand } from "../kit.ts"

setDefaultTimeout(600_000)

const MINUTE = 60_000
const DAY = 1_440 * MINUTE
const WINDOW = 120 * MINUTE
const STEP = 20 * MINUTE
/** Windows in seven days. */
const WINDOWS = (7 * DAY) / WINDOW

/** Whether a site is silent, written from the specification and independent of the product: nothing in the last window. */
const isSilent = (events: readonly number[], now: number): boolean => now - events.at(-1)! >= WINDOW

/** Whether something came in each of the windows of the seven days before. */
function wasBusy(events: readonly number[], now: number): boolean {
  const filled = new Set<number>()
  for (const at of events) {
    const index = Math.ceil((now - WINDOW - at) / WINDOW)
    if (index >= 1 && index <= WINDOWS) filled.add(index)
  }
  return filled.size === WINDOWS
}

test("an alert about missing data fires and ends as a model of interrupted traffic does", async () => {
  using hook = receiver()
  await using at = await stand([hook], { now: "2026-11-08T12:00:00Z" })
  const { instance } = at
  await at.webhook(hook.url())
  let state = SEED
  const chance = () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff
    return state / 0x7fff_ffff
  }
  const events: number[] = []
  const view = async () => {
    await instance.collect({ n: "pageview", u: "https://shop.example/", d: "shop.example" }, { address: "198.51.100.7" })
    events.push(instance.clock.now())
  }
  /** Milliseconds until the next event: now and then a little more than a window. */
  const pause = (): number => Math.floor((chance() < 0.15 ? 110 + 60 * chance() : 5 + 50 * chance()) * MINUTE) + 17
  for (const end = instance.clock.now() + 7 * DAY + 2 * WINDOW; instance.clock.now() < end; ) {
    await view()
    instance.clock.advance(Math.floor((30 + 70 * chance()) * MINUTE) + 17)
  }
  await at.work()
  const ask = await at.as({ role: "owner" }) // the session before has expired
  expect(await ask("POST", "/alerts", { type: "no_data", window_minutes: WINDOW / MINUTE })).toMatchObject({ status: 201 })

  const expected: string[] = []
  const fired: number[] = []
  let isFiring = false
  let next = instance.clock.now() + pause()
  const rounds = bySize({ check: 60, full: 2_000, release: 10_000 })
  for (let round = 0; round < rounds; round++) {
    const time = instance.clock.now() + STEP
    for (; next < time; next += pause()) {
      instance.clock.advance(next - instance.clock.now())
      await view()
    }
    await at.after(time - instance.clock.now())
    const stamp = new Date(time).toISOString().replace(/\.\d+/, "")
    const silent = isSilent(events, time)
    if (!isFiring && silent && wasBusy(events, time) && fired.filter((one) => time - one < DAY).length < 2) {
      isFiring = true
      fired.push(time)
      expected.push(`${stamp} traffic.stopped`)
    } else if (isFiring && !silent) {
      isFiring = false
      expected.push(`${stamp} traffic.resolved`)
    }
  }
  const received = hook.received
    .map(({ body }) => JSON.parse(body))
    .map(({ type, timestamp }) => `${timestamp.replace(/\.\d+/, "")} ${type}`)
  expect(expected.length).toBeGreaterThan(1)
  expect(received.filter((line) => line.includes("traffic."))).toEqual(expected)
})
