import { expect, test } from "bun:test"
import { openTarget } from "../target.ts"

const GIF = "474946383961010001008000"

test("the pixel counts a page without scripts and always answers with an image", async () => {
  await using target = await openTarget()
  const ask = async (query: string, init: RequestInit = {}) => {
    const headers = { "user-agent": target.browser["user-agent"], "accept-language": "de", "sec-fetch-dest": "image" }
    const answer = await fetch(`${target.url}/p.gif${query}`, { headers, ...init })
    const bytes = await answer.bytes()
    return { status: answer.status, type: answer.headers.get("content-type"), size: bytes.length, begin: bytes.slice(0, 12).toHex() }
  }
  const picture = { status: 200, type: "image/gif", size: 43, begin: GIF }
  const page = encodeURIComponent("https://shop.example/plain")
  expect(await ask(`?d=shop.example&u=${page}`)).toEqual(picture)
  expect(await target.pageviews()).toBe(1)
  // HEAD requests, bots, unknown sites and unreadable requests are not counted.
  expect(await ask(`?d=shop.example&u=${page}`, { method: "HEAD" })).toEqual({ ...picture, size: 0, begin: "" })
  expect(await ask(`?d=shop.example&u=${page}`, { headers: { "user-agent": "curl/8" } })).toEqual(picture)
  expect(await ask(`?d=nowhere.example&u=${encodeURIComponent("https://nowhere.example/")}`)).toEqual(picture)
  for (const query of [
    "",
    "?",
    "?u=%zz",
    "?u=%00",
    "?u=data:,x",
    "?u=http://[",
    `?u=${"a".repeat(9_000)}`,
    "?d=&u=&r=",
    "?d=a&d=b&u=x&u=y",
  ])
    expect(await ask(query)).toEqual(picture)
  expect(await target.pageviews()).toBe(1)
})

test("answers 503 if the view cannot be stored", async () => {
  await using target = await openTarget()
  target.stopCollecting()
  const headers = { "user-agent": target.browser["user-agent"], "accept-language": "de" }
  const answer = await fetch(`${target.url}/p.gif?u=${encodeURIComponent("https://shop.example/")}`, { headers })
  expect({ status: answer.status, type: answer.headers.get("content-type"), size: (await answer.bytes()).length }).toEqual({
    status: 503,
    type: "image/gif",
    size: 43,
  })
  expect(answer.headers.get("retry-after")).toMatch(/^\d+$/)
})

test("the additional collect path accepts events like the default one", async () => {
  await using target = await openTarget({ collect_path: "/x/collect" })
  const body = '{"n":"pageview","u":"https://shop.example/"}'
  const answer = await fetch(`${target.url}/x/collect`, { method: "POST", body, headers: target.browser })
  expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 202, text: "ok" })
  expect(await target.pageviews()).toBe(1)
  expect((await fetch(`${target.url}/x/other`, { method: "POST", body })).status).toBe(404)
})
