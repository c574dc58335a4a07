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

test("a link redirects with the headers of its kind, and nothing in the body", async () => {
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

test("a link that may be indexed says nothing to robots", async () => {
  const { slug } = await make({ destination: "https://example.com/", noindex: false })
  expect((await visit(`/l/${slug}`)).headers.has("x-robots-tag")).toBe(false)
})

test("a slug is found in any case, and with a slash behind it", async () => {
  await make({ destination: "https://example.com/", slug: "Spring" })
  for (const path of ["/l/spring", "/l/SPRING", "/l/Spring/"]) expect((await visit(path)).status).toBe(302)
})

test("an edit is in the next answer", async () => {
  const { id, slug } = await make({ destination: "https://example.com/1" })
  for (const destination of ["https://example.com/2", "https://example.com/3"]) {
    expect((await ask("PATCH", `${PATH}/${id}`, { destination })).status).toBe(200)
    expect((await visit(`/l/${slug}`)).headers.get("location")).toBe(destination)
  }
  await ask("PATCH", `${PATH}/${id}`, { slug: "moved-on" })
  expect((await visit("/l/moved-on")).status).toBe(302)
  expect((await visit(`/l/${slug}`)).status).toBe(404)
})

test("unknown, deleted, archived and not begun get one answer, byte by byte, that holds nothing of the request", async () => {
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
  expect(answers[0]!.text).toContain("There is no such link.")
  for (const answer of answers) expect(answer).toEqual(answers[0]!)
  clock.advance(6 * 3_600_000)
  expect((await visit(`/l/${later.slug}`)).status).toBe(302)
})

test("an expired link leads to where it was said, or is gone", async () => {
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

test.each(["PUT", "DELETE", "PATCH", "OPTIONS", "POST"])("%s is refused with what is allowed", async (method) => {
  const { slug } = await make({ destination: "https://example.com/" })
  for (const path of [`/l/${slug}`, "/l/unknown-one"]) {
    const answer = await visit(path, { method })
    expect({ status: answer.status, allow: answer.headers.get("allow") }).toEqual({ status: 405, allow: "GET, HEAD" })
  }
})

test("sixty misses a minute from one address, then 429; links go on working, and others are not held up", async () => {
  const { slug } = await make({ destination: "https://example.com/" })
  const address = "192.0.2.1"
  for (let miss = 0; miss < 60; miss++) expect((await visit(`/l/miss-${miss}`, { address })).status).toBe(404)
  const refused = await visit("/l/miss-60", { address })
  expect({ status: refused.status, wait: Number(refused.headers.get("retry-after")) > 0 }).toEqual({ status: 429, wait: true })
  expect((await visit(`/l/${slug}`, { address })).status).toBe(302)
  expect((await visit("/l/miss-60")).status).toBe(404)
})

test("each request that was redirected is a click, with why it is none of a person's", async () => {
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
  "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
  "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
  "Mozilla/5.0 (compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)",
  GOOGLEBOT,
])("%s is no person", async (agent) => {
  const { id, slug } = await make({ destination: "https://example.com/" })
  const { body } = await ask("POST", `${PATH}/${id}/test`, { ua: agent })
  expect(body).toMatchObject({ outcome: "redirect", bot_reason: "ua" })
  expect((await visit(`/l/${slug}`, { headers: { "user-agent": agent } })).status).toBe(302)
})

test("who does not want to be followed is counted, and nothing of them is kept", async () => {
  const { id, slug } = await make({ destination: "https://example.com/" })
  for (const header of ["dnt", "sec-gpc"]) await visit(`/l/${slug}`, { headers: { [header]: "1" } })
  await recorded()
  expect(await clicksOf(id)).toMatchObject({ total: 2, human: 2, unique: 1 })
})

test("a preview shows title, target and day without a click; of a protected link only title and day", async () => {
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

test("clicks count in no metric of the site", async () => {
  await recorded()
  const { body } = await stand.instance.api.get("/api/public/v1/sites/1/stats/summary?period=all", stand.instance.key)
  expect(body).toMatchObject({ metrics: { visitors: 0, pageviews: 0, events: 0 } })
})

test("while the area is off nothing is at its path, and its routes say so", async () => {
  const { slug } = await make({ destination: "https://example.com/" })
  const { plugins } = stand.instance.app.instance
  await plugins.turn("links", false, null)
  expect((await visit(`/l/${slug}`)).status).toBe(404)
  expect((await ask("GET", PATH)).body).toMatchObject({ code: "feature_disabled" })
  await plugins.turn("links", true, null)
  expect((await visit(`/l/${slug}`)).status).toBe(302)
})
