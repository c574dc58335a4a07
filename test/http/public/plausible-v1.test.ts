import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { openTarget, type Target } from "../target.ts"

/** The requests and responses of Plausible's documentation of its stats API v1 and sites API, sent as it writes them: with curl. */

let target: Target
beforeAll(async () => {
  target = await openTarget()
  const visit = (path: string, more: object = {}) => ({ name: "pageview", url: `https://shop.example${path}`, ...more })
  const people = ["203.0.113.1", "203.0.113.2", "203.0.113.3"].map((ip) => ({ ip, user_agent: target.browser["user-agent"] }))
  const [one, two, three] = people
  await send([
    visit("/", { ...one, referrer: "https://www.google.com/" }),
    visit("/order/confirmation", one),
    { name: "Download", url: "https://shop.example/get", ...one, props: { method: "HTTP" } },
    visit("/", { ...two, timestamp: "2026-11-20T12:00:00Z" }),
    { name: "Download", url: "https://shop.example/get", ...two, timestamp: "2026-11-20T12:01:00Z", props: { method: "Magnet" } },
    visit("/blog/a?utm_campaign=a%7Cb", { ...three, timestamp: "2026-09-15T12:00:00Z", referrer: "https://news.ycombinator.com/" }),
  ])
  await fetch(`${target.url}/api/public/v1/sites/1/goals`, {
    method: "POST",
    headers: { authorization: `Bearer ${target.keys.all}`, "content-type": "application/json" },
    body: JSON.stringify({ kind: "event", value: "Download" }),
  })
})
afterAll(() => target.close())

async function send(events: object[], siteId = 1): Promise<void> {
  const answer = await fetch(`${target.url}/api/public/v1/sites/${siteId}/events`, {
    method: "POST",
    headers: { authorization: `Bearer ${target.keys.all}`, "content-type": "application/json" },
    body: JSON.stringify({ events }),
  })
  expect(((await answer.json()) as { accepted: number }).accepted).toBe(events.length)
}

/** Runs a command of the documentation, with the address of this instance. */
async function run(command: string, key = target.keys.all): Promise<{ status: number; body: unknown }> {
  const local = command.replaceAll("https://plausible.io", target.url).replace(/^curl /, "curl -sS -w '\\n%{http_code}' ")
  const env = { ...process.env, TOKEN: key, SITE_ID: "shop.example" }
  const { stdout } = Bun.spawn(["bash", "-c", local], { env })
  const lines = (await new Response(stdout).text()).split("\n")
  const status = Number(lines.pop())
  return { status, body: JSON.parse(lines.join("\n")) }
}

/** Replaces all values of a document by their types. Lists are described by their first item. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, inner]) => [name, shapeOf(inner)] as const)
      .sort(),
  )
}

const AUTH = '-H "Authorization: Bearer $TOKEN"'

describe("stats", () => {
  test("realtime/visitors is a bare number", async () => {
    await send([{ name: "pageview", url: "https://shop.example/now", ip: "203.0.113.9", user_agent: target.browser["user-agent"] }])
    const asked = await run(`curl "https://plausible.io/api/v1/stats/realtime/visitors?site_id=$SITE_ID" ${AUTH}`)
    expect(asked).toEqual({ status: 200, body: 2 })
  })

  test.each<[name: string, path: string, answer: unknown]>([
    [
      "aggregate",
      "aggregate?site_id=$SITE_ID&period=6mo&metrics=visitors,pageviews,bounce_rate,visit_duration",
      {
        results: {
          bounce_rate: { value: 53.0 },
          pageviews: { value: 673814 },
          visit_duration: { value: 86.0 },
          visitors: { value: 201524 },
        },
      },
    ],
    [
      "timeseries",
      "timeseries?site_id=$SITE_ID&period=6mo",
      {
        results: [
          { date: "2020-08-01", visitors: 36085 },
          { date: "2020-09-01", visitors: 27688 },
        ],
      },
    ],
    [
      "breakdown",
      "breakdown?site_id=$SITE_ID&period=6mo&property=visit:source&metrics=visitors,bounce_rate&limit=5",
      { results: [{ bounce_rate: 49.0, source: "(Direct / None)", visitors: 94932 }] },
    ],
    ["top pages", "breakdown?site_id=$SITE_ID&period=6mo&property=event:page&limit=5", { results: [{ page: "/", visitors: 94298 }] }],
    [
      "visitors of a page",
      "aggregate?site_id=$SITE_ID&period=6mo&filters=event:page%3D%3D%2Forder%2Fconfirmation",
      { results: { visitors: { value: 1480 } } },
    ],
    [
      "monthly traffic from Google",
      "timeseries?site_id=$SITE_ID&period=6mo&filters=visit:source%3D%3DGoogle",
      { results: [{ date: "2020-09-01", visitors: 2962 }] },
    ],
    [
      "properties of an event",
      "breakdown?site_id=$SITE_ID&period=6mo&property=event:props:method&filters=event:goal%3D%3DDownload",
      { results: [{ method: "HTTP", visitors: 1477 }] },
    ],
  ])("%s has the documented shape", async (_, path, documented) => {
    const { status, body } = await run(`curl "https://plausible.io/api/v1/stats/${path}" \\\n  ${AUTH}`)
    expect({ status, shape: shapeOf(body) }).toEqual({ status: 200, shape: shapeOf(documented) })
  })

  const results = async (path: string) =>
    ((await run(`curl "https://plausible.io/api/v1/stats/${path}&site_id=$SITE_ID" ${AUTH}`)).body as { results: unknown }).results

  test("months are calendar months, in order and without gaps", async () => {
    expect(await results("timeseries?period=6mo&metrics=visitors,bounce_rate")).toEqual([
      { date: "2026-06-01", visitors: 0, bounce_rate: null },
      { date: "2026-07-01", visitors: 0, bounce_rate: null },
      { date: "2026-08-01", visitors: 0, bounce_rate: null },
      { date: "2026-09-01", visitors: 1, bounce_rate: 100 },
      { date: "2026-10-01", visitors: 0, bounce_rate: null },
      { date: "2026-11-01", visitors: 3, bounce_rate: expect.any(Number) },
    ])
  })

  test.each<[string, string, number]>([
    ["a day", "period=day", 2],
    ["another day", "period=day&date=2026-11-20", 1],
    ["seven days up to a date", "period=7d&date=2026-11-20", 1],
    ["the month of a date", "period=month&date=2026-09-02", 1],
    ["months up to that of a date", "period=6mo&date=2026-10-05", 1],
    ["a range", "period=custom&date=2026-09-15,2026-11-20", 2],
    ["the default, 30 days", "metrics=visitors", 3],
    ["several sources", "period=12mo&filters=visit:source%3D%3DGoogle%7CHacker%20News", 2],
    ["an inequality", "period=12mo&filters=visit:source%21%3DGoogle", 3],
    ["all of several conditions", "period=12mo&filters=visit:source%3D%3DGoogle;event:page%3D%3D%2F", 1],
    ["an asterisk", "period=12mo&filters=event:page%3D%3D/blog/**", 1],
    ["an escaped separator", "period=12mo&filters=visit:utm_campaign%3D%3Da%5C%7Cb", 1],
    ["an operator in a value", "period=12mo&filters=visit:source%21%3Da%3D%3Db", 4],
    ["a goal", "period=12mo&filters=event:goal%3D%3DDownload", 2],
  ])("understands %s", async (_, query, visitors) => {
    expect(await results(`aggregate?${query}`)).toEqual({ visitors: { value: visitors } })
  })

  test("a comparison is in percent, of rates in points", async () => {
    const found = await results("aggregate?period=day&date=2026-11-20&compare=previous_period&metrics=visitors,bounce_rate,pageviews")
    expect(found).toEqual({
      visitors: { value: 1, change: 100 },
      bounce_rate: { value: 0, change: 0 },
      pageviews: { value: 1, change: 100 },
    })
  })

  test("a day is shown by hour, other periods by day on request", async () => {
    const hours = (await results("timeseries?period=day&date=2026-11-20")) as { date: string; visitors: number }[]
    expect(hours).toHaveLength(24)
    expect(hours[13]).toEqual({ date: "2026-11-20 13:00:00", visitors: 1 })
    const dates = (await results("timeseries?period=month&date=2026-09-01&interval=date")) as { date: string }[]
    expect([dates.length, dates[0]!.date, dates.at(-1)!.date]).toEqual([30, "2026-09-01", "2026-09-30"])
  })

  test("breakdowns are paged from 1, and rates follow the property", async () => {
    expect(await results("breakdown?period=30d&property=event:page&limit=1&page=2")).toHaveLength(1)
    expect(await results("breakdown?period=30d&property=event:goal&metrics=visitors,events,conversion_rate")).toEqual([
      { goal: "Download", visitors: 2, events: 2, conversion_rate: 66.7 },
    ])
    expect(
      await results("breakdown?period=12mo&property=visit:source&metrics=conversion_rate&filters=event:goal%3D%3DDownload"),
    ).toContainEqual({ source: "Google", conversion_rate: 100 })
  })

  test.each<[string, string, string[]]>([
    ["aggregate?period=8w", "invalid_query", ["/period invalid_choice"]],
    ["aggregate?period=custom", "invalid_query", ["/date required"]],
    ["aggregate?period=custom&date=2026-11-01", "invalid_query", ["/date invalid_date"]],
    ["aggregate?period=day&date=2027-01-01", "invalid_query", ["/date invalid_range"]],
    ["aggregate?metrics=visitors,users", "invalid_query", ["/metrics invalid_choice"]],
    ["aggregate?metrics=conversion_rate", "invalid_query", ["/metrics unsupported_combination"]],
    ["aggregate?filters=visit:source", "invalid_query", ["/filters invalid_type"]],
    ["aggregate?filters=%3D%3Dx", "invalid_query", ["/filters invalid_type"]],
    ["aggregate?filters=visit:source%3D%3DGoogle;", "invalid_query", ["/filters invalid_type"]],
    [`aggregate?filters=visit:${"%20".repeat(2_000)}`, "invalid_query", ["/filters invalid_type"]],
    ["aggregate?filters=visit:mood%3D%3Dx", "invalid_query", ["/filters invalid_choice"]],
    ["aggregate?with_imported=yes", "invalid_query", ["/with_imported invalid_choice"]],
    ["timeseries?interval=year", "invalid_query", ["/interval invalid_choice"]],
    ["breakdown?period=7d", "invalid_query", ["/property required"]],
    ["breakdown?property=time:day", "invalid_query", ["/property invalid_choice"]],
    ["breakdown?property=visit:mood", "invalid_query", ["/property invalid_choice"]],
    ["breakdown?property=visit:source&limit=1001", "invalid_query", ["/limit out_of_range"]],
    ["breakdown?property=visit:source&page=0", "invalid_query", ["/page out_of_range"]],
    ["breakdown?property=visit:source&color=red", "invalid_query", ["/color unknown_field"]],
  ])("refuses %s", async (path, code, faults) => {
    const { status, body } = await run(`curl "https://plausible.io/api/v1/stats/${path}&site_id=$SITE_ID" ${AUTH}`)
    const { errors, ...problem } = body as { code: string; errors: { pointer: string; code: string }[] }
    expect([status, problem.code, errors.map(({ pointer, code }) => `${pointer} ${code}`)]).toEqual([400, code, faults])
  })

  test("names a missing site, and hides one of another key", async () => {
    expect(await run(`curl "https://plausible.io/api/v1/stats/aggregate?period=day" ${AUTH}`)).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: "/site_id", code: "required" }] },
    })
    const ask = `curl "https://plausible.io/api/v1/stats/aggregate?site_id=$SITE_ID" ${AUTH}`
    expect(await run(ask, target.keys.elsewhere)).toMatchObject({ status: 404, body: { code: "site_not_found" } })
    expect(await run(ask, target.keys.events)).toMatchObject({ status: 403, body: { code: "insufficient_scope" } })
  })
})

describe("sites", () => {
  test("the documented commands work in turn, with the documented shapes", async () => {
    const sent = async (command: string, documented: unknown) => {
      const { status, body } = await run(command.replace("curl ", "curl -X "))
      expect({ command, status, shape: shapeOf(body) }).toEqual({ command, status: 200, shape: shapeOf(documented) })
      return body
    }
    const site = { domain: "test-domain.com", timezone: "Europe/London" }
    const meta = { after: null, before: null, limit: 100 }
    const goals = [{ id: "1", goal_type: "event", display_name: "Signup", event_name: "Signup", page_path: null }]

    expect(
      await sent(`curl POST https://plausible.io/api/v1/sites ${AUTH} -F 'domain="test-domain.com"' -F 'timezone="Europe/London"'`, site),
    ).toEqual(site)
    await sent(`curl GET https://plausible.io/api/v1/sites ${AUTH}`, { sites: [site], meta })
    await sent(`curl GET https://plausible.io/api/v1/sites/teams ${AUTH}`, {
      teams: [{ id: "4d3dae3b-2a44-4aaa-baac-6bb55234a435", name: "My Personal Sites", api_available: false }],
      meta,
    })
    const found = await fetch(`${target.url}/api/public/v1/sites?search=test-domain.com`, {
      headers: { authorization: `Bearer ${target.keys.all}` },
    })
    const { data } = (await found.json()) as { data: { id: number }[] }
    await send([{ name: "Purchase", url: "/", props: { logged_in: "true" } }], data[0]!.id)
    const whole = { ...site, custom_properties: ["logged_in"] }
    expect(await sent(`curl GET https://plausible.io/api/v1/sites/test-domain.com ${AUTH}`, whole)).toEqual(whole)

    const put = `curl PUT https://plausible.io/api/v1/sites/goals ${AUTH} -F 'site_id="test-domain.com"' -F 'goal_type="event"' -F 'event_name="Signup"'`
    const goal = (await sent(put, { domain: "test-domain.com", ...goals[0] })) as { id: string }
    expect(await sent(put, { domain: "test-domain.com", ...goals[0] })).toEqual(goal)
    expect(await sent(`curl GET "https://plausible.io/api/v1/sites/goals?site_id=test-domain.com" ${AUTH}`, { goals, meta })).toMatchObject(
      {
        goals: [{ display_name: "Signup", event_name: "Signup", page_path: null }],
      },
    )
    expect(
      await sent(`curl DELETE https://plausible.io/api/v1/sites/goals/${goal.id} ${AUTH} -F 'site_id="test-domain.com"'`, {
        deleted: "true",
      }),
    ).toEqual({ deleted: "true" })

    const share = `curl PUT https://plausible.io/api/v1/sites/shared-links ${AUTH} -F 'site_id="test-domain.com"' -F 'name="Wordpress"'`
    const link = (await sent(share, { name: "Wordpress", url: "https://plausible.io/share/site.com?auth=x" })) as { url: string }
    expect(await sent(share, link)).toEqual(link)
    expect((await fetch(`${target.url}${new URL(link.url).pathname}`)).status).toBe(200)

    const moved = { domain: "new-test-domain.com", timezone: "Europe/London" }
    expect(
      await sent(`curl PUT https://plausible.io/api/v1/sites/test-domain.com ${AUTH} -F 'domain="new-test-domain.com"'`, moved),
    ).toEqual(moved)
    await sent(`curl DELETE https://plausible.io/api/v1/sites/new-test-domain.com ${AUTH}`, { deleted: "true" })
    expect(await run(`curl https://plausible.io/api/v1/sites/new-test-domain.com ${AUTH}`)).toMatchObject({ status: 404 })
  })

  const api = async (method: string, path: string, body?: object, key = target.keys.all) => {
    const answer = await fetch(`${target.url}/api/v1/sites${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }

  test("pages of goals can be turned in both directions", async () => {
    for (const n of [1, 2, 3])
      await api("PUT", "/goals", { site_id: "other.example", goal_type: "page", page_path: `/p${n}/**`, display_name: `Page ${n}` })
    const page = async (query: string) => {
      const { body } = await api("GET", `/goals?site_id=other.example&limit=1${query}`)
      const { goals, meta } = body as { goals: { display_name: string; page_path: string }[]; meta: object }
      return { paths: goals.map(({ page_path }) => page_path), ...(meta as { after: string | null; before: string | null; limit: number }) }
    }
    const first = await page("")
    expect(first).toMatchObject({ paths: ["/p1/*"], before: null, limit: 1 })
    const second = await page(`&after=${first.after}`)
    expect(second.paths).toEqual(["/p2/*"])
    expect(await page(`&after=${second.after}`)).toMatchObject({ paths: ["/p3/*"], after: null })
    expect(await page(`&before=${second.before}`)).toEqual(first)
    expect((await api("GET", "/goals?site_id=other.example&after=x")).body).toMatchObject({ code: "invalid_cursor" })
  })

  test.each<[string, string, object, number, string[]]>([
    ["POST", "", {}, 422, ["/domain required"]],
    ["POST", "", { domain: "https://x.example/" }, 422, ["/domain invalid_host"]],
    ["POST", "", { domain: "shop.example" }, 422, ["/domain not_unique"]],
    ["POST", "", { domain: "x.example", timezone: "Mars/Base" }, 422, ["/timezone invalid_timezone"]],
    ["POST", "", { domain: "x.example", team_id: "2" }, 422, ["/team_id invalid_choice"]],
    ["PUT", "/shop.example", { domain: "other.example" }, 422, ["/domain not_unique"]],
    ["PUT", "/goals", { site_id: 1, goal_type: "event" }, 422, ["/event_name required"]],
    ["PUT", "/goals", { site_id: 1, goal_type: "page", page_path: "pricing" }, 422, ["/page_path invalid_path"]],
    ["PUT", "/goals", { site_id: 1, goal_type: "mood", colour: 1 }, 422, ["/goal_type invalid_choice", "/colour unknown_field"]],
    ["PUT", "/shared-links", { site_id: 1 }, 422, ["/name required"]],
  ])("%s %s refuses %j", async (method, path, body, status, faults) => {
    const answer = await api(method, path, body)
    const errors = answer.body.errors as { pointer: string; code: string }[]
    expect([answer.status, errors.map(({ pointer, code }) => `${pointer} ${code}`)]).toEqual([status, faults])
  })

  test("simultaneous requests for one shared view or goal get the same one", async () => {
    const put = (path: string, body: object) =>
      Promise.all(Array.from({ length: 5 }, () => api("PUT", path, { site_id: "other.example", ...body })))
    for (const answers of [await put("/shared-links", { name: "Once" }), await put("/goals", { goal_type: "event", event_name: "Once" })])
      expect(new Set(answers.map(({ status, body }) => `${status} ${body.url ?? body.id}`)).size).toBe(1)
  })

  test("a key reaches only its own sites, and creating needs one for all sites", async () => {
    const { limited } = target.keys
    expect((await api("GET", "", undefined, limited)).body).toMatchObject({ sites: [{ domain: "other.example" }] })
    expect(await api("PUT", "/shared-links", { site_id: "shop.example", name: "x" }, limited)).toMatchObject({ status: 404 })
    expect((await api("POST", "", { domain: "y.example" }, limited)).body).toMatchObject({ code: "unrestricted_key_required" })
    expect((await api("PUT", "/goals", { site_id: "other.example", goal_type: "event", event_name: "x" }, limited)).body).toMatchObject({
      code: "insufficient_scope",
    })
  })
})
