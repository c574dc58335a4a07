import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import Bowser from "bowser"
import { ALIASES, storedName } from "../../../src/domain/value-aliases.ts"
import { SOURCES } from "../../../src/ingest/data/sources.ts"
import { agentOf, BROWSER_NAMES, OS_NAMES } from "../../../src/ingest/request/agent.ts"
import { startInstance, type TestInstance } from "../../kit.ts"

let instance: TestInstance
beforeAll(async () => {
  instance = await startInstance({ now: "2026-11-21T12:00:00Z" })
  const LINUX = "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0"
  const MAC =
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0"
  const view = (more: object) => ({ name: "pageview", url: "https://shop.example/", ...more })
  const events = [
    view({ ip: "203.0.113.1", user_agent: LINUX, referrer: "https://t.co/abc" }),
    view({ ip: "203.0.113.2", user_agent: MAC, url: "https://shop.example/4347778?utm_source=Twitter" }),
    { name: "Signup", url: "/", ip: "203.0.113.1", user_agent: LINUX, props: { plan: "pro" } },
  ]
  const sent = await instance.api.post("/api/public/v1/sites/1/events", { events }, instance.eventsKey)
  expect(sent.body).toMatchObject({ accepted: 3 })
  await instance.app.instance.goals.create(instance.site, { kind: "event", value: "Signup" })
})
afterAll(() => instance[Symbol.asyncDispose]())

interface Answer {
  results: { metrics: number[] }[]
  meta: { warnings?: { code: string; dimension: string; value: string; warning: string }[] }
}
const ask = async (...filters: unknown[]): Promise<Answer> => {
  const body = { site_id: 1, metrics: ["visitors"], date_range: "day", filters }
  return (await instance.api.post("/api/public/v1/query", body, instance.statsKey)).body as Answer
}
const visitors = async (...filters: unknown[]) => (await ask(...filters)).results[0]?.metrics[0]
const absent = async (...filters: unknown[]) =>
  (await ask(...filters)).meta.warnings?.map(({ dimension, value }) => `${dimension} ${value}`)

describe("names of other products", () => {
  test.each<[unknown[], number]>([
    [["is", "visit:source", ["X"]], 2],
    [["is", "visit:source", ["Twitter"]], 2],
    [["is", "visit:source", ["twitter"], { case_sensitive: false }], 2],
    [["is_not", "visit:source", ["Twitter"]], 0],
    [["is", "visit:os", ["GNU/Linux"]], 1],
    [["is", "visit:os", ["Mac OS"]], 1],
    [["is", "visit:browser", ["Edge"]], 1],
    [["is", "visit:device", ["desktop"]], 2],
    // A part of a name is no name of another product.
    [["contains", "visit:source", ["Twitter"]], 0],
    // A campaign tag is stored as it was sent.
    [["is", "visit:utm_source", ["Twitter"]], 1],
    [["is", "visit:utm_source", ["X"]], 0],
  ])("%j in a query", async (filter, count) => {
    expect(await visitors(filter)).toBe(count)
  })

  test("in a filter of the flat form", async () => {
    const filters = encodeURIComponent('[{"dimension":"source","values":["Twitter"]}]')
    const report = await instance.api.get(
      `/api/public/v1/sites/1/stats/summary?period=today&metrics=visitors&filters=${filters}`,
      instance.statsKey,
    )
    expect(report.body).toMatchObject({ metrics: { visitors: 2 } })
  })

  test("stand for names that are really stored", () => {
    const chrome = (system: string) => `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36`
    expect(agentOf(chrome("X11; Ubuntu; Linux x86_64")).os).toBe(storedName("os", "Ubuntu")!)
    expect(agentOf(chrome("Macintosh; Intel Mac OS X 10_15_7")).os).toBe(storedName("os", "macOS")!)
    expect(agentOf(chrome("X11; CrOS x86_64 14541.0.0")).os).toBe(storedName("os", "ChromeOS")!)
    expect(agentOf(`${chrome("Windows NT 10.0; Win64; x64")} Edg/141.0.0.0`).browser).toBe(storedName("browser", "edge-chromium")!)
    const stored = {
      source: SOURCES.map(({ name }) => name),
      os: Object.values(Bowser.OS_MAP).map((name) => OS_NAMES[name] ?? name),
      browser: Object.values(Bowser.BROWSER_MAP).map((name) => BROWSER_NAMES[name] ?? name),
      device: ["Desktop", "Mobile", "Tablet"],
    }
    for (const [dimension, names] of Object.entries(stored))
      expect(Object.values(ALIASES[dimension as keyof typeof stored]!).filter((name) => !names.includes(name))).toEqual([])
    expect(Object.keys(ALIASES)).toEqual(Object.keys(stored))
    expect(storedName("source", "X")).toBeUndefined()
    expect(storedName("source", "constructor")).toBeUndefined()
    expect(storedName("page", "twitter")).toBeUndefined()
  })
})

test("a clause can be a whole number", async () => {
  expect(await visitors(["contains", "event:page", [4347778]])).toBe(1)
  expect((await ask(["is", "visit:city", [4347778]])).meta.warnings).toMatchObject([{ dimension: "visit:city", value: "4347778" }])
})

describe("values that occur in no data", () => {
  test("are named, with a text for people", async () => {
    expect((await ask(["is", "visit:country", ["XX", "DE"]])).meta.warnings).toEqual([
      {
        code: "value_not_found",
        dimension: "visit:country",
        value: "XX",
        warning: 'No data of this site has the value "XX" of visit:country.',
      },
      {
        code: "value_not_found",
        dimension: "visit:country",
        value: "DE",
        warning: 'No data of this site has the value "DE" of visit:country.',
      },
    ])
  })

  test.each<[string, unknown[], string[] | undefined]>([
    ["a known value", ["is", "event:page", ["/"]], undefined],
    ["a known value beside an unknown one", ["is", "event:page", ["/", "/no"]], ["event:page /no"]],
    ["the name of another product", ["is", "visit:source", ["Twitter"]], undefined],
    ["one that has no data either", ["is", "visit:source", ["Youtube"]], ["visit:source Youtube"]],
    ["a missing value", ["is", "visit:source", ["Direct / None"]], undefined],
    ["a negative condition", ["is_not", "visit:os", ["Amiga"]], ["visit:os Amiga"]],
    ["another case", ["is", "visit:os", ["linux"]], ["visit:os linux"]],
    ["another case where it is ignored", ["is", "visit:os", ["LINUX"], { case_sensitive: false }], undefined],
    ["a part of a value", ["contains", "event:page", ["434"]], undefined],
    ["parts of no value", ["contains", "event:page", ["a", "b"]], ["event:page a", "event:page b"]],
    ["a pattern of no value", ["matches_wildcard", "event:page", ["/no/*"]], ["event:page /no/*"]],
    ["a property", ["is", "event:props:plan", ["pro"]], undefined],
    ["an unknown value of a property", ["is", "event:props:plan", ["free"]], ["event:props:plan free"]],
    ["an unknown property", ["is", "event:props:colour", ["red"]], ["event:props:colour red"]],
    ["the name of a country", ["is", "visit:country_name", ["Atlantis"]], ["visit:country_name Atlantis"]],
    ["a goal", ["is", "event:goal", ["Signup"]], undefined],
    ["an unknown goal", ["is", "event:goal", ["Sign-up"]], ["event:goal Sign-up"]],
    [
      "nested conditions",
      [
        "or",
        [
          ["not", ["is", "event:page", ["/a"]]],
          ["has_done", ["is", "event:name", ["Buy"]]],
        ],
      ],
      ["event:page /a", "event:name Buy"],
    ],
  ])("%s", async (_, filter, expected) => {
    expect(await absent(filter)).toEqual(expected)
  })

  test("at most 20 are named", async () => {
    const pages = Array.from({ length: 60 }, (_, i) => `/none/${i}`)
    expect(await absent(["is", "event:page", pages])).toHaveLength(20)
  })
})
