import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { PeopleSet } from "../../src/domain/people.ts"
import { definePlugin } from "../../src/plugin/contract.ts"
import type { SetReader, VisitorSet } from "../../src/services/people/visitor-sets.ts"
import { type McpInstance, openMcp } from "../http/mcp/client.ts"
import type { SignInAs } from "../kit.ts"

/** Sets of the site 1, by id. */
const SETS = { ANN: 1, BROKEN: 2, SMALL: 3, LONG: 4, PEOPLE: 5 } as const
const DAY = 86_400_000

/** Persons by the addresses that they visit from. */
const ANN = "198.51.100.1"
const BOB = "198.51.100.2"

let instance: McpInstance
const chosen: { ordinals: number[] } = { ordinals: [] }
const people: Record<string, string> = {}

const groups = definePlugin({
  id: "groups",
  title: "Groups",
  setup: ({ now }) => ({
    visitorSets: {
      async find(site, id, { seesPeople }: SetReader) {
        if (site.id !== 1) return undefined
        if (id === SETS.BROKEN) return "broken"
        if (!Object.values(SETS).some((known) => known === id)) return undefined
        const days = id === SETS.LONG ? 30 : 0
        return {
          windows: days > 0 ? [{ from: now() - days * DAY, to: now() }] : [],
          ...(id === SETS.PEOPLE && { restrict: "identified" as const }),
          among: async (scope): Promise<PeopleSet | "hidden"> =>
            id === SETS.SMALL && !seesPeople
              ? "hidden"
              : { key: `groups ${id}`, scope, until: now() + DAY, members: { by: "visitors", visitors: chosen.ordinals } },
        } satisfies VisitorSet
      },
    },
  }),
})

beforeAll(async () => {
  instance = await openMcp({ plugins: [groups] })
  for (const [address, page] of [
    [ANN, "/"],
    [ANN, "/pricing"],
    [BOB, "/"],
  ])
    await instance.collect({ n: "pageview", u: `https://shop.example${page}`, d: "shop.example" }, { address: address! })
  // Ordinals are assigned in the order of first appearance.
  chosen.ordinals = [0]
  const roles: Record<string, SignInAs> = { owner: { role: "owner" }, viewer: { role: "viewer" } }
  for (const [name, standing] of Object.entries(roles)) people[name] = await instance.signIn(standing)
})
afterAll(() => instance[Symbol.asyncDispose]())

const cohort = (id: number, operator = "is") => JSON.stringify([{ dimension: "cohort", operator, values: [id] }])
const asUser = async (name: "owner" | "viewer", path: string) => {
  const request = new Request(`http://localhost/api/private/sites/1${path}`, { headers: { cookie: people[name]! } })
  const response = await instance.fetch(request)
  return { status: response.status, body: (await response.json()) as { errors?: { pointer: string }[] } }
}
const summary = (id: number, { period = "today", operator = "is", name = "owner" as "owner" | "viewer" } = {}) =>
  asUser(name, `/stats/summary?period=${period}&filters=${encodeURIComponent(cohort(id, operator))}`)
const publicStats = (report: string, id: number, period = "today") =>
  instance.api.get(`/api/public/v1/sites/1/${report}?period=${period}&filters=${encodeURIComponent(cohort(id))}`, instance.key)

const query = (id: number, { operator = "is", date_range = "day" } = {}) =>
  instance.api.post(
    "/api/public/v1/query",
    { site_id: 1, metrics: ["visitors", "pageviews"], date_range, filters: [[operator, "cohort", [id]]] },
    instance.key,
  )

async function callTool(given: object): Promise<{ isError?: true; result: unknown }> {
  const { isError, structuredContent, content } = await instance.call("get_summary", { site_id: 1, ...given })
  return { ...(isError && { isError }), result: structuredContent ?? JSON.parse(content[0]!.text) }
}

const IDENTITY = { mode: "daily", horizon_days: 1, coverage: 100, restricted: false, boundary_days: [] }

describe("a filter by a set", () => {
  test("counts its people in the flat form, and the answer says how people are recognized", async () => {
    expect((await summary(SETS.ANN)).body).toMatchObject({ metrics: { visitors: 1, pageviews: 2 }, identity: IDENTITY })
    expect((await summary(SETS.ANN, { operator: "is_not" })).body).toMatchObject({
      metrics: { visitors: 1, pageviews: 1 },
      identity: IDENTITY,
    })
    expect((await asUser("owner", "/stats/summary?period=today")).body).not.toHaveProperty("identity")
  })

  test("counts its people in the array form", async () => {
    expect((await query(SETS.ANN)).body).toMatchObject({ results: [{ metrics: [1, 2] }], meta: { identity: IDENTITY } })
    expect((await query(SETS.ANN, { operator: "is_not" })).body).toMatchObject({ results: [{ metrics: [1, 1] }] })
  })

  test("works in reports of the public API, in a tool call and in exports", async () => {
    expect((await publicStats("stats/summary", SETS.ANN)).body).toMatchObject({ metrics: { pageviews: 2 }, identity: IDENTITY })
    const filters = [{ dimension: "cohort", operator: "is", values: [SETS.ANN] }]
    expect(await callTool({ period: "today", filters })).toMatchObject({
      result: { metrics: { pageviews: 2 }, identity: IDENTITY },
    })
    const path = `/api/public/v1/sites/1/export?type=visits&format=json&period=today&filters=${encodeURIComponent(cohort(SETS.ANN))}`
    expect((await instance.api.get(path, instance.key)).body).toMatchObject({ identity: IDENTITY, data: [{ pageviews: 2 }] })
  })

  test("is locked by a shared view, which is empty once the set is gone or hidden", async () => {
    const { shares, sites } = instance.app.instance
    const site = await sites.get(1)
    const share = async (id: number) => {
      const made = await shares.create(site, { name: `Set ${id}`, locked_filters: JSON.parse(cohort(id)) }, 1)
      const { body } = await instance.api.get(`/api/share/s/${made.slug}/stats/summary?period=today`)
      return body
    }
    expect(await share(SETS.ANN)).toMatchObject({ metrics: { pageviews: 2 } })
    expect(await share(SETS.SMALL)).toMatchObject({ metrics: { pageviews: 0 } })
    await expect(share(99)).rejects.toMatchObject({ code: "validation_failed" })
    await expect(share(SETS.BROKEN)).rejects.toMatchObject({ members: { errors: [{ code: "broken_reference" }] } })
  })
})

describe("a set that a caller cannot use", () => {
  const INVALID = { errors: [{ code: "invalid_choice" }] }

  test("is an invalid choice when it is unknown or belongs to another site", async () => {
    for (const answer of [await summary(99), await publicStats("stats/summary", 99)])
      expect(answer).toMatchObject({ status: 400, body: { code: "invalid_query", ...INVALID } })
    expect(await query(99)).toMatchObject({ status: 422, body: INVALID })
  })

  test("is a broken reference for users, and an invalid choice for API keys and tools", async () => {
    expect(await summary(SETS.BROKEN)).toMatchObject({
      status: 422,
      body: { code: "broken_reference", errors: [{ pointer: "/filters/0/values", code: "broken_reference" }] },
    })
    expect(await publicStats("stats/summary", SETS.BROKEN)).toMatchObject({ status: 400, body: INVALID })
    expect(await query(SETS.BROKEN)).toMatchObject({ status: 422, body: INVALID })
    const filters = [{ dimension: "cohort", operator: "is", values: [SETS.BROKEN] }]
    expect(await callTool({ period: "today", filters })).toMatchObject({
      isError: true,
      result: { code: "invalid_argument" },
    })
  })

  test("is an invalid choice for those who must not learn its size", async () => {
    expect((await summary(SETS.SMALL)).body).toMatchObject({ metrics: { visitors: 1 } })
    expect(await summary(SETS.SMALL, { name: "viewer" })).toMatchObject({ status: 400, body: INVALID })
    expect(await publicStats("stats/summary", SETS.SMALL)).toMatchObject({ status: 400, body: INVALID })
    expect(await query(SETS.SMALL)).toMatchObject({ status: 422, body: INVALID })
  })

  test("is an invalid choice while its plugin is off", async () => {
    await instance.app.instance.plugins.turn("groups", false, null)
    expect(await summary(SETS.ANN)).toMatchObject({ status: 400, body: INVALID })
    await instance.app.instance.plugins.turn("groups", true, null)
    expect((await summary(SETS.ANN)).status).toBe(200)
  })

  test("is reported with the other faults of the request", async () => {
    const { body } = await asUser("owner", `/stats/summary?period=never&filters=${encodeURIComponent(cohort(99))}`)
    expect(body.errors?.map(({ pointer }) => pointer)).toEqual(["/period", "/filters/0/values"])
  })

  test("cannot choose what an erasure removes", async () => {
    const request = new Request("http://localhost/api/private/sites/1/erase/preview", {
      method: "POST",
      headers: { cookie: people.owner!, "content-type": "application/json" },
      body: JSON.stringify({ period: "today", filters: JSON.parse(cohort(SETS.ANN)) }),
    })
    const response = await instance.fetch(request)
    expect(await response.json()).toMatchObject({ errors: [{ code: "invalid_choice" }] })
  })
})

describe("the identity rule", () => {
  const REFUSED = { code: "identity_insufficient", needed_days: 7, mode: "daily", horizon_days: 1 }

  test("refuses a range longer than the identity, in every interface", async () => {
    expect(await summary(SETS.ANN, { period: "7d" })).toMatchObject({ status: 422, body: REFUSED })
    expect(await publicStats("stats/summary", SETS.ANN, "7d")).toMatchObject({ status: 422, body: REFUSED })
    expect(await query(SETS.ANN, { date_range: "7d" })).toMatchObject({
      status: 422,
      body: { ...REFUSED, options: ["shorten_window", "switch_mode"] },
    })
    const filters = [{ dimension: "cohort", operator: "is", values: [SETS.ANN] }]
    expect(await callTool({ period: "7d", filters })).toMatchObject({
      isError: true,
      result: { ...REFUSED, message: expect.stringContaining("leave out the cohort") },
    })
    const path = `/api/public/v1/sites/1/export?type=visits&period=7d&filters=${encodeURIComponent(cohort(SETS.ANN))}`
    expect(await instance.api.get(path, instance.key)).toMatchObject({ status: 422, body: REFUSED })
  })

  test("adds the windows of the set, and a compared range", async () => {
    expect(await summary(SETS.LONG)).toMatchObject({ status: 422, body: { ...REFUSED, needed_days: 31 } })
    const compared = await asUser(
      "owner",
      `/stats/summary?period=today&compare=previous_period&filters=${encodeURIComponent(cohort(SETS.ANN))}`,
    )
    expect(compared).toMatchObject({ status: 422, body: { ...REFUSED, needed_days: 2 } })
  })

  test("refuses a set of identified people on a site that identifies no one", async () => {
    expect(await summary(SETS.PEOPLE)).toMatchObject({ status: 422, body: { code: "identity_insufficient" } })
  })
})

test("on a site that identifies users, a longer range compares identified people only, and says how many visits they made", async () => {
  await using identified = await openMcp({ plugins: [groups] })
  await identified.app.instance.sites.configure(1, { identity_mode: "identified" })
  const view = (x?: string) => ({ n: "pageview", u: "https://shop.example/", d: "shop.example", ...(x && { x }) })
  await identified.collect(view("ann"), { address: ANN })
  await identified.collect(view(), { address: BOB })
  await identified.collect(view(), { address: "198.51.100.3" })
  const [ann] = await identified.app.instance.people.find(await identified.app.instance.sites.get(1), "ann")
  chosen.ordinals = [ann!, 2]
  const filters = encodeURIComponent(cohort(SETS.ANN))
  const { body } = await identified.api.get(`/api/public/v1/sites/1/stats/summary?period=7d&filters=${filters}`, identified.key)
  expect(body).toMatchObject({
    // Of the two in the set, one is not identified.
    metrics: { visitors: 1 },
    identity: { mode: "identified", horizon_days: null, coverage: 33.3, restricted: true, boundary_days: [] },
  })
  chosen.ordinals = [0]
})
