import { afterAll, beforeAll, expect, test } from "bun:test"
import { signedIn } from "../http/private/people.ts"
import { startInstance, type TestInstance } from "../kit.ts"

/** Threat `request-forgery`: a page of another origin cannot write, whichever route it tries. */

let instance: TestInstance
let cookie: string
let writes: { method: string; path: string }[]
beforeAll(async () => {
  instance = await startInstance({ settings: { base_url: "http://localhost:9000" } })
  cookie = await instance.signIn({ role: "owner", isInstanceAdmin: true })
  const { body } = await (await signedIn(instance, cookie)).get("/api/private/openapi.json")
  writes = Object.entries(body.paths as Record<string, object>).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((method) => method !== "get")
      // The ids do not exist, so a route that accepted the request would do no damage.
      .map((method) => ({ method: method.toUpperCase(), path: path.replaceAll(/\{[^}]+\}/g, "999999") })),
  )
})
afterAll(() => instance[Symbol.asyncDispose]())

const OWN = "http://localhost:9000"
const ORIGINS: readonly (readonly [string, Record<string, string>, boolean])[] = [
  ["a page of another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }, true],
  ["the same without an origin", { "sec-fetch-site": "cross-site" }, true],
  ["another host of the same site", { "sec-fetch-site": "same-site", origin: "http://evil.localhost:9000" }, true],
  ["another origin from a browser without Sec-Fetch-Site", { origin: "https://evil.example" }, true],
  ["a page without an origin of its own", { origin: "null" }, true],
  ["our host under another scheme and port", { origin: "https://localhost" }, true],
  ["our own page", { "sec-fetch-site": "same-origin", origin: OWN }, false],
  ["our own page in a browser without Sec-Fetch-Site", { origin: OWN }, false],
  ["a client that is not a browser", {}, false],
]

test.each(ORIGINS)("every write route recognizes a request from %s", async (_, headers, isForged) => {
  expect(writes.length).toBeGreaterThan(100)
  const wrong: string[] = []
  for (const { method, path } of writes) {
    // Legitimate requests are sent without a session, so that they change nothing.
    const own = isForged ? { cookie } : {}
    const { status, body } = await instance.api.send(method, path, {}, undefined, { ...headers, ...own })
    const isRefused = status === 403 && (body as { code: string }).code === "origin_not_allowed"
    if (isRefused !== isForged) wrong.push(`${method} ${path}: ${status}`)
  }
  expect(wrong).toEqual([])
})
