import { afterAll, expect, test } from "bun:test"
import { GOOGLEBOT, linkStand, PATH } from "./kit.ts"

const stand = await linkStand()
afterAll(() => stand[Symbol.asyncDispose]())
const { ask, make, visit, recorded } = stand
const { clock } = stand.instance

const shown = async (response: Response) => ({
  status: response.status,
  location: response.headers.get("location"),
  text: await response.text(),
})
const clicksOf = async (id: number) => (await ask("GET", `${PATH}/${id}/stats?period=all`)).body.clicks

test("redirects with the headers of the redirect type and an empty body", async () => {
  for (const [status, cache] of [
    [301, "private, max-age=30"],
    [302, "no-store"],
    [307, "no-store"],
    [308, "private, max-age=30"],
  ] as const) {
    const { slug } = await make({ destination: "https://example.com/a?b=c#d", redirect_status: status })
    const answer = await visit(`/l/${slug}`)
    expect(Object.fromEntries(answer.headers)).toEqual({
      location: "https://example.com/a?b=c#d",
      "cache-control": cache,
      "referrer-policy": "strict-origin-when-cross-origin",
      "x-content-type-options": "nosniff",
      "x-robots-tag": "noindex",
    })
    expect(await shown(answer)).toEqual({ status, location: "https://example.com/a?b=c#d", text: "" })
  }
})

test("sends no robots header for a link that may be indexed", async () => {
  const { slug } = await make({ destination: "https://example.com/", noindex: false })
  expect((await visit(`/l/${slug}`)).headers.has("x-robots-tag")).toBe(false)
})

test("finds a slug regardless of case and of a trailing slash", async () => {
  await make({ destination: "https://example.com/", slug: "Spring" })
  for (const path of ["/l/spring", "/l/SPRING", "/l/Spring/"]) expect((await visit(path)).status).toBe(302)
})

test("applies an edit to the next request", async () => {
  const { id, slug } = await make({ destination: "https://example.com/1" })
  for (const destination of ["https://example.com/2", "https://example.com/3"]) {
    expect((await ask("PATCH", `${PATH}/${id}`, { destination })).status).toBe(200)
    expect((await visit(`/l/${slug}`)).headers.get("location")).toBe(destination)
  }
  await ask("PATCH", `${PATH}/${id}`, { slug: "moved-on" })
  expect((await visit("/l/moved-on")).status).toBe(302)
  expect((await visit(`/l/${slug}`)).status).toBe(404)
})

test("gives identical answers for unknown, deleted, archived and not yet started links", async () => {
  const deleted = await make({ destination: "https://example.com/" })
  await ask("DELETE", `${PATH}/${deleted.id}`)
  const archived = await make({ destination: "https://example.com/" })
  await ask("PATCH", `${PATH}/${archived.id}`, { archived: true })
  const later = await make({ destination: "https://example.com/", starts_at: "2026-11-21T18:00:00Z" })
  const plain = await make({ destination: "https://example.com/", forward_path: false })
  const answers = []
  for (const slug of [
    "nothing-here",
    deleted.slug,
    archived.slug,
    later.slug,
    `${plain.slug}/more`,
    "%3Cscript%3E",
    "a%2fb",
    "x".repeat(200),
    "",
  ]) {
    const answer = await visit(`/l/${slug}`)
    answers.push({ status: answer.status, headers: [...answer.headers], text: await answer.text() })
  }
  expect(answers[0]!.status).toBe(404)
  expect(answers[0]!.text).toContain("This link doesn't exist.")
  for (const answer of answers) expect(answer).toEqual(answers[0]!)
  clock.advance(6 * 3_600_000)
  expect((await visit(`/l/${later.slug}`)).status).toBe(302)
})

test("redirects an expired link to its expiry destination or answers 410", async () => {
  const body = { destination: "https://example.com/", expires_at: new Date(clock.now() + 60_000).toISOString() }
  const gone = await make(body)
  const led = await make({ ...body, expired_destination: "https://example.com/over" })
  expect((await visit(`/l/${gone.slug}`)).status).toBe(302)
  clock.advance(60_000)
  const answer = await visit(`/l/${gone.slug}`)
  expect({ status: answer.status, cache: answer.headers.get("cache-control") }).toEqual({ status: 410, cache: "no-store" })
  expect(await shown(await visit(`/l/${led.slug}`))).toEqual({ status: 302, location: "https://example.com/over", text: "" })
  await recorded()
  expect(await clicksOf(led.id)).toMatchObject({ total: 0 })
})

test.each(["PUT", "DELETE", "PATCH", "OPTIONS", "POST"])("rejects %s and lists the allowed methods", async (method) => {
  const { slug } = await make({ destination: "https://example.com/" })
  for (const path of [`/l/${slug}`, "/l/unknown-one"]) {
    const answer = await visit(path, { method })
    expect({ status: answer.status, allow: answer.headers.get("allow") }).toEqual({ status: 405, allow: "GET, HEAD" })
  }
})

test("answers 429 after 60 misses per minute and address, without affecting links or other clients", async () => {
  const { slug } = await make({ destination: "https://example.com/" })
  const address = "192.0.2.1"
  for (let miss = 0; miss < 60; miss++) expect((await visit(`/l/miss-${miss}`, { address })).status).toBe(404)
  const refused = await visit("/l/miss-60", { address })
  expect({ status: refused.status, wait: Number(refused.headers.get("retry-after")) > 0 }).toEqual({ status: 429, wait: true })
  expect((await visit(`/l/${slug}`, { address })).status).toBe(302)
  expect((await visit("/l/miss-60")).status).toBe(404)
})

test("records each redirect as a click with the reason why it is a bot", async () => {
  const { id, slug } = await make({ destination: "https://example.com/" })
  await visit(`/l/${slug}`)
  await visit(`/l/${slug}?qr=1`)
  await visit(`/l/${slug}`, { method: "HEAD" })
  await visit(`/l/${slug}`, { headers: { "sec-purpose": "prefetch;prerender" } })
  await visit(`/l/${slug}`, { headers: { purpose: "preview" } })
  await visit(`/l/${slug}`, { headers: { "x-moz": "prefetch" } })
  await visit(`/l/${slug}`, { headers: { "user-agent": "" } })
  await visit(`/l/${slug}`, { headers: { "user-agent": GOOGLEBOT } })
  for (let request = 0; request < 6; request++) await visit(`/l/${slug}`, { address: "192.0.2.2" })
  await recorded()
  const { body } = await ask("GET", `${PATH}/${id}/stats?period=all`)
  expect(body).toMatchObject({
    clicks: { total: 14, human: 6, bot: 8, unique: 3, qr: 1 },
    bot_reasons: { head: 1, prefetch: 3, no_ua: 1, ua: 1, burst: 2 },
    rules: [{ rule: 0, human: 6 }],
  })
})

test.each([
  "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
  "Twitterbot/1.0",
  "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
  "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
  "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
  "Mastodon/4.3.0 (http.rb/5.2.0; +https://mastodon.social/)",
  "WhatsApp/2.23.20.0",
  "TelegramBot (like TwitterBot)",
  "Viber/20.9.0.8 CFNetwork/1410.0.3 Darwin/22.6.0",
  "Viber/13 (Android)",
  "Mozilla/5.0 (Windows NT 6.1; WOW64) ViberUrlDownloader",
  "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
  "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
  "Mozilla/5.0 (compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)",
  GOOGLEBOT,
])("classifies %s as a bot", async (agent) => {
  const { id, slug } = await make({ destination: "https://example.com/" })
  const { body } = await ask("POST", `${PATH}/${id}/test`, { ua: agent })
  expect(body).toMatchObject({ outcome: "redirect", bot_reason: "ua" })
  expect((await visit(`/l/${slug}`, { headers: { "user-agent": agent } })).status).toBe(302)
})

test("counts a click in Viber's own browser as human", async () => {
  const { id } = await make({ destination: "https://example.com/" })
  const ua =
    "Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36 Viber/24.5"
  const { body } = await ask("POST", `${PATH}/${id}/test`, { ua })
  expect([body.outcome, body.bot_reason]).toEqual(["redirect", undefined])
})

test.each([
  ["Do Not Track", { dnt: "1" }],
  ["Global Privacy Control", { "sec-gpc": "1" }],
])("counts clicks of visitors who send %s, and none of them as a unique visitor", async (_, headers) => {
  const { id, slug } = await make({ destination: "https://example.com/" })
  for (let click = 0; click < 3; click++) await visit(`/l/${slug}`, { headers: headers as Record<string, string> }) // one of the two
  await recorded()
  expect(await clicksOf(id)).toMatchObject({ total: 3, human: 3, unique: 0 })
  await visit(`/l/${slug}`)
  await recorded()
  expect(await clicksOf(id)).toMatchObject({ total: 4, human: 4, unique: 1 })
})

test("shows a preview without counting a click, and no destination of a protected link", async () => {
  const open = await make({ destination: 'https://example.com/?a="<b>', title: "<b>Sale</b>" })
  const answer = await visit(`/l/${open.slug}+`)
  expect(answer.headers.get("content-security-policy")).toBe(
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  )
  expect({ cache: answer.headers.get("cache-control"), robots: answer.headers.get("x-robots-tag") }).toEqual({
    cache: "no-store",
    robots: "noindex",
  })
  const text = await answer.text()
  expect(text).toContain("&lt;b&gt;Sale&lt;/b&gt;")
  expect(text).toContain("https://example.com/?a=&quot;&lt;b&gt;")
  expect(text).not.toContain("<b>")
  const locked = await make({ destination: "https://hidden.example/", title: "Secret sale", password: "open sesame" })
  const closed = await (await visit(`/l/${locked.slug}+`)).text()
  expect(closed).toContain("Secret sale")
  expect(closed).not.toContain("hidden.example")
  expect((await visit("/l/unknown-preview+")).status).toBe(404)
  await recorded()
  expect(await clicksOf(open.id)).toMatchObject({ total: 0 })
})

test("includes no clicks in the metrics of the site", async () => {
  await recorded()
  const { body } = await stand.instance.api.get("/api/public/v1/sites/1/stats/summary?period=all", stand.instance.key)
  expect(body).toMatchObject({ metrics: { visitors: 0, pageviews: 0, events: 0 } })
})

test("serves nothing at its path while the plugin is off, and answers feature_disabled on its routes", async () => {
  const { slug } = await make({ destination: "https://example.com/" })
  const { plugins } = stand.instance.app.instance
  await plugins.turn("links", false, null)
  expect((await visit(`/l/${slug}`)).status).toBe(404)
  expect((await ask("GET", PATH)).body).toMatchObject({ code: "feature_disabled" })
  await plugins.turn("links", true, null)
  expect((await visit(`/l/${slug}`)).status).toBe(302)
})
