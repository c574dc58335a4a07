import { expect, test } from "bun:test"
import { BROWSER } from "#plugin/test"
import { GOOGLEBOT, linkStand, PATH } from "./kit.ts"

const destination = "https://example.com/"
const MOBILE = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36"
const DAY = 86_400_000

test("reports clicks over time, by dimension and compared", async () => {
  await using stand = await linkStand()
  const { slug, id } = await stand.make({ destination })
  const other = await stand.make({ destination })
  await stand.visit(`/l/${other.slug}`)
  await stand.visit(`/l/${slug}?utm_source=news`, { address: "192.0.2.1" })
  stand.instance.clock.advance(DAY)
  const cookie = { cookie: await stand.instance.signIn({ role: "viewer" }) }
  await stand.visit(`/l/${slug}?utm_source=news`, { address: "192.0.2.2" })
  await stand.visit(`/l/${slug}?utm_source=news`, { address: "192.0.2.2" })
  await stand.visit(`/l/${slug}?utm_source=post`, { address: "192.0.2.3", headers: { "user-agent": MOBILE } })
  await stand.visit(`/l/${slug}`, { headers: { "user-agent": GOOGLEBOT } })
  await stand.recorded()
  const get = async (path: string) => (await stand.ask("GET", `${PATH}/${id}/${path}`, undefined, cookie)).body
  expect(await get("stats?period=today&compare=previous_period")).toMatchObject({
    clicks: { total: 4, human: 3, bot: 1, unique: 2, qr: 0 },
    bot_reasons: { ua: 1 },
    comparison: { clicks: { total: 1, human: 1, bot: 0, unique: 1 }, change_percent: { total: 300, human: 200, unique: 100 } },
    meta: { range: { from: "2026-11-22", to: "2026-11-22", timezone: "Europe/Berlin", includes_today: true } },
  })
  expect((await get("timeseries?period=7d&interval=day&metrics=human,bot,unique")).points.slice(5)).toEqual([
    { time: "2026-11-21", human: 1, bot: 0, unique: 1 },
    { time: "2026-11-22", partial: true, human: 3, bot: 1, unique: 2 },
  ])
  expect((await get("breakdown?period=7d&dimension=utm_source")).rows).toEqual([
    { value: "news", human: 3, bot: 0, total: 3, unique: 2 },
    { value: "(none)", human: 0, bot: 1, total: 1, unique: 0 },
    { value: "post", human: 1, bot: 0, total: 1, unique: 1 },
  ])
  expect((await get("breakdown?period=7d&dimension=device&metrics=human&sort=unique")).rows).toEqual([
    { value: "Desktop", human: 3 },
    { value: "Mobile", human: 1 },
  ])
  const filters = encodeURIComponent('[{"dimension":"utm_source","operator":"is","values":["post"]}]')
  expect((await get(`stats?period=7d&filters=${filters}`)).clicks).toMatchObject({ total: 1, human: 1 })
  for (const query of [
    ...["stats?period=odd", "stats?metrics=human", "stats?conversions=yes", "breakdown?dimension=page"],
    ...["breakdown?dimension=device&sort=visitors", "timeseries?metrics=visitors"],
  ])
    expect(await stand.ask("GET", `${PATH}/${id}/${query}`, undefined, cookie)).toMatchObject({
      status: 400,
      body: { code: "invalid_query", detail: "1 parameter is not valid." },
    })
})

test("leaves anonymous visitors out of unique in every report", async () => {
  await using stand = await linkStand()
  const { slug, id } = await stand.make({ destination })
  await stand.visit(`/l/${slug}?utm_source=news`, { headers: { dnt: "1" } })
  await stand.visit(`/l/${slug}?utm_source=news`, { headers: { "sec-gpc": "1" } })
  await stand.visit(`/l/${slug}?utm_source=news`)
  await stand.visit(`/l/${slug}?utm_source=post`, { headers: { dnt: "1" } })
  await stand.visit(`/l/${slug}?utm_source=post`, { headers: { dnt: "1" }, method: "HEAD" })
  await stand.recorded()
  const get = async (path: string) => (await stand.ask("GET", `${PATH}/${id}/${path}`)).body
  expect((await get("stats?period=today")).clicks).toMatchObject({ total: 5, human: 4, bot: 1, unique: 1 })
  expect((await get("timeseries?period=today&interval=day")).points).toMatchObject([{ human: 4, bot: 1, total: 5, unique: 1 }])
  const news = { value: "news", human: 3, bot: 0, total: 3, unique: 1 }
  const post = { value: "post", human: 1, bot: 1, total: 2, unique: 0 }
  expect((await get("breakdown?period=today&dimension=utm_source")).rows).toEqual([news, post])
  expect((await get("breakdown?period=today&dimension=utm_source&sort=unique")).rows).toEqual([news])
  expect((await get("breakdown?period=today&dimension=utm_source&sort=bot")).rows).toEqual([post])
})

test("counts human and bot as parts of the same total while clicks come in", async () => {
  await using stand = await linkStand()
  const { slug, id } = await stand.make({ destination })
  let isOver = false
  const clicking = Array.from({ length: 2 }, async () => {
    while (!isOver) {
      for (let click = 0; click < 5; click++) await stand.visit(`/l/${slug}?utm_source=news`)
      await Bun.sleep(4)
    }
  })
  const get = async (path: string) => (await stand.ask("GET", `${PATH}/${id}/${path}`)).body
  const wrong: unknown[] = []
  for (let round = 0; round < 10; round++) {
    const { clicks, rules } = await get("stats?period=today")
    const [point] = (await get("timeseries?period=today&interval=day")).points
    const [row] = (await get("breakdown?period=today&dimension=utm_source")).rows
    // All visitors are human, so any difference is a fault of the report.
    for (const counts of [clicks, point, row]) if (counts && (counts.bot !== 0 || counts.human !== counts.total)) wrong.push(counts)
    if ((rules[0]?.human ?? 0) > clicks.human || clicks.unique > clicks.human) wrong.push({ clicks, rules })
  }
  isOver = true
  await Promise.all(clicking)
  expect(wrong).toEqual([])
})

test("counts a visit as a conversion if it starts within 30 minutes of a click", async () => {
  await using stand = await linkStand()
  const { instance } = stand
  await instance.app.instance.goals.create(instance.site, { kind: "event", value: "signup", name: "Sign-up" })
  const { slug, id } = await stand.make({ destination })
  const signUp = (address: string) => instance.collect({ n: "signup", u: "https://shop.example/", d: "shop.example" }, { address })
  for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3"]) await stand.visit(`/l/${slug}`, { address })
  await stand.visit(`/l/${slug}`, { address: "192.0.2.5", method: "HEAD" })
  await stand.recorded()
  instance.clock.advance(60_000)
  for (const address of ["192.0.2.1", "192.0.2.4", "192.0.2.5"]) await signUp(address)
  instance.clock.advance(30 * 60_000)
  await signUp("192.0.2.2")
  const { body } = await stand.ask("GET", `${PATH}/${id}/stats?period=today&conversions=true`)
  expect(body.conversions).toEqual([{ goal_id: 1, name: "Sign-up", visits: 1, visitors: 1 }])
  expect((await stand.ask("GET", `${PATH}/${id}/stats?period=today`)).body).not.toHaveProperty("conversions")
})

test("applies the first matching rule, and names it in a test without counting a click", async () => {
  await using stand = await linkStand()
  const at = (name: string) => `https://${name}.example/`
  const { slug, id } = await stand.make({
    destination: at("own"),
    utm: { utm_source: "link" },
    rules: [
      { when: { device: ["Mobile", "Tablet"], query: { name: "app", value: "1" } }, destination: at("app") },
      { when: { device: "mobile" }, destination: at("mobile") },
      { when: { country: ["AT", "DE"], language: "de" }, destination: at("german") },
      { when: { os: "Windows", query: { name: "win" } }, destination: at("windows") },
      { when: { date: { from: "2026-12-24", to: "2026-12-26" } }, destination: at("christmas") },
    ],
  })
  const trial = async (body: object) => (await stand.ask("POST", `${PATH}/${id}/test`, body)).body
  const to = (rule: number, name: string, query = "utm_source=link") => ({
    outcome: "redirect",
    rule,
    status: 302,
    url: `${at(name)}?${query}`,
  })
  expect(await trial({})).toEqual(to(0, "own"))
  expect(await trial({ ua: MOBILE })).toEqual(to(2, "mobile"))
  expect(await trial({ ua: MOBILE, query: "?app=1" })).toEqual(to(1, "app", "utm_source=link&app=1"))
  expect(await trial({ ua: MOBILE, query: "app=2" })).toMatchObject({ rule: 2 })
  expect(await trial({ country: "de", language: "de-AT" })).toEqual(to(3, "german"))
  expect(await trial({ country: "de", language: "den" })).toMatchObject({ rule: 0 })
  expect(await trial({ country: "FR", language: "de" })).toMatchObject({ rule: 0 })
  expect(await trial({ ua: BROWSER, query: "win" })).toMatchObject({ rule: 4 })
  expect(await trial({ at: "2026-12-23T22:59:59Z" })).toMatchObject({ rule: 0 })
  expect(await trial({ at: "2026-12-23T23:00:00Z" })).toEqual(to(5, "christmas"))
  expect(await trial({ at: "2026-12-26T22:59:59Z" })).toMatchObject({ rule: 5 })
  expect(await trial({ at: "2026-12-26T23:00:00Z" })).toMatchObject({ rule: 0 })
  expect(await trial({ ua: GOOGLEBOT })).toMatchObject({ bot_reason: "ua" })
  expect(await stand.ask("POST", `${PATH}/${id}/test`, { at: "soon", colour: 1 })).toMatchObject({
    status: 422,
    body: { code: "validation_failed" },
  })
  expect((await stand.visit(`/l/${slug}`, { headers: { "user-agent": MOBILE } })).headers.get("location")).toBe(
    `${at("mobile")}?utm_source=link`,
  )
  await stand.recorded()
  expect((await stand.ask("GET", `${PATH}/${id}/stats`)).body).toMatchObject({ clicks: { total: 1 }, rules: [{ rule: 2, human: 1 }] })
})

test("counts requests without a link by reason", async () => {
  await using stand = await linkStand()
  await stand.make({ destination, slug: "later", starts_at: "2026-11-22T00:00:00Z" })
  await stand.make({ destination, slug: "over", expires_at: "2026-11-20T00:00:00Z" })
  for (const path of ["/l/later", "/l/over", "/l/", "/l/nothing", "/l/nothing"]) await stand.visit(path)
  for (let miss = 0; miss < 120; miss++) await stand.visit(`/l/miss-${miss}`)
  await stand.instance.runJobs()
  stand.instance.clock.advance(60_000)
  await stand.instance.runJobs()
  expect((await stand.ask("GET", `${PATH}/orphans`)).body.instance).toEqual([
    { day: "2026-11-21", kind: "expired", count: 1 },
    { day: "2026-11-21", kind: "not_started", count: 1 },
    { day: "2026-11-21", kind: "root", count: 1 },
    { day: "2026-11-21", kind: "unknown_slug", count: 122 },
  ])
})

test("removes all links of a deleted site and reserves their slugs", async () => {
  await using stand = await linkStand()
  const { slug } = await stand.make({ destination, slug: "site-link" })
  await stand.ask("POST", "/api/private/sites/1/utm-templates", { name: "Of the site" })
  const { sites, organizations } = stand.instance.app.instance
  await sites.remove(1)
  expect((await stand.visit(`/l/${slug}`)).status).toBe(404)
  const { hooks } = stand.instance.app
  expect(await hooks.onSiteDelete(1)).toEqual({ links_links: 1, links_utm_templates: 1 })
  expect(await hooks.onSiteDelete(1)).toEqual({ links_links: 0, links_utm_templates: 0 })
  const site = await sites.create((await organizations.create({ name: "Next" })).id, { name: "Next", hosts: ["next.example"] })
  const owner = { cookie: await stand.instance.signIn({ role: "owner", organizationId: site.organization_id }) }
  const taking = await stand.ask("POST", `/api/private/sites/${site.id}/links`, { destination, slug: "site-link", force: true }, owner)
  expect(taking).toMatchObject({ status: 409, body: { code: "slug_recently_used" } })
})

test("starts the period all with the first click instead of the first visit", async () => {
  await using stand = await linkStand()
  const { slug, id } = await stand.make({ destination: "https://example.com/" })
  await stand.visit(`/l/${slug}`, { headers: { "user-agent": GOOGLEBOT } })
  stand.instance.clock.advance(2 * 86_400_000)
  await stand.visit(`/l/${slug}`)
  expect((await stand.instance.collect({ name: "pageview", d: "shop.example", url: "https://shop.example/" })).status).toBe(202)
  await stand.recorded()
  for (const isSealed of [false, true]) {
    if (isSealed) await stand.instance.app.instance.events.seal(stand.instance.clock.now() + 86_400_000, true)
    const { body } = await stand.ask("GET", `${PATH}/${id}/stats?period=all`)
    expect(body.clicks).toMatchObject({ total: 2, human: 1, bot: 1 })
  }
})
