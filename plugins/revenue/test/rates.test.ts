import { afterAll, beforeEach, describe, expect, test } from "bun:test"
import { type Shop, startShop } from "./kit.ts"

const DAY = "2026-11-20"
const rate = (more: object = {}) => ({ day: DAY, base: "EUR", quote: "USD", rate: "1.0853", ...more })

describe("the rates of a site", () => {
  let shop: Shop
  const open = startShop()
  beforeEach(async () => {
    shop = await open
  })
  afterAll(async () => (await open)[Symbol.asyncDispose]())
  const put = (body: unknown, type = "application/json") =>
    shop.instance.api.send("PUT", "/api/private/sites/1/revenue/rates", body, undefined, { ...shop.admin, "content-type": type })

  test("replace equal keys, as JSON and as CSV", async () => {
    expect(await put({ rates: [rate(), rate({ quote: "GBP", rate: 0.86 })] })).toMatchObject({ status: 200, body: { written: 2 } })
    expect(await put(`date,base,quote,rate\r\n${DAY},EUR,USD,1.09\r\n`, "text/csv")).toMatchObject({ status: 200, body: { written: 1 } })
    expect(await shop.get("/revenue/rates", shop.viewer)).toMatchObject({
      body: {
        data: [
          { day: DAY, base: "EUR", quote: "GBP", rate: "0.86", source: "manual", scope: "site" },
          { day: DAY, base: "EUR", quote: "USD", rate: "1.09", source: "csv", scope: "site" },
        ],
        has_more: false,
      },
    })
  })

  test("convert the transactions of their days, in a job", async () => {
    const sale = { amount: "10.00", currency: "USD", occurred_at: `${DAY}T10:00:00Z`, external_id: "usd" }
    await shop.send("POST", "/revenue/transactions", sale)
    const base = async () => (await shop.transactions("&currency=USD"))[0]!.base
    expect(await base()).toMatchObject({ amount: { amount: "9.17" }, rate: "1/1.09", rate_day: DAY })
    await put({ rates: [rate({ rate: "1.25" })] })
    expect((await shop.get("/revenue/settings")).body).toMatchObject({ recomputing: true })
    await shop.instance.runJobs()
    expect(await base()).toMatchObject({ amount: { amount: "8.00", currency: "EUR" }, rate: "1/1.25" })
    expect((await shop.get("/revenue/settings")).body).toMatchObject({ recomputing: false })
  })

  test("a refund is converted with the rate of its sale", async () => {
    await put({ rates: [rate({ day: "2026-11-22", rate: "2" })] })
    await shop.instance.runJobs()
    const [sale] = await shop.transactions("&currency=USD")
    await shop.send("POST", `/revenue/transactions/${sale!.id}/refund`, { occurred_at: "2026-11-22T10:00:00Z" })
    expect(await shop.transactions("&type=refund")).toMatchObject([{ base: { amount: { amount: "8.00" }, rate: "1/1.25", rate_day: DAY } }])
  })

  test("are paged from the latest day", async () => {
    const { body } = await shop.get("/revenue/rates?limit=1&count=true")
    const page = body as { next_cursor: string }
    expect(page).toMatchObject({ data: [{ day: "2026-11-22" }], has_more: true, total: 3 })
    expect(await shop.get(`/revenue/rates?limit=5&cursor=${page.next_cursor}`)).toMatchObject({
      body: { data: [{ quote: "GBP" }, { quote: "USD" }], has_more: false, next_cursor: null },
    })
    expect(await shop.get("/revenue/rates?quote=gbp&scope=site")).toMatchObject({ body: { data: [{ quote: "GBP" }] } })
  })

  test("a second recomputation waits for the first", async () => {
    const post = () => shop.send("POST", "/revenue/recompute")
    expect(await post()).toMatchObject({ status: 202, body: { state: "queued" } })
    expect(await post()).toMatchObject({ status: 409, body: { code: "recompute_running" } })
    await shop.instance.runJobs()
    expect(await post()).toMatchObject({ status: 202 })
  })

  test.each([
    ["a rate of 0", { rate: "0" }, "/rates/0/rate", "invalid_rate"],
    ["a negative rate", { rate: -1 }, "/rates/0/rate", "invalid_rate"],
    ["a rate of 13 digits", { rate: "1.234567890123" }, "/rates/0/rate", "invalid_rate"],
    ["a rate with an exponent", { rate: "1e3" }, "/rates/0/rate", "invalid_rate"],
    ["an unknown base", { base: "DEM" }, "/rates/0/base", "unknown_currency"],
    ["an unknown quote", { quote: "BTC" }, "/rates/0/quote", "unknown_currency"],
    ["the same currency twice", { quote: "EUR" }, "/rates/0/quote", "unsupported_combination"],
    ["a day that does not exist", { day: "2026-02-30" }, "/rates/0/day", "invalid_date"],
    ["a day before 1999", { day: "1998-12-31" }, "/rates/0/day", "invalid_date"],
    ["no day", { day: undefined }, "/rates/0/day", "required"],
    ["an unknown field", { colour: "red" }, "/rates/0/colour", "unknown_field"],
  ])("reject %s", async (_, change, pointer, code) => {
    expect(await put({ rates: [rate(change)] })).toMatchObject({ status: 422, body: { errors: [{ pointer, code }] } })
  })

  test.each([
    ["no list", {}, "/rates", "required"],
    ["an empty list", { rates: [] }, "/rates", "too_few"],
    ["a key twice", { rates: [rate(), rate({ rate: "2" })] }, "/rates/1", "not_unique"],
    ["10,001 rates", { rates: Array.from({ length: 10_001 }, () => rate()) }, "/rates", "too_many"],
    ["a list of something else", { rates: [1] }, "/rates/0", "invalid_type"],
  ])("reject %s", async (_, body, pointer, code) => {
    expect(await put(body)).toMatchObject({ status: 422, body: { errors: [{ pointer, code }] } })
  })

  test("name the line of a fault in a CSV file, and write none of its rates", async () => {
    const text = `date,base,quote,rate\n2026-11-01,EUR,CHF,0.93\n2026-11-02,EUR,CHF,none\n`
    expect(await put(text, "text/csv")).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: "/lines/3/rate", code: "invalid_rate" }] },
    })
    expect(await shop.get("/revenue/rates?quote=CHF")).toMatchObject({ body: { data: [] } })
  })

  test("10,000 at once are written", async () => {
    const days = Array.from({ length: 5_000 }, (_, i) => new Date(Date.UTC(2010, 0, 1 + i)).toISOString().slice(0, 10))
    const rates = days.flatMap((day) => [rate({ day, quote: "CHF" }), rate({ day, quote: "SEK" })])
    expect(await put({ rates })).toMatchObject({ status: 200, body: { written: 10_000 } })
  })
})

/** The file of the European Central Bank, as published. */
const ECB = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
	<gesmes:subject>Reference rates</gesmes:subject>
	<gesmes:Sender><gesmes:name>European Central Bank</gesmes:name></gesmes:Sender>
	<Cube><Cube time='2026-11-26'>
		<Cube currency='USD' rate='1.25'/><Cube currency='JPY' rate='162.5'/><Cube currency='HRK' rate='7.5'/>
	</Cube></Cube>
</gesmes:Envelope>`

describe("the file of the European Central Bank", () => {
  test("is read every afternoon and converts the transactions of all sites", async () => {
    await using server = serve(() => new Response(ECB))
    await using shop = await startShop({ settings: { ecb_url: server.url } })
    await shop.send("POST", "/revenue/transactions", { amount: "10", currency: "USD", occurred_at: "2026-11-26T10:00:00Z" })
    expect(await shop.transactions()).toMatchObject([{ base: null }])
    shop.instance.clock.advance(4 * 3_600_000)
    await shop.instance.runJobs()
    await shop.instance.runJobs()
    expect(server.requests()).toBe(1)
    expect(await shop.get("/revenue/rates?scope=instance")).toMatchObject({
      body: {
        data: [
          { day: "2026-11-26", base: "EUR", quote: "JPY", rate: "162.5", source: "ecb", scope: "instance" },
          { day: "2026-11-26", base: "EUR", quote: "USD", rate: "1.25", source: "ecb" },
        ],
      },
    })
    expect(await shop.transactions()).toMatchObject([{ base: { amount: { amount: "8.00", currency: "EUR" } } }])
  })

  test.each([
    ["an error", () => new Response("no", { status: 500 })],
    ["another file", () => new Response("<html>Maintenance</html>")],
  ])("leaves the rates as they are when the server answers with %s", async (_, answer) => {
    await using server = serve(answer)
    await using shop = await startShop({ settings: { ecb_url: server.url } })
    shop.instance.clock.advance(4 * 3_600_000)
    await shop.instance.runJobs()
    expect(server.requests()).toBe(1)
    expect(await shop.get("/revenue/rates")).toMatchObject({ body: { data: [] } })
  })

  test("is not read unless its URL is set", async () => {
    await using shop = await startShop()
    shop.instance.clock.advance(4 * 3_600_000)
    await shop.instance.runJobs()
    expect(await shop.get("/revenue/rates")).toMatchObject({ body: { data: [] } })
  })
})

function serve(answer: () => Response) {
  let count = 0
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      count++
      return answer()
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/eurofxref-daily.xml`,
    requests: () => count,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
