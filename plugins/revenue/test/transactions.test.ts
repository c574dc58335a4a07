import { afterAll, describe, expect, test } from "bun:test"
import { startShop } from "./kit.ts"

const shop = await startShop()
afterAll(() => shop[Symbol.asyncDispose]())

const path = "/revenue/transactions"
const TIME = "2026-11-20T10:00:00Z"
const sale = (more: object = {}) => ({ amount: "12.34", currency: "EUR", occurred_at: TIME, ...more })
const add = async (body: object) =>
  (await shop.send("POST", path, body, shop.editor)) as { status: number; body: { id: number } & Record<string, never> }
const csv = (text: string) =>
  shop.instance.api.send("POST", `/api/private/sites/1${path}`, text, undefined, { ...shop.editor, "content-type": "text/csv" })

describe("a manual transaction", () => {
  test("is added with its items, and shown, refunded and deleted", async () => {
    const items = [{ sku: "TEA", name: "Tea", quantity: 2, unit: "5.00", total: "10.00" }]
    const created = await add(sale({ order_id: "M-1", tax: "1.97", note: "By phone", items }))
    expect(created).toMatchObject({
      status: 201,
      body: { type: "sale", provider: "manual", trust: "server", order_id: "M-1", tax: { amount: "1.97" }, note: "By phone" },
    })
    const { id } = created.body
    const refund = await shop.send("POST", `${path}/${id}/refund`, { amount: 2.34 }, shop.editor)
    expect(refund).toMatchObject({ status: 201, body: { type: "refund", parent_id: id, amount: { amount_minor: 234 } } })
    expect(await shop.send("POST", `${path}/${id}/refund`, undefined, shop.editor)).toMatchObject({
      status: 201,
      body: { type: "refund", amount: { amount: "10.00" } },
    })
    expect(await shop.get(`${path}/${id}`, shop.viewer)).toMatchObject({
      status: 200,
      body: {
        items: [{ sku: "TEA", name: "Tea", quantity: 2, unit_minor: 500, total_minor: 1000 }],
        transactions: [{ amount: { amount: "2.34" } }, { amount: { amount: "10.00" } }],
        ...{ flags: ["unattributed"], touches: [], ids: [{ provider: "manual" }] },
      },
    })
    expect(await shop.send("POST", `${path}/${id}/refund`, {}, shop.editor)).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: "/amount", code: "amount_out_of_range" }] },
    })
    expect(await shop.send("DELETE", `${path}/${id}`, undefined, shop.editor)).toMatchObject({ status: 204 })
    expect(await shop.get(`${path}/${id}`)).toMatchObject({ status: 404, body: { code: "transaction_not_found" } })
  })

  test("is added once for an idempotency key", async () => {
    const headers = { ...shop.editor, "idempotency-key": "once" }
    const [first, second] = [await shop.send("POST", path, sale(), headers), await shop.send("POST", path, sale(), headers)]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body).toEqual(first.body)
  })

  test("of an order that the site has is a duplicate", async () => {
    const { body } = await add(sale({ order_id: "D-1", external_id: "d-1" }))
    expect(await add(sale({ order_id: "D-1" }))).toMatchObject({
      status: 409,
      body: { code: "duplicate_transaction", existing_id: body.id, existing: { id: body.id, order_id: "D-1" } },
    })
    expect(await add(sale({ external_id: "d-1" }))).toMatchObject({
      status: 409,
      body: { code: "duplicate_transaction", existing_id: body.id },
    })
  })

  test("confirms an order that only a browser has reported", async () => {
    await shop.browse({ order: "LATE-1", revenue: { amount: "1", currency: "EUR" } })
    await shop.sell([])
    expect(await shop.transactions("&q=late-1")).toMatchObject([{ trust: "client", provider: "tracker" }])
    expect(await add(sale({ order_id: "LATE-1", amount: "2" }))).toMatchObject({ status: 201 })
    expect(await shop.transactions("&q=late-1")).toMatchObject([{ trust: "server", provider: "manual", amount: { amount: "2.00" } }])
  })

  test.each([
    ["a currency that is no longer in use", { currency: "DEM" }, "/currency", "unknown_currency"],
    ["a currency that never was", { currency: "BTC" }, "/currency", "unknown_currency"],
    ["a decimal of a yen", { currency: "JPY", amount: "1.5" }, "/amount", "too_many_decimals"],
    ["three decimals of a euro", { amount: "1.005" }, "/amount", "too_many_decimals"],
    ["a sum that is no decimal number", { amount: 0.1 + 0.2 }, "/amount", "too_many_decimals"],
    ["four decimals of a dinar", { currency: "KWD", amount: "1.0005" }, "/amount", "too_many_decimals"],
    ["an amount over the limit", { amount: "10000000000000.01" }, "/amount", "amount_out_of_range"],
    ["an amount of 22 digits", { amount: `1${"0".repeat(21)}` }, "/amount", "amount_out_of_range"],
    ["a number that is written with an exponent", { amount: 1e21 }, "/amount", "amount_out_of_range"],
    ["a tiny number", { amount: 1e-7 }, "/amount", "too_many_decimals"],
    ["a negative sale", { amount: "-1" }, "/amount", "amount_out_of_range"],
    ["a negative refund", { type: "refund", order_id: "1", amount: -1 }, "/amount", "amount_out_of_range"],
    ["an amount in words", { amount: "ten" }, "/amount", "invalid_amount"],
    ["an amount with a comma", { amount: "1,50" }, "/amount", "invalid_amount"],
    ["an amount with an exponent", { amount: "1e3" }, "/amount", "invalid_amount"],
    ["no amount", { amount: undefined }, "/amount", "required"],
    ["an amount of another type", { amount: true }, "/amount", "invalid_type"],
    ["a negative tax", { tax: "-1" }, "/tax", "amount_out_of_range"],
    ["a refund without its order", { type: "refund" }, "/order_id", "refund_without_parent"],
    ["an adjustment without its order", { type: "adjustment", amount: -1 }, "/order_id", "refund_without_parent"],
    ["an unknown type", { type: "gift" }, "/type", "invalid_choice"],
    ["a time without a zone", { occurred_at: "2026-11-20T10:00:00" }, "/occurred_at", "invalid_date"],
    ["a day that does not exist", { occurred_at: "2026-02-30T10:00:00Z" }, "/occurred_at", "invalid_date"],
    ["a time in the future", { occurred_at: "2026-12-20T10:00:00Z" }, "/occurred_at", "out_of_range"],
    ["no time", { occurred_at: undefined }, "/occurred_at", "required"],
    ["an order ID of 201 characters", { order_id: "x".repeat(201) }, "/order_id", "too_long"],
    ["a control character in the note", { note: "a\u0007" }, "/note", "invalid_characters"],
    ["101 items", { items: Array.from({ length: 101 }, () => ({ quantity: 1, total: 1 })) }, "/items", "too_many"],
    ["a bad price of an item", { items: [{ quantity: 1, total: "1.005" }] }, "/items/0/total", "too_many_decimals"],
    ["an unknown field", { colour: "red" }, "/colour", "unknown_field"],
  ])("is rejected with %s", async (_, change, pointer, code) => {
    expect(await add({ ...sale(), ...change })).toMatchObject({
      status: 422,
      body: { code: "validation_failed", errors: [{ pointer, code }] },
    })
  })
})

describe("a list of transactions", () => {
  test("is added as a whole, in its order", async () => {
    const answer = await add({ transactions: [sale({ order_id: "L-1" }), sale({ order_id: "L-1", type: "refund", amount: 1 })] })
    const { data } = answer.body as unknown as { data: { id: number }[] }
    expect(answer).toMatchObject({ status: 201, body: { data: [{ type: "sale" }, { type: "refund", parent_id: data[0]!.id }] } })
  })

  test("is rejected as a whole", async () => {
    const answer = await add({ transactions: [sale({ order_id: "L-2" }), sale({ order_id: "L-1" })] })
    expect(answer).toMatchObject({ status: 409, body: { errors: [{ pointer: "/transactions/1", code: "duplicate_transaction" }] } })
    expect(await shop.transactions("&q=l-2")).toEqual([])
  })

  test.each([
    ["that is empty", { transactions: [] }, "/transactions", "too_few"],
    ["of 101", { transactions: Array.from({ length: 101 }, () => sale()) }, "/transactions", "too_many"],
    ["that is not a list", { transactions: 1 }, "/transactions", "invalid_type"],
    ["with a fault", { transactions: [sale(), sale({ amount: "1.005" })] }, "/transactions/1/amount", "too_many_decimals"],
    [
      "that repeats an order",
      { transactions: [sale({ order_id: "R" }), sale({ order_id: "R" })] },
      "/transactions/1",
      "duplicate_transaction",
    ],
    [
      "that repeats an external ID",
      { transactions: [sale({ external_id: "E" }), sale({ external_id: "E" })] },
      "/transactions/1",
      "duplicate_transaction",
    ],
    ["with something else", { transactions: [sale()], colour: 1 }, "/colour", "unknown_field"],
  ])("%s is rejected", async (_, body, pointer, code) => {
    expect(await add(body)).toMatchObject({ status: 422, body: { errors: [{ pointer, code }] } })
  })
})

describe("a CSV file of transactions", () => {
  test("is added as a whole", async () => {
    const answer = await csv(
      `order_id,amount,currency,occurred_at,note\r\nF-1,"1,000.5",EUR,${TIME},x\r\n`.replace('"1,000.5"', "1000.5") +
        `F-2,7,JPY,${TIME},"a, ""b"""\r\n`,
    )
    expect(answer).toMatchObject({
      status: 201,
      body: {
        data: [
          { order_id: "F-1", amount: { amount: "1000.50" } },
          { order_id: "F-2", amount: { amount: "7" }, note: 'a, "b"' },
        ],
      },
    })
  })

  const head = "amount,occurred_at,order_id"
  test.each([
    ["a bad amount", `${head}\n1,${TIME},G-1\n1.005,${TIME},G-2\n`, "/lines/3/amount", "too_many_decimals"],
    ["a missing value", `${head}\n,${TIME},G-1\n`, "/lines/2/amount", "required"],
    ["a row that is too short", `${head}\n1,${TIME}\n`, "/lines/2", "wrong_column_count"],
    ["an unknown column", `${head},colour\n1,${TIME},G-1,red\n`, "/lines/1/colour", "unknown_field"],
    ["a missing column", `amount\n1\n`, "/lines/1/occurred_at", "required"],
    ["a column twice", `${head},amount\n1,${TIME},G-1,2\n`, "/lines/1/amount", "not_unique"],
    ["an order that exists", `${head}\n\n1,${TIME},G-9\n1,${TIME},L-1\n`, "/lines/4", "duplicate_transaction"],
    ["no rows", `${head}\n`, "", "too_few"],
    ["101 rows", `${head}\n${`1,${TIME},\n`.repeat(101)}`, "", "too_many"],
  ])("with %s is rejected as a whole", async (_, text, pointer, code) => {
    expect(await csv(text)).toMatchObject({ body: { errors: [{ pointer, code }] } })
    expect(await shop.transactions("&q=g-")).toEqual([])
  })
})

describe("the list of transactions", () => {
  test.each([
    ["an unknown type", "type=gift", "/type", "invalid_choice"],
    ["an unknown provider", "provider=visa", "/provider", "invalid_choice"],
    ["an unknown flag", "flag=red", "/flag", "invalid_choice"],
    ["an unknown order", "sort=size", "/sort", "invalid_choice"],
    ["an unknown currency", "currency=DEM", "/currency", "unknown_currency"],
    ["days in the wrong order", "from=2026-11-02&to=2026-11-01", "/to", "invalid_range"],
    ["a day that does not exist", "from=2026-02-30", "/from", "invalid_date"],
    ["a limit of 0", "limit=0", "/limit", "out_of_range"],
    ["an unknown parameter", "colour=red", "/colour", "unknown_field"],
  ])("rejects %s", async (_, query, pointer, code) => {
    expect(await shop.get(`${path}?${query}`)).toMatchObject({ status: 400, body: { code: "invalid_query", errors: [{ pointer, code }] } })
  })

  test("pages through all rows in each order, without gaps or doubles", async () => {
    for (const sort of ["-occurred_at", "occurred_at", "-amount", "amount"]) {
      const ids: number[] = []
      for (let cursor = ""; ; ) {
        const { body } = await shop.get(`${path}?sort=${sort}&limit=2&count=true${cursor}`)
        const page = body as { data: { id: number }[]; next_cursor: string | null; total: number }
        ids.push(...page.data.map(({ id }) => id))
        if (page.next_cursor === null) {
          expect(new Set(ids).size).toBe(page.total)
          break
        }
        cursor = `&cursor=${page.next_cursor}`
      }
    }
  })

  test("rejects the cursor of another order", async () => {
    const { body } = await shop.get(`${path}?limit=1`)
    const { next_cursor } = body as { next_cursor: string }
    expect(await shop.get(`${path}?limit=1&sort=amount&cursor=${next_cursor}`)).toMatchObject({ status: 400 })
    expect(await shop.get(`${path}?limit=1&cursor=x`)).toMatchObject({ status: 400, body: { code: "invalid_cursor" } })
  })

  test("shows the person only to those who see people", async () => {
    const firstFor = async (as: { cookie: string }) => ((await shop.get(`${path}?limit=1`, as)).body as { data: object[] }).data[0]
    expect(await firstFor(shop.viewer)).not.toHaveProperty("person")
    expect(await firstFor(shop.editor)).toHaveProperty("person")
  })

  test("is the same as CSV, without running a formula", async () => {
    await add(sale({ order_id: "=1+1", note: "-2" }))
    const answer = await shop.get(`${path}.csv?q=%3D1%2B1`, shop.viewer)
    const text = String(answer.body)
    expect(text.split("\r\n")).toHaveLength(3)
    expect(text).toStartWith("id,occurred_at,type,provider,external_id,order_id,parent_id,amount,currency,")
    expect(text).toContain(`"'=1+1"`)
  })
})

test.each([
  ["a viewer adds a transaction", "POST", path, sale(), 403, "forbidden"],
  ["a viewer deletes one", "DELETE", `${path}/1`, undefined, 403, "forbidden"],
] as const)("rejects that %s", async (_, method, where, body, status, code) => {
  expect(await shop.send(method, where, body, shop.viewer)).toMatchObject({ status, body: { code } })
})

test("of several requests at once that refund the rest of a sale, one does", async () => {
  const { body } = await add(sale({ amount: "9.99" }))
  const refunds = await Promise.all(Array.from({ length: 6 }, () => shop.send("POST", `${path}/${body.id}/refund`, {})))
  expect(refunds.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422, 422, 422])
  expect((await shop.get(`${path}/${body.id}`)).body).toMatchObject({
    flags: ["unattributed"],
    transactions: [{ amount: { amount: "9.99" } }],
  })
})

test("the rest of a sale is exact at the largest amounts, and refused if one refund can't state it", async () => {
  const most = "10000000000000.00"
  const { body } = await add(sale({ order_id: "MAX", amount: most }))
  await add(sale({ type: "refund", order_id: "MAX", amount: "0.01" }))
  expect(await shop.send("POST", `${path}/${body.id}/refund`, {})).toMatchObject({
    status: 201,
    body: { amount: { amount: "9999999999999.99" } },
  })
  for (let i = 0; i < 2; i++) await add(sale({ type: "adjustment", order_id: "MAX", amount: most }))
  expect(await shop.send("POST", `${path}/${body.id}/refund`, {})).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: "/amount", code: "amount_out_of_range" }] },
  })
})

test("a search finds what was stored, in any case of Latin letters", async () => {
  await add(sale({ note: "Frau MÜLLER" }))
  for (const q of ["MÜLLER", "frau mÜller"]) expect(await shop.transactions(`&q=${encodeURIComponent(q)}`)).toHaveLength(1)
})

test("only manual transactions can be deleted", async () => {
  await shop.browse({ order: "T-1", revenue: { amount: "1", currency: "EUR" } })
  await shop.sell([])
  const [tracked] = await shop.transactions("&q=t-1")
  expect(await shop.send("DELETE", `${path}/${tracked!.id}`)).toMatchObject({ status: 409, body: { code: "not_manual" } })
})
