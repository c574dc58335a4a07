import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { statSync } from "node:fs"
import { join } from "node:path"
import { readSiteAddress, summaryArguments, timeseriesArguments } from "../../src/domain/site-address.ts"
import { lastChange } from "../../src/http/dashboard/bundle.ts"
import { startInstance, type TestInstance } from "../kit.ts"

/** Bundling the dashboard from source can be slow on a busy machine. */
const SLOW = 30_000

let instance: TestInstance
beforeAll(async () => {
  instance = await startInstance()
}, SLOW)
afterAll(() => instance[Symbol.asyncDispose]())

const open = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  instance.fetch(new Request(`http://localhost${path}`, { ...init, headers }))

interface BootShown {
  version: string
  build: string
  setup_needed: boolean
  me?: { user: { email: string }; sites: { id: number; name: string; permissions: string[] }[] }
  site?: unknown
  reports?: { report: string; given: object; data: { metrics?: object } }[]
}
async function bootOf(response: Response): Promise<BootShown> {
  const html = await response.text()
  return JSON.parse(/<script type="application\/json" id="boot">(.*?)<\/script>/s.exec(html)?.[1] ?? "null")
}

describe("a page of the dashboard", () => {
  test("has a policy that allows only its own files and no inline code", async () => {
    const { headers, status } = await open("/signin")
    expect(status).toBe(200)
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
        "base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; frame-ancestors 'none'",
    )
    expect(headers.get("cache-control")).toBe("no-store")
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin")
    expect(headers.get("permissions-policy")).toBe("camera=(), microphone=(), geolocation=(), payment=(), usb=()")
    expect(headers.get("x-frame-options")).toBeNull()
  })

  test(
    "has no inline script, style or event handler",
    async () => {
      const html = await (await open("/sites")).text()
      expect(html).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script(?![^>]*(type="application\/json"|src=))/)
    },
    SLOW,
  )

  test.each(["/", "/setup", "/sites", "/sites/1", "/sites/1/details/page", "/account/security", "/help/api"])(
    "is served at %s",
    async (path) => {
      expect((await open(path)).status).toBe(200)
    },
  )

  test.each([
    "/nothing",
    "/sites/1/nothing/at/all",
    "/.well-known/anything",
    "/sites/1/2",
    "/sites/abc",
    "/sites/01/goals",
    "/sites/1e3/settings",
    "/sites/1/settings/nothing",
    "/org/abc",
    "/org/1/nothing",
    "/account/nothing",
    "/help/nothing",
    "/assets/nothing.js",
  ])("is not served at %s", async (path) => {
    const response = await open(path)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ code: "not_found" })
  })

  test("answers a browser's navigation to an unknown URL with an HTML page", async () => {
    const response = await open("/nothing", { "sec-fetch-mode": "navigate" })
    expect([response.status, response.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"])
    const api = await open("/api/private/nothing", { "sec-fetch-mode": "navigate" })
    expect([api.status, api.headers.get("content-type")]).toEqual([404, "application/problem+json"])
  })

  test("allows only GET and HEAD", async () => {
    const response = await open("/signin", {}, { method: "POST" })
    expect(response.status).toBe(405)
    expect(response.headers.get("allow")).toBe("GET, HEAD")
  })

  test("answers only under its own host names", async () => {
    const response = await instance.fetch(new Request("http://elsewhere.example/signin"))
    expect(response.status).toBe(421)
    expect(await response.text()).toContain("<p>The dashboard is not served under this host name. Set base_url or allowed_hosts.</p>")
  })

  test("asks search engines not to index a shared view", async () => {
    const { headers } = await open("/share/s/unknown")
    expect(headers.get("x-robots-tag")).toBe("noindex")
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'")
  })
})

describe("the initial data of a page", () => {
  test("contains nothing about anyone without a session", async () => {
    expect(Object.keys(await bootOf(await open("/sites/1"))).sort()).toEqual(["build", "setup_needed", "version"])
  })

  test("contains the signed-in user and their permissions", async () => {
    const cookie = await instance.signIn({ role: "viewer" })
    const { me, setup_needed } = await bootOf(await open("/sites", { cookie }))
    expect(setup_needed).toBe(false)
    expect(me?.sites).toMatchObject([{ id: 1, name: "Shop" }])
    expect(me?.sites[0]?.permissions).not.toContain("site:write")
  })

  test("contains the first reports of a site page whose URL names the period, equal to those of the API", async () => {
    const cookie = await instance.signIn({ role: "viewer" })
    await instance.collect({ n: "pageview", u: "https://shop.example/a", d: "shop.example" })
    const search = "?period=today&f=page:is:/a"
    const { reports } = await bootOf(await open(`/sites/1${search}`, { cookie }))
    const { address } = readSiteAddress(search)
    expect(reports?.map(({ report, given }) => ({ report, given }))).toEqual([
      { report: "summary", given: summaryArguments(address) },
      { report: "timeseries", given: timeseriesArguments(address) },
    ])
    expect(reports?.[0]?.data.metrics).toMatchObject({ visitors: 1, pageviews: 1 })
  })

  test("contains the site of a site page, equal to its API response, and no site on other pages", async () => {
    const cookie = await instance.signIn({ role: "viewer" })
    const { body } = await instance.api.get("/api/private/sites/1", undefined, { cookie })
    expect((await bootOf(await open("/sites/1", { cookie }))).site).toEqual(body)
    expect((await bootOf(await open("/sites", { cookie }))).site).toBeUndefined()
  })

  test("contains no reports without a period, because the browser remembers one", async () => {
    const cookie = await instance.signIn({ role: "viewer" })
    expect((await bootOf(await open("/sites/1", { cookie }))).reports).toEqual([])
  })

  test("is empty, with status 404, for a site the user cannot see", async () => {
    const cookie = await instance.signIn({})
    const foreign = await open("/sites/1?period=28d", { cookie })
    const missing = await open("/sites/99?period=28d", { cookie })
    expect([foreign.status, missing.status]).toEqual([404, 404])
    expect(await bootOf(foreign)).toEqual(await bootOf(missing))
  })

  test.each([
    "/sites/99",
    "/sites/99/settings",
    "/sites/99/settings/privacy",
    "/sites/99/goals",
    "/sites/99/links",
    "/sites/99/details/page",
    "/org/99",
    "/org/99/keys",
  ])("the page is 404 at %s, which does not exist for the user", async (path) => {
    const cookie = await instance.signIn({ role: "owner" })
    const page = await open(path, { cookie })
    expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"])
    const own = path.replace("99", "1")
    expect([own, (await open(own, { cookie })).status]).toEqual([own, 200])
  })

  test("the page is 404 for an unknown shared view, and 200 for an existing one", async () => {
    const cookie = await instance.signIn({ role: "owner" })
    const path = "/api/private/sites/1/shares"
    const made = await instance.api.send("POST", path, { name: "For Ann", sections: ["summary"] }, undefined, { cookie })
    const { slug } = made.body as { slug: string }
    expect((await open("/share/s/unknown")).status).toBe(404)
    expect((await open(`/share/s/${slug}`)).status).toBe(200)
  })

  test("cannot be escaped from by the name of a site", async () => {
    const cookie = await instance.signIn({ role: "owner" })
    const { organizations, sites } = instance.app.instance
    const made = await sites.create((await organizations.list())[0]!.id, {
      name: "</script><script>alert(1)</script>",
      hosts: ["hostile.example"],
    })
    const html = await (await open("/sites", { cookie })).text()
    expect(html).not.toContain("<script>alert")
    expect((await bootOf(new Response(html))).me?.sites.find(({ id }) => id === made.id)?.name).toBe("</script><script>alert(1)</script>")
  })
})

describe("the theme", () => {
  test("is set before anything is drawn, also on the sign-in page of the same browser", async () => {
    const cookie = await instance.signIn({ role: "viewer" })
    const me = (await instance.api.get("/api/private/me", undefined, { cookie })).body as { user: { version: number } }
    const patched = await instance.api.send("PATCH", "/api/private/me", { theme: "dark", version: me.user.version }, undefined, { cookie })
    expect(patched.status).toBe(200)
    const page = await open("/sites", { cookie })
    expect(await page.text()).toContain('<html lang="en" data-theme="dark">')
    const line = page.headers.getSetCookie().find((one) => one.startsWith("theme="))
    expect(line).toMatch(/^theme=dark; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax$/)
    expect(await (await open("/signin", { cookie: "theme=dark" })).text()).toContain('data-theme="dark"')
  })

  test("is that of the system if the cookie is invalid", async () => {
    expect(await (await open("/signin", { cookie: 'theme="><b>' })).text()).toContain('<html lang="en" data-theme="auto">')
  })
})

test("notices changes to the dashboard's files", () => {
  const newest = new Bun.Glob("**/*.tsx").scanSync({ cwd: join(import.meta.dir, "../../src/ui"), absolute: true })
  const changedAt = Math.max(...[...newest].map((file) => statSync(file).mtimeMs))
  expect(lastChange()).toBeGreaterThanOrEqual(changedAt)
  expect(changedAt).toBeGreaterThan(0)
})

describe("a file of the dashboard", () => {
  const scriptOf = async () => /\/assets\/[^"]+\.js/.exec(await (await open("/signin")).text())?.[0] ?? ""

  test("is immutable, and compressed if the browser accepts it", async () => {
    const path = await scriptOf()
    const gzip = await open(path, { "accept-encoding": "gzip" })
    expect(gzip.headers.get("content-encoding")).toBe("gzip")
    expect(gzip.headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
    const plain = await open(path)
    expect(plain.headers.get("content-encoding")).toBeNull()
    expect(new TextDecoder().decode(Bun.gunzipSync(await gzip.bytes()))).toBe(await plain.text())
    const again = await open(path, { "if-none-match": plain.headers.get("etag")! })
    expect(again.status).toBe(304)
  })

  test("includes the font as a separate file", async () => {
    const font = await open("/assets/hanken-grotesk.woff2")
    expect([font.status, font.headers.get("content-type")]).toEqual([200, "font/woff2"])
  })
})
