import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { smtpServer } from "#plugin/test"
import { type Shop, startShop } from "./kit.ts"

setDefaultTimeout(180_000)
const AMOUNT = "98765.43"
const WEEK_MS = 7 * 86_400_000

let shop: Shop
beforeAll(async () => {
  shop = await startShop({ whole: true })
  await shop.browse({})
  await shop.browse({ order: "A", revenue: { amount: AMOUNT, currency: "EUR" } })
  await shop.sell([])
  const widgets = [
    { type: "revenue", config: { group_by: "source" }, x: 0, y: 0, w: 6, h: 4 },
    { type: "metric", config: { metric: "revenue" }, x: 6, y: 0, w: 3, h: 2 },
  ]
  expect(await shop.send("POST", "/dashboards", { name: "Money", visibility: "site", widgets })).toMatchObject({ status: 201 })
})
afterAll(() => shop[Symbol.asyncDispose]())

const setRole = async (role: string) => expect(await shop.send("PATCH", "/settings", { read_role: role })).toMatchObject({ status: 200 })
const PATHS = ["report", "report.csv", "products", "transactions", "transactions.csv", "transactions/1", "settings", "rates"]

test("every reading route of revenue answers 403 to people below the role", async () => {
  const statuses = async (as: Record<string, string>) =>
    Promise.all(PATHS.map(async (path) => (await shop.get(`/revenue/${path}`, as)).status))
  const [seen, refused] = [200, 403].map((status) => PATHS.map(() => status))
  await setRole("viewer")
  expect(await statuses(shop.viewer)).toEqual(seen!)
  await setRole("editor")
  expect([await statuses(shop.viewer), await statuses(shop.editor)]).toEqual([refused!, seen!])
  await setRole("admin")
  expect([await statuses(shop.editor), await statuses(shop.admin)]).toEqual([refused!, seen!])
  expect(await shop.get("/revenue/report", shop.editor)).toMatchObject({ body: { code: "forbidden", required_permission: "revenue:read" } })
})

test("products list what no item names, with the amount", async () => {
  await setRole("viewer")
  expect((await shop.get("/revenue/products", shop.viewer)).body).toMatchObject({ data: [{ key: "(none)", gross: { amount: AMOUNT } }] })
})

test("widgets of a dashboard show an amount to people from the role on, and answer forbidden to others", async () => {
  const widgets = async (as: Record<string, string>) => {
    const { body } = await shop.send("POST", "/dashboards/1/data", {}, as)
    return Object.values((body as { results: Record<string, { status: string; error?: { code: string } }> }).results)
  }
  await setRole("viewer")
  const seen = await widgets(shop.viewer)
  expect(seen).toMatchObject([{ status: "ok" }, { status: "ok" }])
  expect(seen.map((widget) => JSON.stringify(widget).includes("98765"))).toEqual([true, true])
  await setRole("editor")
  const hidden = await widgets(shop.viewer)
  expect(hidden).toMatchObject([
    { status: "error", error: { code: "forbidden" } },
    { status: "error", error: { code: "forbidden" } },
  ])
  expect(JSON.stringify(hidden)).not.toContain("98765")
  expect(await widgets(shop.editor)).toMatchObject([{ status: "ok" }, { status: "ok" }])
})

test("a shared dashboard hides revenue as soon as the role is raised", async () => {
  await setRole("viewer")
  const share = { name: "Public", locked_filters: [], allow_export: true }
  const made = await shop.send("POST", "/dashboards/1/shares", share)
  expect(made).toMatchObject({ status: 201 })
  const { slug } = made.body as { slug: string }
  const data = async () => {
    const request = new Request(`http://localhost/api/share/d/${slug}/data`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    })
    return (await shop.instance.fetch(request)).text()
  }
  expect(await data()).toContain("98765")
  await setRole("editor")
  expect(await data()).not.toContain("98765")
})

test("writes, whose answers tell amounts, are refused to people below the role", async () => {
  const sale = { amount: "1", currency: "EUR", occurred_at: "2026-11-20T10:00:00Z" }
  const write = async (as: Record<string, string>) => [
    await shop.send("POST", "/revenue/transactions/1/refund", { amount: "0.01" }, as),
    await shop.send("POST", "/revenue/transactions", sale, as),
    await shop.send("DELETE", "/revenue/transactions/1", undefined, as),
  ]
  await setRole("admin")
  const refused = { status: 403, body: { code: "forbidden", required_permission: "revenue:read" } }
  expect(await write(shop.editor)).toMatchObject([refused, refused, refused])
  await setRole("editor")
  expect((await write(shop.editor)).map(({ status }) => status)).toEqual([201, 201, 409])
})

test("the preview of an email report names revenue only while every viewer may see it", async () => {
  shop.instance.clock.advance(WEEK_MS)
  // Sessions end after days without a request.
  const owner = { cookie: await shop.instance.signIn({ role: "owner" }) }
  const preview = async (read_role: string) => {
    expect(await shop.send("PATCH", "/settings", { read_role }, owner)).toMatchObject({ status: 200 })
    return JSON.stringify((await shop.get("/reports/preview?kind=weekly", owner)).body)
  }
  const traces = (text: string) => [/98[,.]?[78]/.test(text), /revenue/i.test(text)]
  expect(traces(await preview("viewer"))).toEqual([true, true])
  expect(traces(await preview("editor"))).toEqual([false, false])
})

test("an email report that is sent contains revenue only while every viewer may see it", async () => {
  await using server = await smtpServer()
  const mail = { smtp_host: "127.0.0.1", smtp_port: String(server.port), smtp_security: "none", mail_from: "stats@example.org" }
  await using own = await startShop({
    now: "2026-11-18T09:00:00Z",
    whole: true,
    settings: { ...mail, base_url: "http://stats.example.org" },
  })
  const { instance } = own
  await own.browse({ order: "A", revenue: { amount: AMOUNT, currency: "EUR" } })
  expect(await own.send("POST", "/reports", { kind: "weekly", recipients: ["ann@example.org"] })).toMatchObject({ status: 201 })
  await instance.runJobs()
  instance.clock.advance(WEEK_MS)
  const send = async (read_role: string) => {
    instance.clock.advance(WEEK_MS / 7)
    await instance.app.instance.lease?.renew() // one of several nodes sends the emails, as long as its lease is not over
    const owner = { cookie: await instance.signIn({ role: "owner" }) }
    expect(await own.send("PATCH", "/settings", { read_role }, owner)).toMatchObject({ status: 200 })
    const before = server.mails.length
    expect(await own.send("POST", "/reports/1/send-now", undefined, owner)).toMatchObject({ status: 200 })
    await instance.runJobs()
    await instance.app.instance.accounts.mail.deliver()
    expect(server.mails.length).toBeGreaterThan(before)
    const { text, html } = server.mails.at(-1)!
    return [text, html].map((part) => [/98[,.]?765/.test(part), /revenue/i.test(part), /visitors/i.test(part)])
  }
  expect(await send("viewer")).toEqual([
    [true, true, true],
    [true, true, true],
  ])
  expect(await send("editor")).toEqual([
    [false, false, true],
    [false, false, true],
  ])
})
