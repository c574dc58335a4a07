import { describe, expect, test } from "bun:test"
import { fileHead } from "../../reading/text.ts"
import { ga4BigQuery } from "../../sources/ga4/bigquery.ts"
import { countBy, readWith, utcDay } from "../source-reading.ts"

type Values = Readonly<Record<string, unknown>>
const micros = (text: string) => `${Date.parse(text)}002`
const text = (key: string, string_value: string) => ({ key, value: { string_value } })
const int = (key: string, int_value: string) => ({ key, value: { int_value } })
const device = {
  category: "mobile",
  operating_system: "iOS",
  operating_system_version: "iOS 17.2.1",
  language: "en-us",
  web_info: { browser: "Safari", browser_version: "17.2", hostname: "shop.example" },
}
const geo = { country: "United States", region: "California", city: "Oakland" }
const page = [text("page_location", "https://shop.example/tea?utm_source=x"), text("page_title", "Tea"), int("ga_session_id", "1710496800")]
const anna = { user_pseudo_id: "123.456", device, geo, event_date: "20240315" }
const ben = { ...anna, user_pseudo_id: "789.012", user_id: "u7", geo: { country: "Germany", region: "Bavaria", city: "(not set)" } }

const ROWS: Values[] = [
  { ...anna, event_timestamp: micros("2024-03-15T10:00:00Z"), event_name: "session_start", event_params: page },
  { ...anna, event_timestamp: micros("2024-03-15T10:00:00Z"), event_name: "first_visit", event_params: page },
  {
    ...anna,
    event_timestamp: micros("2024-03-15T10:00:00Z"),
    event_name: "page_view",
    event_params: [...page, text("page_referrer", "https://www.google.com/"), int("ga_session_number", "1")],
    collected_traffic_source: { manual_source: "google", manual_medium: "organic", manual_campaign_name: "(organic)" },
  },
  {
    ...anna,
    event_timestamp: micros("2024-03-15T10:01:00Z"),
    event_name: "scroll",
    event_params: [...page, int("percent_scrolled", "90"), int("engagement_time_msec", "4200")],
  },
  {
    ...anna,
    event_timestamp: micros("2024-03-15T10:02:00Z"),
    event_name: "user_engagement",
    event_params: [...page, int("engagement_time_msec", "800")],
  },
  {
    ...anna,
    event_timestamp: micros("2024-03-15T10:03:00Z"),
    event_name: "sign_up",
    event_params: [...page, text("method", "email"), { key: "step", value: { double_value: 1.5 } }],
  },
  {
    ...anna,
    event_timestamp: micros("2024-03-15T10:04:00Z"),
    event_name: "purchase",
    event_params: [...page, text("currency", "USD"), text("transaction_id", "T-1"), text("coupon", "spring")],
    ecommerce: { transaction_id: "T-1", purchase_revenue: 59.980000000000004, refund_value: null },
  },
  {
    ...ben,
    event_timestamp: micros("2024-03-16T09:00:00Z"),
    event_name: "page_view",
    event_params: page,
    collected_traffic_source: {
      manual_source: "news",
      manual_medium: "email",
      manual_campaign_name: "may",
      manual_content: "top",
      gclid: "abc",
    },
  },
  {
    ...ben,
    event_timestamp: micros("2024-03-16T09:01:00Z"),
    event_name: "purchase",
    event_params: page,
    ecommerce: { transaction_id: "T-2", purchase_revenue: "19.90" },
  },
  {
    ...ben,
    event_timestamp: micros("2024-03-17T09:01:00Z"),
    event_name: "refund",
    event_params: [...page, text("currency", "USD")],
    ecommerce: { transaction_id: "T-1", refund_value: 10.5 },
  },
]

describe("rows", () => {
  test.each([
    ["NDJSON", ROWS.map((row) => `${JSON.stringify(row)}\n`).join("")],
    ["one array", JSON.stringify(ROWS, null, 2)],
  ])("reads %s", async (_, content) => {
    const { events, refunds, skips, rejects, read } = await readWith(ga4BigQuery, { "events_20240315.json": content })
    // The two without an effect.
    expect({ skips, rejects, read }).toEqual({ skips: { not_imported_type: 2 }, rejects: [], read: 10 })
    const at = Date.parse("2024-03-17T09:01:00Z")
    const refund = { at, id: `${at}002`, order: "T-1", hostname: "shop.example", amount: "10.5", currency: "USD" }
    expect(refunds).toMatchObject([{ file: "events_20240315.json", ...refund }])
    expect(countBy(events, (event) => `${utcDay(event)} ${event.name}`)).toEqual({
      "2024-03-15 pageview": 1,
      "2024-03-15 engagement": 2,
      "2024-03-15 sign_up": 1,
      "2024-03-15 purchase": 1,
      "2024-03-16 pageview": 1,
      "2024-03-16 purchase": 1,
    })
    expect(countBy(events, ({ visitor, visitorKind, visit, userId }) => `${visitor} ${visitorKind} ${visit} ${userId ?? "-"}`)).toEqual({
      "123.456 device 1710496800 -": 5,
      "789.012 device 1710496800 u7": 2,
    })
    expect(events.flatMap(({ engagement }) => engagement ?? [])).toEqual([{ engagedMs: 4200, scrollDepth: 90 }, { engagedMs: 800 }])
    expect(events.flatMap(({ revenue }) => revenue ?? [])).toEqual([
      { amount: "59.98", currency: "USD" },
      { amount: "19.90", currency: "EUR" },
    ])
    expect(events.flatMap(({ props }) => (props ? [props] : []))).toEqual([
      [
        ["method", "email"],
        ["step", "1.5"],
      ],
      [
        ["order_id", "T-1"],
        ["currency", "USD"],
        ["coupon", "spring"],
      ],
      [["order_id", "T-2"]],
    ])
  })

  test("translates traits and origins", async () => {
    const { events } = await readWith(ga4BigQuery, { "events.json": JSON.stringify(ROWS) })
    const [first] = events
    expect(first).toEqual({
      file: "events.json",
      line: 1,
      at: Date.parse("2024-03-15T10:00:00Z"),
      name: "pageview",
      visitor: "123.456",
      visitorKind: "device",
      visit: "1710496800",
      url: "https://shop.example/tea?utm_source=x",
      hostname: "shop.example",
      title: "Tea",
      referrer: "https://www.google.com/",
      traits: {
        source: "google",
        browser: "Safari",
        browser_version: "17.2",
        os: "iOS",
        os_version: "17.2",
        device: "Mobile",
        language: "en-US",
        country: "US",
        region: "US-CA",
        city: "Oakland",
      },
    })
    const tagged = events.find(({ userId }) => userId === "u7")!
    expect(tagged.utm).toEqual({ utm_source: "news", utm_medium: "email", utm_campaign: "may", utm_term: "", utm_content: "top" })
    expect(tagged.traits).toMatchObject({ click_id_type: "gclid", country: "DE", region: "DE-BY" })
    expect(tagged.traits).not.toHaveProperty("city")
  })

  test.each([
    ["a visitor who refuses cookies", { user_pseudo_id: null }, { visitor: "", visitorKind: undefined }],
    ["a user who refuses cookies", { user_pseudo_id: null, user_id: "u7" }, { visitor: "user u7", visitorKind: "user" }],
  ])("names %s", async (_, values, named) => {
    const { events } = await readWith(ga4BigQuery, { "events.json": JSON.stringify([{ ...ROWS[2], ...values }]) })
    const { visitor, visitorKind } = events[0]!
    expect({ visitor, visitorKind }).toEqual(named as never)
  })

  test.each([
    ["the first visit", "1", { utm_source: "", utm_medium: "", utm_campaign: "" }, { source: "bing" }],
    ["a later visit", "2", { utm_source: "", utm_medium: "", utm_campaign: "" }, {}],
  ])("reads the source of the user in %s", async (_, number, __, traits) => {
    const row = { ...ROWS[2], collected_traffic_source: null, traffic_source: { source: "bing", medium: "organic", name: "(organic)" } }
    const { events } = await readWith(ga4BigQuery, {
      "events.json": JSON.stringify([{ ...row, event_params: [...page, int("ga_session_number", number)] }]),
    })
    const { source } = events[0]!.traits!
    expect(source ? { source } : {}).toEqual(traits)
  })

  test.each([
    ["a time that is none", { event_timestamp: "yesterday" }, "bad_date", "yesterday"],
    ["a time in milliseconds", { event_timestamp: "1710496800000" }, "bad_date", "1710496800000"],
    ["an event without a name", { event_name: "" }, "wrong_column_count", ""],
  ])("rejects %s", async (_, values, code, excerpt) => {
    const { rejects, events } = await readWith(ga4BigQuery, { "events.json": `${JSON.stringify({ ...ROWS[2], ...values })}\n` })
    expect({ rejects, events }).toEqual({ rejects: [["events.json", 1, code, excerpt]], events: [] })
  })

  test.each([
    ["other JSON", `{"event_name":"a"}`],
    ["CSV", "event_name,event_timestamp,user_pseudo_id\n"],
  ])("does not recognize %s", (_, content) => {
    expect(ga4BigQuery.recognize(fileHead("events.json", new TextEncoder().encode(content)))).toBeUndefined()
  })
})
