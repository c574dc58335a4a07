import { afterAll, beforeAll, expect, test } from "bun:test"
import { bySize } from "#plugin/test"
import { type Stage, startStage } from "./kit.ts"

// Strangers must not learn from the time of an answer why a share leads nowhere.

let stage: Stage
const slugs: Record<string, string> = { unknown: "a".repeat(22) }
beforeAll(async () => {
  stage = await startStage()
  const { clock } = stage.instance
  const share = async (site: string, fields: object = {}) => {
    const board = ((await stage.post(`${site}/dashboards`, { name: "Board" })).body as { id: number }).id
    const path = `${site}/dashboards/${board}`
    const made = (await stage.post(`${path}/shares`, { name: "Share", ...fields })).body as { id: number; slug: string }
    return { path, share: `${path}/shares/${made.id}`, slug: made.slug }
  }
  const site = "/api/private/sites/1"
  const [expired, revoked, deleted] = [
    await share(site, { expires_at: new Date(clock.now() + 1_000).toISOString() }),
    await share(site),
    await share(site),
  ]
  const working = await share(site)
  clock.advance(1_000)
  await stage.send("DELETE", revoked.share)
  await stage.send("DELETE", deleted.path)
  const { id: organization } = (await stage.post("/api/private/organizations", { name: "Strict" })).body as { id: number }
  const other = await stage.post(`/api/private/organizations/${organization}/sites`, { name: "Other", hosts: ["other.example"] })
  const forbidden = await share(`/api/private/sites/${(other.body as { id: number }).id}`)
  await stage.send("PATCH", `/api/private/organizations/${organization}`, { policy: { public_links: "off" } })
  Object.assign(slugs, {
    working: working.slug,
    expired: expired.slug,
    revoked: revoked.slug,
    deleted: deleted.slug,
    forbidden: forbidden.slug,
  })
})
afterAll(() => stage[Symbol.asyncDispose]())

const TRIES = bySize({ check: 20, full: 2_000, release: 2_000 })

/** Asks for all names in turn and returns the milliseconds of each answer. */
async function timesOf(names: readonly string[], ask: (slug: string) => Promise<{ status: number }>): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>(names.map((name) => [name, []]))
  for (let i = 0; i < TRIES; i++)
    for (const name of names.map((_, place) => names[(place + i) % names.length]!)) {
      const startedAt = performance.now()
      const { status } = await ask(slugs[name]!)
      times.get(name)!.push(performance.now() - startedAt)
      expect([name, status]).toEqual([name, 404])
    }
  return times
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const varianceOf = (values: readonly number[]) => meanOf(values.map((value) => (value - meanOf(values)) ** 2))

/** Expects that no kind can be told from unknown shares: by Welch's t, or because the means differ by less than 1 %. */
function expectSameTimes(times: Map<string, number[]>): void {
  const unknown = times.get("unknown")!
  for (const [name, values] of times) {
    const difference = meanOf(values) - meanOf(unknown)
    const welch = difference / Math.sqrt(varianceOf(values) / TRIES + varianceOf(unknown) / TRIES || 1)
    const isSame = Math.abs(welch) < 4.5 || Math.abs(difference) / meanOf(unknown) < 0.01
    expect({ name, welch, difference, isSame }).toMatchObject({ name, isSame: true })
  }
}

const read = (slug: string) => stage.instance.api.get(`/api/share/d/${slug}`)
const page = (slug: string) => stage.instance.api.get(`/share/d/${slug}`)

test.each([
  ["the route", read],
  ["the page", page],
] as const)(
  "unknown, expired, revoked, deleted and forbidden shares take the same time, on %s",
  async (_, ask) => {
    expectSameTimes(await timesOf(["unknown", "expired", "revoked", "deleted", "forbidden"], ask))
  },
  3_600_000,
)

test("a share of a disabled plugin takes the time of an unknown one", async () => {
  await stage.instance.app.instance.plugins.turn("dashboards", false, null)
  // In turn, so that both meet the same load of the machine.
  const times = await timesOf(["unknown", "working"], read)
  await stage.instance.app.instance.plugins.turn("dashboards", true, null)
  expectSameTimes(times)
}, 3_600_000)
