import { afterAll, beforeAll, expect, test } from "bun:test"
import { Glob } from "bun"
import { plugins } from "../../plugins/index.ts"
import { ERROR_CODES } from "../../src/domain/error.ts"
import { sendRaw } from "./raw.ts"
import { openTarget, type Target } from "./target.ts"

let target: Target
beforeAll(async () => {
  target = await openTarget()
})
afterAll(() => target.close())

test.each([...ERROR_CODES, ...plugins.flatMap(({ errors = {} }) => Object.keys(errors))])(
  "/errors/%s explains the code in HTML and JSON",
  async (code) => {
    const json = await fetch(`${target.url}/errors/${code}`)
    expect({ status: json.status, type: json.headers.get("content-type") }).toEqual({
      status: 200,
      type: "application/json; charset=utf-8",
    })
    expect(await json.json()).toEqual({ code, status: expect.any(Number), title: expect.any(String), meaning: expect.any(String) })
    const page = await fetch(`${target.url}/errors/${code}`, { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } })
    expect({ status: page.status, type: page.headers.get("content-type") }).toEqual({ status: 200, type: "text/html; charset=utf-8" })
    expect(await page.text()).toContain(`<code>${code}</code>`)
  },
)

test.each(["nothing", "__proto__", "toString", "NOT_FOUND", "%zz", "not_found%20"])("/errors/%s is not an error code", async (code) => {
  const answer = await fetch(`${target.url}/errors/${code}`)
  expect({ status: answer.status, body: await answer.json() }).toMatchObject({ status: 404, body: { code: "not_found" } })
})

test.each([
  "/api",
  "/api/",
  "/api/public/v1",
  "/api/private/nothing",
  "/.well-known/oauth-protected-resource",
  "/register",
  "/favicon.ico",
])("%s is answered with a problem, not with a page", async (path) => {
  const answer = await fetch(target.url + path, { headers: { accept: "text/html" } })
  expect(answer.headers.get("content-type")).toBe("application/problem+json")
  expect(await answer.json()).toMatchObject({ status: 404, code: "not_found", title: "The address was not found" })
})

test.each(["%00", "%2F", "%5c", "1%00", "%ff", "abc", "0", "-1"])("answers site_not_found for the site id %s", async (id) => {
  const headers = { authorization: `Bearer ${target.keys.all}` }
  for (const path of [`/sites/${id}`, `/sites/${id}/goals`, `/sites/${id}/stats/summary`]) {
    const answer = await fetch(`${target.url}/api/public/v1${path}`, { headers })
    expect({ path, status: answer.status, body: await answer.json() }).toMatchObject({
      path,
      status: 404,
      body: { code: "site_not_found" },
    })
  }
  const withoutKey = await fetch(`${target.url}/api/public/v1/sites/${id}`)
  expect(withoutKey.status).toBe(401)
})

test("answers with the code of the resource for a goal id that is not a number", async () => {
  const answer = await fetch(`${target.url}/api/public/v1/sites/1/goals/%00`, { headers: { authorization: `Bearer ${target.keys.all}` } })
  expect(await answer.json()).toMatchObject({ status: 404, code: "goal_not_found" })
})

/** One failing request to every part that responds with problems: routes, collection, pages and the tracker. */
const PROBLEMS: [path: string, init?: RequestInit][] = [
  ["/api/nothing"],
  ["/api/public/v1/sites"],
  ["/api/public/v1/sites", { method: "DELETE" }],
  ["/api/private/me"],
  ["/api/event", { method: "POST", body: "{" }],
  ["/api/event", { method: "PUT" }],
  ["/api/send", { method: "PUT" }],
  ["/count", { method: "PUT" }],
  ["/js/script.js", { method: "PUT" }],
  ["/assets/nothing.js"],
  ["/", { method: "PUT" }],
]

test("the type of an error is the URL of its page, on the requested origin if no base URL is set", async () => {
  for (const [path, init] of PROBLEMS) {
    const answer = await fetch(target.url + path, init)
    expect(answer.headers.get("content-type")).toBe("application/problem+json")
    const { type, code, detail } = (await answer.json()) as Record<"type" | "code" | "detail", string>
    expect({ path, type }).toEqual({ path, type: `${target.url}/errors/${code}` })
    expect(detail).toEndWith(".")
    expect((await fetch(type)).status).toBe(200)
  }
})

test("the type of an error is absolute if the request has no host", async () => {
  const [answer] = await sendRaw(target.port, "GET /api/nothing HTTP/1.0\r\n\r\n")
  expect(JSON.parse(answer!.body)).toMatchObject({ code: "invalid_header", type: "http://localhost/errors/invalid_header" })
})

test("the type of an error starts with the base URL", async () => {
  await using named = await openTarget({ base_url: "https://stats.example.org" })
  const answer = await fetch(`${named.url}/api/public/v1/sites`)
  expect(await answer.json()).toMatchObject({ type: "https://stats.example.org/errors/missing_api_key" })
})

test("the detail of every error ends with a full stop", async () => {
  const root = new URL("../..", import.meta.url).pathname
  const unfinished: string[] = []
  for await (const file of new Glob("{src,plugins}/**/*.ts").scan(root)) {
    const source = await Bun.file(root + file).text()
    for (const [text, detail] of source.matchAll(/new AppError\(\s*"\w+",\s*("(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)/g))
      if (!/\.["`]$/.test(detail!)) unfinished.push(`${file}: ${text}`)
  }
  expect(unfinished).toEqual([])
})
