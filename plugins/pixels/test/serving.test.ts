import { expect, test } from "bun:test"
import { raw, sql } from "#plugin"
import { headersOf, openStage, PIXELS } from "./stage.ts"

const ALWAYS = {
  "access-control-allow-origin": "*",
  "cache-control": "max-age=0, must-revalidate, no-cache, no-store, private",
  "cross-origin-resource-policy": "cross-origin",
  expires: "0",
  pragma: "no-cache",
  "x-content-type-options": "nosniff",
}
const GIF = { ...ALWAYS, "content-type": "image/gif", "content-length": "43" }
const PNG = { ...ALWAYS, "content-type": "image/png", "content-length": "68" }
const BADGE = {
  ...ALWAYS,
  "content-type": "image/svg+xml; charset=utf-8",
  "content-length": expect.stringMatching(/^\d+$/),
  "content-security-policy": "default-src 'none'",
}

test.each([
  ["/p/news.gif", GIF, "GIF89a"],
  ["/p/NEWS.GIF", GIF, "GIF89a"],
  ["/p/news", GIF, "GIF89a"],
  ["/p/news?r=anna&c=%F0%9F", GIF, "GIF89a"],
  ["/p/news.png", PNG, "\u2030PNG\r\n\x1a\n"],
  ["/p/news/badge.svg", BADGE, "<svg "],
])("serves %s as an image that must not be cached", async (path, headers, begins) => {
  await using stage = await openStage()
  await stage.make({ slug: "news" })
  const response = await stage.ask(path)
  expect(response.status).toBe(200)
  expect(headersOf(response)).toEqual(headers)
  const bytes = await response.bytes()
  expect(new TextDecoder("windows-1252").decode(bytes)).toStartWith(begins)
  expect(bytes).toHaveLength(Number(response.headers.get("content-length")))
})

test("treats a needlessly escaped slug as the same slug, and no other escapes", async () => {
  await using stage = await openStage()
  const { id } = await stage.make({ slug: "early-bird_1" })
  const opened = async () => {
    await stage.folded()
    return ((await stage.get(`/${id}`)).body as { opens_total: number }).opens_total
  }
  for (const written of ["early%2Dbird%5F1.gif", "EARLY%2dBIR%44_%31%2EGI%46", "%65arly-bird_1/b%61dge%2Esvg", "early%2Dbird_1"])
    expect((await stage.ask(`/p/${written}`)).status).toBe(200)
  expect(await opened()).toBe(4)
  for (const other of ["early%252Dbird_1.gif", "early%2Dbird_1%7E.gif", "early-bird_1%00.gif", "early%bird_1.gif", "early-bird%5_1.gif"])
    expect((await stage.ask(`/p/${other}`)).status).toBe(200)
  expect(await opened()).toBe(4)
})

test("gives identical answers for known, unknown, deleted and archived pixels and those of deleted sites", async () => {
  await using stage = await openStage()
  await stage.make({ slug: "there" })
  const { id: deleted } = await stage.make({ slug: "deleted" })
  const { id: archived } = await stage.make({ slug: "archived" })
  await stage.send("DELETE", `/${deleted}`)
  await stage.send("PATCH", `/${archived}`, { archived: true })
  for (const ending of [".gif", ".png", "", "/badge.svg"]) {
    const known = await stage.ask(`/p/there${ending}`)
    const [headers, bytes] = [headersOf(known), await known.bytes()]
    for (const slug of ["nobody", "deleted", "archived", "%00", "a'\"<b>", "x".repeat(3_000), "постер"]) {
      const other = await stage.ask(`/p/${slug}${ending}`)
      expect({ slug, status: other.status, headers: headersOf(other), bytes: await other.bytes() }).toEqual({
        slug,
        status: 200,
        headers,
        bytes,
      })
    }
  }
  const { sites } = stage.app.instance
  await sites.remove(stage.site.id)
  expect(headersOf(await stage.ask("/p/there.gif"))).toEqual(GIF)
  await stage.app.collector.recorded()
  expect(stage.log.lines.filter(({ level }) => level === "error")).toEqual([])
})

test.each([
  ["If-None-Match: *", { "if-none-match": "*" }],
  ["If-Modified-Since", { "if-modified-since": "Fri, 01 Jan 2100 00:00:00 GMT" }],
  ["Range", { range: "bytes=0-1" }],
])("answers a request with %s with the whole image, and counts it", async (_, headers) => {
  await using stage = await openStage()
  const { id, slug } = await stage.make()
  const response = await stage.ask(`/p/${slug}.gif`, { headers })
  expect([response.status, (await response.bytes()).length]).toEqual([200, 43])
  expect(response.headers.has("etag") || response.headers.has("last-modified")).toBe(false)
  await stage.folded()
  expect(await stage.get(`/${id}`)).toMatchObject({ body: { opens_total: 1 } })
})

test.each([
  ["HEAD", "HEAD", {}, 0],
  ["POST", "POST", {}, 43],
  ["OPTIONS", "OPTIONS", { origin: "https://mail.example", "access-control-request-method": "GET" }, 43],
  ["PUT", "PUT", {}, 43],
  ["a browser's prefetch", "GET", { "sec-purpose": "prefetch;prerender" }, 43],
  ["an older browser's prefetch", "GET", { purpose: "prefetch" }, 43],
  ["Firefox's prefetch", "GET", { "x-moz": "prefetch" }, 43],
  ["a preview", "GET", { purpose: "preview" }, 43],
])("answers %s without counting an open", async (_, method, headers, length) => {
  await using stage = await openStage()
  const { id, slug } = await stage.make()
  const response = await stage.ask(`/p/${slug}.gif`, { method, headers: headers as Record<string, string> })
  expect([response.status, headersOf(response)]).toEqual([200, GIF])
  expect(await response.bytes()).toHaveLength(length)
  await stage.ask(`/p/nobody.gif`, { method, headers: headers as Record<string, string> })
  await stage.folded()
  expect(await stage.get(`/${id}`)).toMatchObject({ body: { opens_total: 0, last_open_at: null } })
  expect(await stage.get(`/${id}/stats`)).toMatchObject({ body: { opens_total: 0, bots: 0 } })
})

test("shows rounded opens on the badge only if enabled, and nothing of the request", async () => {
  await using stage = await openStage()
  const { id } = await stage.make({ slug: "repo", kind: "readme" })
  const badge = async () =>
    (await stage.ask("/p/repo/badge.svg?label=%3Cscript%3E", { headers: { "x-forwarded-host": "evil.example" } })).text()
  for (let n = 0; n < 1_300; n++) {
    await stage.ask("/p/repo/badge.svg")
    // Beyond 1,000 opens that wait for a busy disk, some would be lost.
    if (n % 500 === 499) await stage.app.collector.recorded()
  }
  await stage.folded()
  const neutral = await badge()
  expect(neutral).toBe(await (await stage.ask("/p/nobody/badge.svg")).text())
  expect(neutral).not.toMatch(/\d+k|script|evil/)
  await stage.send("PATCH", `/${id}`, { badge_public: true })
  expect(await badge()).toContain(">1.3k</text>")
  expect(await badge()).not.toMatch(/script|evil/)
  await stage.send("PATCH", `/${id}`, { badge_public: false })
  expect(await badge()).toBe(neutral)
})

test.each([
  ["/p", 404],
  ["/p/", 404],
  ["/p/news/other.svg", 404],
  ["/p/news/badge.svg/more", 404],
])("does not serve %s as an image", async (path, status) => {
  await using stage = await openStage()
  await stage.make({ slug: "news" })
  expect((await stage.ask(path)).status).toBe(status)
})

test("serves pixels below the configured prefix", async () => {
  await using stage = await openStage({ pixel_prefix: "/dot", base_url: "http://stats.example" })
  expect(await stage.make({ slug: "news" })).toMatchObject({ url: "http://stats.example/dot/news.gif" })
  expect(headersOf(await stage.ask("/dot/news.gif"))).toEqual(GIF)
  expect((await stage.ask("/p/news.gif")).headers.get("content-type")).not.toBe("image/gif")
})

test("serves nothing while the plugin is off, and everything afterwards", async () => {
  await using stage = await openStage()
  const { slug } = await stage.make()
  const { plugins } = stage.app.instance
  await plugins.turn("pixels", false, null)
  expect((await stage.ask(`/p/${slug}.gif`)).status).toBe(404)
  expect(await stage.api.get(PIXELS, undefined, stage.as)).toMatchObject({ status: 404, body: { code: "feature_disabled" } })
  await plugins.turn("pixels", true, null)
  expect(headersOf(await stage.ask(`/p/${slug}.gif`))).toEqual(GIF)
})

test("answers with the image when the store refuses opens", async () => {
  await using stage = await openStage()
  const { slug } = await stage.make({ recipient_mode: "hashed" })
  const { catalog } = stage.app.instance
  await catalog.run(sql`${raw("drop table site_keys")}`)
  expect(headersOf(await stage.ask(`/p/${slug}.gif?r=anna`))).toEqual(GIF)
})
