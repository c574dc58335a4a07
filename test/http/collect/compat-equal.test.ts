import { expect, test } from "bun:test"
import { BROWSER, startInstance, type TestInstance } from "../../kit.ts"
import { WEBSITE } from "./compat.ts"

const PHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0"

interface Seen {
  /** Minutes since the previous action. */
  after: number
  address: string
  agent: string
  language: string
  path: string
  query?: string
  referrer?: string
  title: string
  width: number
  event?: string
}

const ana = { address: "198.51.100.1", agent: BROWSER, language: "de-DE", width: 1_920 }
const ben = { address: "198.51.100.2", agent: PHONE, language: "en-US", width: 390 }
const cleo = { address: "198.51.100.3", agent: FIREFOX, language: "fr-FR", width: 1_024 }

/** The actions of three people on one afternoon, as each tracker would report them. */
const SEEN: Seen[] = [
  { ...ana, after: 0, path: "/", query: "utm_source=news&utm_medium=email&utm_campaign=spring", title: "Shop" },
  { ...ben, after: 1, path: "/shoes/", referrer: "https://www.google.com/search?q=shoes", title: "Shoes" },
  { ...ana, after: 2, path: "/shoes/", referrer: "https://shop.example/", title: "Shoes" },
  { ...ana, after: 1, path: "/shoes/", title: "Shoes", event: "add to cart" },
  { ...cleo, after: 5, path: "/caf%C3%A9", query: "ref=hn&secret=1", title: "Café" },
  { ...ben, after: 45, path: "/", query: "gclid=abc", referrer: "https://www.google.com/", title: "Shop" },
  { ...cleo, after: 1, path: "/", referrer: "https://blog.example/post/", title: "Shop" },
]

const pageOf = ({ path, query }: Seen) => (query === undefined ? path : `${path}?${query}`)
const screenOf = ({ width }: Seen) => [width, 900]

type Sender = (instance: TestInstance, seen: Seen) => Request

const headersOf = ({ agent, language, path }: Seen, more: Record<string, string>) => ({
  "user-agent": agent,
  "accept-language": language,
  referer: `https://shop.example${path}`,
  ...more,
})
const posted = (path: string, seen: Seen, body: object, type: string) =>
  new Request(`http://stats.example${path}`, {
    method: "POST",
    headers: headersOf(seen, { "content-type": type }),
    body: JSON.stringify(body),
  })

const DOORS: Record<string, Sender> = {
  native: ({ site }, seen) =>
    posted(
      "/api/event",
      seen,
      {
        n: seen.event ?? "pageview",
        d: site.tracking_id,
        u: `https://shop.example${pageOf(seen)}`,
        r: seen.referrer ?? "",
        t: seen.title,
        l: seen.language,
        w: seen.width,
      },
      "text/plain",
    ),
  umami: (_, seen) => {
    const payload = {
      website: WEBSITE,
      hostname: "shop.example",
      url: `https://shop.example${pageOf(seen)}`,
      referrer: seen.referrer ?? "",
      title: seen.title,
      language: seen.language,
      screen: screenOf(seen).join("x"),
      ...(seen.event !== undefined && { name: seen.event }),
    }
    return posted("/api/send", seen, { type: "event", payload }, "application/json")
  },
  goatcounter: (_, seen) => {
    const fields = new URLSearchParams({
      p: seen.event ?? pageOf(seen),
      t: seen.title,
      r: seen.referrer ?? "",
      s: [...screenOf(seen), 2].join(),
      b: "0",
      q: seen.query === undefined ? "" : `?${seen.query}`,
      rnd: "abcde",
      ...(seen.event !== undefined && { e: "true" }),
    })
    return new Request(`http://shop.stats.example/count?${fields}`, { headers: headersOf(seen, {}) })
  },
}

const DIMENSIONS = [
  "page entry_page exit_page title hostname event source referrer channel utm_source utm_medium utm_campaign",
  "device size browser browser_version os os_version language country",
].flatMap((names) => names.split(" "))

/** Returns every report of the day, on an instance that received the actions through one endpoint. */
async function reportsThrough(door: Sender): Promise<Record<string, unknown>> {
  await using instance = await startInstance()
  await instance.app.instance.sites.configure(1, { compat_ids: { umami: [WEBSITE], goatcounter: ["shop"] } })
  for (const seen of SEEN) {
    instance.clock.advance(seen.after * 60_000)
    const answer = await instance.fetch(door(instance, seen), seen.address)
    expect([answer.ok, answer.headers.get("x-plausible-dropped")]).toEqual([true, null])
  }
  const reports = new Map<string, unknown>()
  const ask = async (question: string) => {
    const { status, body } = await instance.api.get(`/api/public/v1/sites/1/stats/${question}`, instance.statsKey)
    expect(status).toBe(200)
    reports.set(question, body)
  }
  const metrics = "visitors,visits,pageviews,events,views_per_visit,bounce_rate,visit_duration"
  await ask(`summary?period=today&metrics=${metrics}`)
  await ask("timeseries?period=today&interval=hour&metrics=visitors,pageviews")
  for (const dimension of DIMENSIONS) await ask(`breakdown?period=today&dimension=${dimension}&metrics=visitors,events`)
  return Object.fromEntries(reports)
}

test("the same visits through each endpoint produce the same reports", async () => {
  const native = await reportsThrough(DOORS.native!)
  // Three people; one came back after 45 minutes and one after 46: five visits, of which only the first had two views and lasted four minutes.
  expect(native["summary?period=today&metrics=visitors,visits,pageviews,events,views_per_visit,bounce_rate,visit_duration"]).toMatchObject({
    metrics: { visitors: 3, visits: 5, pageviews: 6, events: 7, views_per_visit: 1.2, bounce_rate: 80, visit_duration: 48 },
  })
  expect(await reportsThrough(DOORS.umami!)).toEqual(native)
  expect(await reportsThrough(DOORS.goatcounter!)).toEqual(native)
})
