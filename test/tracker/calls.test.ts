import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page, Request } from "playwright-core"
import { noBrowser } from "../browser/browser.ts"
import { openStand, type Stand, type Visit } from "./stand.ts"

setDefaultTimeout(20_000)

let stand: Stand
beforeAll(async () => {
  if (noBrowser) return
  stand = openStand()
}, 30_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

/** Calls the tracker and returns the arguments of every callback. */
function call(page: Page, name: string, options: object = {}): Promise<unknown[]> {
  return page.evaluate(
    ([event, given]) =>
      new Promise<unknown[]>((resolve) => {
        const results: unknown[] = []
        const callback = (result: { error?: unknown }) => {
          results.push(result.error instanceof Error ? { error: result.error.name } : result)
          // Long enough to notice a second call.
          setTimeout(() => resolve(results), 50)
        }
        window.footfall?.(event, { ...given, callback })
      }),
    [name, options] as const,
  )
}
/** Counts the responses and failures of an event's requests. The returned function waits for a number of them. */
function watchAnswers(page: Page, name: string): (times: number) => Promise<void> {
  let answered = 0
  const onAnswer = (request: Request) => {
    if (request.postData()?.includes(`"${name}"`)) answered += 1
  }
  page.on("requestfinished", onAnswer)
  page.on("requestfailed", onAnswer)
  return async (times) => {
    while (answered < times) await Bun.sleep(10)
    // The page's own handlers run after those of the network.
    await page.waitForTimeout(50)
  }
}
const bodies = (visit: Visit, name: string) => visit.sent.filter(({ body }) => body.n === name).map(({ body }) => body)

test.skipIf(noBrowser)("sends every option of a custom event", async () => {
  await using visit = await stand.visit()
  const options = {
    props: { plan: "pro", seats: 3 },
    revenue: { amount: "19.90", currency: "EUR" },
    interactive: false,
    url: "https://shop.example/thanks",
  }
  expect(await call(visit.page, "Purchase", options)).toEqual([{ status: 202 }])
  expect(bodies(visit, "Purchase")).toMatchObject([
    { p: { plan: "pro", seats: 3 }, $: { amount: "19.90", currency: "EUR" }, i: false, u: "https://shop.example/thanks", d: "test" },
  ])
})

test.skipIf(noBrowser)("reports a page that was not found, and accepts calls to plausible()", async () => {
  await using visit = await stand.visit({ path: "/nowhere" })
  await visit.page.evaluate(() => {
    window.footfall?.("404")
    window.plausible?.("Signup", { props: { from: "plausible" } })
  })
  await visit.names()
  expect(bodies(visit, "404")).toMatchObject([{ u: `${visit.origin}/nowhere` }])
  expect(bodies(visit, "Signup")).toMatchObject([{ p: { from: "plausible" } }])
})

test.skipIf(noBrowser)("every event after identify carries the user id", async () => {
  await using visit = await stand.visit()
  await visit.events(1)
  await visit.page.evaluate(() => {
    window.footfall?.identify("user-7")
    window.footfall?.("Known")
    window.footfall?.identify()
    window.footfall?.("Unknown")
  })
  await visit.names()
  expect([bodies(visit, "pageview")[0]!.x, bodies(visit, "Known")[0]!.x, bodies(visit, "Unknown")[0]!.x]).toEqual([
    undefined,
    "user-7",
    undefined,
  ])
})

test.skipIf(noBrowser)("with consent, stores an id on the device until consent is withdrawn", async () => {
  // Loopback addresses are the only plain HTTP origins with `crypto.randomUUID`.
  await using visit = await stand.visit({ host: "127.0.0.1", attributes: 'data-local data-consent="30"' })
  const cookies = async () => (await visit.context.cookies()).map(({ name, value }) => [name, value])
  await visit.events(1)
  expect(await cookies()).toEqual([])
  await visit.page.evaluate(() => window.footfall?.consent("granted"))
  const [cookie] = await visit.context.cookies()
  expect(cookie).toMatchObject({ name: "footfall_id", path: "/" })
  expect(cookie!.value).toMatch(/^[0-9a-f]{32}$/)
  expect(cookie!.expires - Date.now() / 1000).toBeWithin(30 * 86_400 - 60, 30 * 86_400 + 60)
  await visit.page.evaluate(() => window.footfall?.consent("granted"))
  expect(await cookies()).toEqual([["footfall_id", cookie!.value]])
  await visit.page.reload()
  await call(visit.page, "Granted")
  await visit.page.evaluate(() => window.footfall?.consent("denied"))
  expect(await cookies()).toEqual([])
  await call(visit.page, "Denied")
  const seen = ["pageview", "Granted", "Denied"].flatMap((name) => bodies(visit, name).map(({ y }) => y || ""))
  expect(seen).toEqual(["", cookie!.value, cookie!.value, ""])
})

test.skipIf(noBrowser)("stores nothing without the consent attribute", async () => {
  await using visit = await stand.visit({ host: "127.0.0.1", attributes: "data-local" })
  await visit.page.evaluate(() => window.footfall?.consent("granted"))
  expect(await visit.context.cookies()).toEqual([])
})

test.skipIf(noBrowser).each([
  ["503", { status: 503 }, 1_000],
  ["429", { status: 429 }, 1_000],
  ["503 with Retry-After", { status: 503, headers: { "retry-after": "7" } }, 7_000],
  ["503 with a date", { status: 503, headers: { "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" } }, 1_000],
])("after %p, sends the same event again, but not before the delay", async (_, refusal, wait) => {
  await using visit = await stand.visit({ frozen: true })
  await visit.events(1)
  stand.answers.push(refusal)
  const answered = watchAnswers(visit.page, "Order")
  await visit.page.evaluate(() =>
    window.footfall?.("Order", { callback: (result) => document.body.setAttribute("result", JSON.stringify(result)) }),
  )
  await answered(1)
  await visit.page.clock.runFor(wait - 10)
  expect(bodies(visit, "Order")).toHaveLength(1)
  await visit.page.clock.runFor(wait / 4 + 20)
  await visit.events(3)
  const [first, second] = bodies(visit, "Order")
  expect(first).toEqual({ ...second, o: 0 })
  expect(second!.o).toBeWithin(wait, wait * 1.25 + 21)
  await visit.page.waitForSelector("[result]", { state: "attached" })
  expect(await visit.page.getAttribute("body", "result")).toBe('{"status":202}')
})

test.skipIf(noBrowser)("gives up after three retries and calls the callback once", async () => {
  await using visit = await stand.visit({ frozen: true })
  await visit.events(1)
  for (let tries = 0; tries < 4; tries++) stand.answers.push({ status: 503 })
  const answered = watchAnswers(visit.page, "Order")
  await visit.page.evaluate(() =>
    window.footfall?.("Order", {
      callback: ({ status }) => document.body.setAttribute("result", `${document.body.getAttribute("result") ?? ""}${status} `),
    }),
  )
  for (const [sent, wait] of [
    [2, 1_300],
    [3, 5_100],
    [4, 20_100],
  ] as const) {
    await answered(sent - 1)
    expect(await visit.page.getAttribute("body", "result")).toBeNull()
    await visit.page.clock.runFor(wait)
  }
  await visit.events(5)
  await visit.page.waitForSelector("[result]", { state: "attached" })
  await visit.page.clock.runFor(100_000)
  expect(bodies(visit, "Order")).toHaveLength(4)
  expect(new Set(bodies(visit, "Order").map(({ id }) => id)).size).toBe(1)
  expect(await visit.page.getAttribute("body", "result")).toBe("503 ")
})

test.skipIf(noBrowser)("retries when the network is down", async () => {
  await using visit = await stand.visit({ frozen: true })
  await visit.events(1)
  await visit.context.setOffline(true)
  const answered = watchAnswers(visit.page, "Order")
  await visit.page.evaluate(() => window.footfall?.("Order"))
  await answered(1)
  await visit.context.setOffline(false)
  await visit.page.clock.runFor(1_300)
  expect((await visit.events(2))[1]).toMatchObject({ n: "Order", o: expect.any(Number) })
})

test.skipIf(noBrowser).each([400, 413, 500])("does not retry after status %d", async (status) => {
  await using visit = await stand.visit({ frozen: true })
  await visit.events(1)
  stand.answers.push({ status })
  await visit.page.evaluate(() =>
    window.footfall?.("Order", { callback: (result) => document.body.setAttribute("result", `${result.status}`) }),
  )
  await visit.page.waitForSelector("[result]", { state: "attached" })
  await visit.page.clock.runFor(60_000)
  expect([await visit.page.getAttribute("body", "result"), bodies(visit, "Order").length]).toEqual([`${status}`, 1])
})

test.skipIf(noBrowser)("sends events as beacons if fetch is missing", async () => {
  await using visit = await stand.visit({ before: () => Reflect.deleteProperty(window, "fetch") })
  await visit.events(1)
  expect(visit.sent.map(({ body, beacon }) => [body.n, beacon])).toEqual([["pageview", true]])
  expect(await call(visit.page, "Order")).toEqual([{ status: 0 }])
})
