import { afterAll, beforeAll, expect, test } from "bun:test"
import { openTarget, type Target } from "../target.ts"

let target: Target
beforeAll(async () => {
  target = await openTarget({ script_path: "/own/s.js", collect_path: "/own/c" })
})
afterAll(() => target.close())

/** Requests without the client's automatic decompression and headers. */
const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(target.url + path, { method, headers: { "accept-encoding": "identity", ...headers } })

test.each([
  ["/js/script.js", 200],
  ["/js/plausible.js", 200],
  ["/js/script.hash.js", 200],
  ["/js/script.outbound-links.hash.js", 200],
  ["/js/script.hash.outbound-links.file-downloads.tagged-events.pageview-props.revenue.exclusions.compat.local.manual.js", 200],
  ["/js/plausible.outbound-links.js", 200],
  ["/js/pa-Ab_1-9.js", 200],
  ["/own/s.js", 200],
  ["/script.js", 200],
  ["/count.js", 200],
  ["/js/vitals.js", 200],
  ["/own/vitals.js", 200],
  ["/js/script.nothing.js", 404],
  ["/js/script.hash.nothing.js", 404],
  ["/js/script..js", 404],
  ["/js/script.hash", 404],
  ["/js/pa-.js", 404],
  [`/js/pa-${"a".repeat(65)}.js`, 404],
  ["/js/pa-a%22b.js", 404],
  ["/js/", 404],
  ["/script.hash.js", 404],
])("%s answers %d", async (path, status) => {
  expect((await ask(path)).status).toBe(status)
})

test("any page can load a script, cached for a day", async () => {
  const answer = await ask("/js/script.js")
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=86400",
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
    "x-content-type-options": "nosniff",
    vary: "accept-encoding",
    etag: expect.stringMatching(/^W\/"[a-z0-9]+"$/),
  })
  expect(answer.headers.has("content-security-policy")).toBe(false)
})

test.each([
  ["gzip", "gzip", (body: Uint8Array<ArrayBuffer>) => Bun.gunzipSync(body)],
  ["gzip, deflate, br, zstd", "zstd", (body: Uint8Array<ArrayBuffer>) => Bun.zstdDecompressSync(body)],
  ["br", null, (body: Uint8Array<ArrayBuffer>) => body],
  ["gzip;q=0", null, (body: Uint8Array<ArrayBuffer>) => body],
])("with Accept-Encoding %p, the content encoding is %p", async (accepted, encoding, unpack) => {
  const plain = await (await ask("/js/script.js")).text()
  const answer = await fetch(`${target.url}/js/script.js`, { headers: { "accept-encoding": accepted }, decompress: false })
  expect(answer.headers.get("content-encoding")).toBe(encoding)
  expect(new TextDecoder().decode(unpack(new Uint8Array(await answer.arrayBuffer())))).toBe(plain)
})

test("does not send a script again that the browser has cached", async () => {
  const etag = (await ask("/js/script.js")).headers.get("etag")!
  for (const known of [etag, `"other", ${etag}`, etag.slice(2), "*"]) {
    const answer = await ask("/js/script.js", { "if-none-match": known })
    expect([answer.status, await answer.text(), answer.headers.get("etag")]).toEqual([304, "", etag])
    expect(answer.headers.get("cache-control")).toBe("public, max-age=86400")
  }
  expect((await ask("/js/script.js", { "if-none-match": '"other"' })).status).toBe(200)
  expect((await ask("/js/plausible.js", { "if-none-match": etag })).status).toBe(200)
})

test("the order of extensions in a file name does not matter", async () => {
  const tag = async (path: string) => (await ask(path)).headers.get("etag")
  expect(await tag("/js/script.hash.local.js")).toBe(await tag("/js/script.local.revenue.hash.js"))
  expect(await tag("/js/script.hash.js")).not.toBe(await tag("/js/script.local.js"))
})

test("scripts send events to the path configured for the instance", async () => {
  for (const path of ["/js/script.js", "/js/plausible.js", "/own/s.js"]) {
    const text = await (await ask(path)).text()
    expect(text).toContain('"/own/c"')
    expect(text).not.toContain("/api/event")
    expect(text).not.toContain("{name}")
  }
})

test.each([
  ["HEAD", 200],
  ["OPTIONS", 204],
  ["POST", 405],
  ["DELETE", 405],
])("%s answers %d without the body of the script", async (method, status) => {
  const answer = await ask("/js/script.js", {}, method)
  expect(answer.status).toBe(status)
  expect(await answer.text()).not.toContain("footfall_ignore")
  expect(answer.headers.get("access-control-allow-origin")).toBe("*")
  if (status === 405) expect(answer.headers.get("allow")).toBe("GET, HEAD, OPTIONS")
})
