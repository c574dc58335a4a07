import { afterAll, beforeAll, expect, test } from "bun:test"
import { ERROR_CODES } from "../../src/domain/error.ts"
import { openTarget, type Target } from "./target.ts"

let target: Target
beforeAll(async () => {
  target = await openTarget()
})
afterAll(() => target.close())

test.each([...ERROR_CODES])("/errors/%s explains the code, to people and to programs", async (code) => {
  const json = await fetch(`${target.url}/errors/${code}`)
  expect({ status: json.status, type: json.headers.get("content-type") }).toEqual({ status: 200, type: "application/json; charset=utf-8" })
  expect(await json.json()).toEqual({ code, status: expect.any(Number), title: expect.any(String), meaning: expect.any(String) })
  const page = await fetch(`${target.url}/errors/${code}`, { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } })
  expect({ status: page.status, type: page.headers.get("content-type") }).toEqual({ status: 200, type: "text/html; charset=utf-8" })
  expect(await page.text()).toContain(`<code>${code}</code>`)
})

test.each(["nothing", "__proto__", "toString", "NOT_FOUND", "%zz", "not_found%20"])("/errors/%s is no code", async (code) => {
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
])("%s is answered by a problem, not by a page", async (path) => {
  const answer = await fetch(target.url + path, { headers: { accept: "text/html" } })
  expect(answer.headers.get("content-type")).toBe("application/problem+json")
  expect(await answer.json()).toMatchObject({ status: 404, code: "not_found", title: "Nothing is at this address" })
})
