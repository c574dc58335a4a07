import { afterAll, beforeAll, expect, test } from "bun:test"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { type Person, signedIn } from "../person.ts"

const DAY_MS = 86_400_000
const NOTE = "Groups of fewer than 3 visitors are not shown."

let instance: TestInstance
let admin: Person
let slug: string
let yesterday: string

/** Yesterday one person from Germany; today four from Germany, three from Austria, and one from France, the only one who buys. */
beforeAll(async () => {
  instance = await startInstance({ settings: { geo_header: "cf-ipcountry", trusted_proxies: "198.51.100.0/24" } })
  const { clock } = instance
  let person = 0
  const visit = async (country: string, page: string) => {
    const headers = { "cf-ipcountry": country, "x-forwarded-for": `203.0.113.${person++}` }
    const referrer = `https://${country.toLowerCase()}.example/`
    await instance.collect({ n: "pageview", u: `https://shop.example${page}`, r: referrer }, { headers })
    await instance.collect({ n: "Look", u: `https://shop.example${page}`, p: { from: country } }, { headers })
  }
  yesterday = new Date(clock.now()).toISOString().slice(0, 10)
  await visit("DE", "/")
  clock.advance(DAY_MS)
  for (const country of ["DE", "DE", "DE", "DE", "AT", "AT", "AT"]) await visit(country, "/")
  await visit("FR", "/thanks")
  admin = await signedIn(instance, { role: "admin" })
  for (const value of ["/", "/thanks"]) await admin.post("/sites/1/goals", { kind: "page", value })
  const { body } = await admin.post("/sites/1/shares", { name: "For you", allow_export: true })
  slug = (body as { slug: string }).slug
})
afterAll(() => instance[Symbol.asyncDispose]())

const leastGroup = async (people: number) => expect((await admin.patch("/sites/1/settings", { min_group: people })).status).toBe(200)
const open = async <Body = Record<string, unknown>>(path: string): Promise<Body> => {
  const { status, body } = await instance.api.get(`/api/share/s/${slug}${path}`)
  expect(status).toBe(200)
  return body as Body
}
const named = (rows: unknown) => (rows as { value: string; visitors?: number }[]).map(({ value }) => value)

test("a breakdown omits small groups and notes it", async () => {
  await leastGroup(3)
  const path = "/stats/breakdown?dimension=country&period=today"
  const all = await open(path)
  expect(named(all.rows)).toEqual(["DE", "AT"])
  expect(all).toMatchObject({ total_rows: 2, has_more: false, notes: [NOTE] })
  // A page is filled with the remaining groups, in ascending order too.
  const least = await open(`${path}&order=asc&limit=1`)
  expect(least).toMatchObject({ rows: [{ value: "AT" }], total_rows: 2, has_more: true })
  // Groups are measured in people, whatever the metric.
  expect(named((await open(`${path}&metrics=pageviews`)).rows)).toEqual(["DE", "AT"])
  await leastGroup(1)
  const whole = await open(path)
  expect(named(whole.rows)).toEqual(["DE", "AT", "FR"])
  expect(whole.notes).toBeUndefined()
})

test("a comparison shows the previous value only if that group was not small either", async () => {
  const compared = `compare=custom&compare_from=${yesterday}&compare_to=${yesterday}`
  type Compared = { rows: { value: string; comparison?: { metrics: { visitors: number } } }[] }
  const visitorsBefore = async () =>
    (await open<Compared>(`/stats/breakdown?dimension=country&period=today&${compared}`)).rows.map(
      ({ value, comparison }) => `${value} ${comparison?.metrics.visitors}`,
    )
  await leastGroup(3)
  // The comparison does not reveal whether it was no one or one person.
  expect(await visitorsBefore()).toEqual(["DE undefined", "AT undefined"])
  await leastGroup(1)
  expect(await visitorsBefore()).toEqual(["DE 1", "AT 0", "FR 0"])
})

test("omits goals, events, properties and suggested values of small groups", async () => {
  await leastGroup(3)
  const goals = await open<{ goals: { name: string }[]; notes: string[] }>("/stats/goals?period=today")
  expect(goals.goals).toEqual([expect.objectContaining({ value: "/", visitors: 7 })])
  expect(goals.notes).toContain(NOTE)
  const ofOne = encodeURIComponent(JSON.stringify([{ dimension: "country", values: ["FR"] }]))
  expect((await open<{ goals: object[] }>(`/stats/goals?period=today&filters=${ofOne}`)).goals).toEqual([])
  expect((await open(`/stats/events?period=today&filters=${ofOne}`)).rows).toEqual([])
  const properties = await open<{ data: { values: object[]; total_values: number }[]; notes: string[] }>("/stats/properties?period=today")
  expect(named(properties.data[0]!.values)).toEqual(["DE", "AT"])
  expect(properties).toMatchObject({ data: [{ total_values: 2 }], notes: [NOTE] })
  expect(named((await open("/stats/values?dimension=country&period=today")).data)).toEqual(["DE", "AT"])
})

test("exports omit them too", async () => {
  await leastGroup(3)
  const lines = async (query: string) => (await open<string>(`/export?period=today&${query}`)).split("\r\n").slice(1, -1)
  expect((await lines("type=country")).map((line) => line.split(",")[0])).toEqual([`"DE"`, `"AT"`])
  expect((await lines("type=country&metrics=pageviews")).map((line) => line.split(",")[0])).toEqual([`"DE"`, `"AT"`])
  expect(await lines("type=goals")).toHaveLength(1)
  expect(await lines("type=timeseries")).not.toBeEmpty()
})

test("realtime omits small groups, and a single event does not reveal its visitor", async () => {
  type Panel = Record<"pages" | "sources" | "countries", object[]> & { visitors: number; events: Record<string, string>[] }
  await leastGroup(3)
  const shown = await open<Panel>("/stats/realtime")
  expect(shown.visitors).toBe(8)
  expect([named(shown.pages), named(shown.countries)]).toEqual([["/"], ["DE", "AT"]])
  expect(named(shown.sources)).toHaveLength(2)
  expect(shown.events[0]).toMatchObject({ name: "Look", page: "/thanks", country: "", source: "", device: "", browser: "" })
  await leastGroup(1)
  const whole = await open<Panel>("/stats/realtime")
  expect(named(whole.countries)).toEqual(["DE", "AT", "FR"])
  expect(whole.events[0]).toMatchObject({ country: "FR", device: "Desktop" })
})

test("totals are unchanged", async () => {
  await leastGroup(3)
  expect(await open("/stats/summary?period=today")).toMatchObject({ metrics: { visitors: 8 } })
  const { points } = await open<{ points: { visitors: number }[] }>(`/stats/timeseries?from=${yesterday}&to=${yesterday}&interval=day`)
  expect(points).toEqual([expect.objectContaining({ visitors: 1 })])
})
