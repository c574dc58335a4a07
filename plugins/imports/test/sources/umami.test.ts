import { describe, expect, test } from "bun:test"
import { fileHead } from "../../reading/text.ts"
import { umami } from "../../sources/umami/umami.ts"
import { countBy, readWith, utcDay } from "../source-reading.ts"

const SITE = "6f2a8f0e-0000-4000-8000-000000000001"
const OTHER = "6f2a8f0e-0000-4000-8000-000000000002"
const CLOUD_COLUMNS =
  "website_id,session_id,visit_id,event_id,hostname,browser,os,device,screen,language,country,region,city,url_path,url_query,utm_source,utm_medium,utm_campaign,utm_content,utm_term,referrer_path,referrer_query,referrer_domain,page_title,gclid,fbclid,msclkid,ttclid,li_fat_id,twclid,event_type,event_name,tag,distinct_id,created_at,job_id"

type Values = Readonly<Record<string, string>>
const quoted = (value: string) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)
const csv = (columns: string, rows: readonly Values[]) => {
  const names = columns.split(",")
  return [columns, ...rows.map((row) => names.map((name) => quoted(row[name] ?? "")).join(","))].join("\n").concat("\n")
}

/** Two visitors on two days. The second visitor's laptop is on Windows, and its custom event carries data. */
const anna = { website_id: SITE, session_id: "s1", visit_id: "v1", hostname: "shop.example", browser: "crios", os: "iOS", device: "mobile" }
const place = { screen: "390x844", language: "de-DE", country: "DE", region: "DE-BE", city: "Berlin" }
const ben = { website_id: SITE, session_id: "s2", visit_id: "v2", hostname: "shop.example", browser: "edge-chromium", os: "Windows 10" }
const benPlace = { device: "laptop", screen: "1920x1080", language: "en-US", country: "US", region: "CA", city: "Oakland" }
const EVENTS: Values[] = [
  { ...anna, ...place, event_id: "e1", url_path: "/", event_type: "1", page_title: "Home, sweet", created_at: "2024-03-15 10:00:00" },
  { ...anna, ...place, event_id: "e2", url_path: "/pricing", event_type: "1", created_at: "2024-03-15 10:05:00", tag: "b" },
  {
    ...ben,
    ...benPlace,
    event_id: "e3",
    url_path: "/",
    url_query: "utm_source=news&gclid=1",
    gclid: "1",
    referrer_domain: "google.com",
    referrer_path: "/search",
    referrer_query: "q=shop",
    event_type: "1",
    created_at: "2024-03-16 23:30:00",
  },
  {
    ...ben,
    ...benPlace,
    event_id: "e4",
    url_path: "/",
    event_type: "2",
    event_name: "signup",
    created_at: "2024-03-16 23:31:00",
    distinct_id: "u7",
  },
  { ...ben, ...benPlace, event_id: "e5", url_path: "/", event_type: "5", created_at: "2024-03-16 23:32:00" },
  { ...ben, ...benPlace, event_id: "e6", url_path: "/", event_type: "3", created_at: "2024-03-16 23:33:00" },
]
const DATA_COLUMNS =
  "website_id,session_id,event_id,url_path,event_name,data_key,string_value,number_value,date_value,data_type,created_at,job_id"
const data = (key: string, type: string, values: Values, event = "e4") => ({
  website_id: SITE,
  event_id: event,
  data_key: key,
  data_type: type,
  ...values,
})
const DATA: Values[] = [
  data("plan", "1", { string_value: "pro" }),
  data("seats", "2", { number_value: "12.5000", string_value: "12.5000" }),
  data("trial", "3", { string_value: "true" }),
  data("until", "4", { string_value: "2024-04-01T00:00:00.000Z", date_value: "2024-04-01 00:00:00" }),
  data("tags", "5", { string_value: '["a","b"]' }),
]

describe("an export of Umami Cloud", () => {
  const files = { "website_event.csv": csv(CLOUD_COLUMNS, EVENTS), "event_data.csv": csv(DATA_COLUMNS, DATA) }

  test("becomes events with visitor, visit, place and device", async () => {
    const { events, skips, rejects, read, warnings, fault } = await readWith(umami, files)
    expect({ fault, rejects, skips, read, warnings }).toEqual({
      fault: undefined,
      rejects: [],
      skips: { not_imported_type: 2 },
      read: 6,
      warnings: ["lists_dropped"],
    })
    expect(countBy(events, utcDay)).toEqual({ "2024-03-15": 2, "2024-03-16": 2 })
    expect(countBy(events, ({ name }) => name)).toEqual({ pageview: 3, signup: 1 })
    expect(countBy(events, ({ visitor, visit }) => `${visitor} ${visit}`)).toEqual({ "s1 v1": 2, "s2 v2": 2 })
    expect(countBy(events, ({ traits }) => `${traits?.browser} ${traits?.os} ${traits?.os_version ?? ""} ${traits?.device}`)).toEqual({
      "Chrome iOS  Mobile": 2,
      "Microsoft Edge Windows 10 Desktop": 2,
    })
    expect(
      countBy(events, ({ traits }) => `${traits?.country} ${traits?.region} ${traits?.city} ${traits?.language} ${traits?.size}`),
    ).toEqual({
      "DE DE-BE Berlin de-DE <576": 2,
      "US US-CA Oakland en-US 1440+": 2,
    })
  })

  test("keeps title, tag, query, referrer and click id", async () => {
    const { events } = await readWith(umami, files)
    expect(events[0]).toMatchObject({ title: "Home, sweet", path: "/", hostname: "shop.example", at: Date.parse("2024-03-15T10:00:00Z") })
    expect(events[1]!.props).toEqual([["tag", "b"]])
    expect(events[2]).toMatchObject({ path: "/?utm_source=news&gclid=1", referrer: "https://google.com/search?q=shop" })
    expect(events[2]!.traits!.click_id_type).toBe("gclid")
    expect(events[3]).toMatchObject({ name: "signup", userId: "u7" })
  })

  test("joins scalar data by event id and drops lists", async () => {
    const { events } = await readWith(umami, files)
    expect(events[3]!.props).toEqual([
      ["plan", "pro"],
      ["seats", "12.5"],
      ["trial", "true"],
      ["until", "2024-04-01T00:00:00Z"],
    ])
  })

  test("names events by their ids, by which each counts once when exports overlap", async () => {
    const { events, skips } = await readWith(umami, { ...files, "website_event_2.csv": csv(CLOUD_COLUMNS, EVENTS.slice(0, 3)) })
    expect(events.slice(4).map(({ id }) => id)).toEqual(events.slice(0, 3).map(({ id }) => id))
    expect(skips).toEqual({ not_imported_type: 2 })
  })

  test("reads revenue from the data of an event, with amount and currency", async () => {
    const withRevenue = [...DATA, data("revenue", "2", { number_value: "19.9900" }), data("currency", "1", { string_value: "EUR" })]
    const { events } = await readWith(umami, { ...files, "event_data.csv": csv(DATA_COLUMNS, withRevenue) })
    expect(events[3]!.revenue).toEqual({ amount: "19.99", currency: "EUR" })
  })
})

const DATABASE_COLUMNS =
  "event_id,website_id,session_id,visit_id,created_at,url_path,url_query,referrer_domain,page_title,event_type,event_name,tag"
const SESSION_COLUMNS = "session_id,website_id,hostname,browser,os,device,screen,language,country,subdivision1,subdivision2,city,created_at"
const REVENUE_COLUMNS = "revenue_id,website_id,session_id,event_id,event_name,currency,revenue,created_at"
const database = [
  {
    event_id: "d1",
    website_id: SITE,
    session_id: "s1",
    visit_id: "v1",
    created_at: "2025-10-08 01:54:16.502+00",
    url_path: "/",
    event_type: "1",
  },
  {
    event_id: "d2",
    website_id: SITE,
    session_id: "s1",
    visit_id: "v1",
    created_at: "2025-10-08 01:55:16.502+00",
    event_type: "2",
    event_name: "buy",
  },
]
const session = {
  session_id: "s1",
  website_id: SITE,
  hostname: "old.example",
  browser: "firefox",
  os: "Mac OS",
  device: "desktop",
  country: "GB",
}

describe("tables of a database", () => {
  const sessions = csv(SESSION_COLUMNS, [{ ...session, screen: "1280x800", language: "en-GB", subdivision1: "ENG", city: "Leeds" }])
  const files = {
    "website_event.csv": csv(DATABASE_COLUMNS, database),
    "session.csv": sessions,
    "event_data.csv": csv("event_data_id,website_id,website_event_id,data_key,string_value,data_type", [
      { website_id: SITE, website_event_id: "d2", data_key: "plan", string_value: "pro", data_type: "1" },
    ]),
    "revenue.csv": csv(REVENUE_COLUMNS, [{ website_id: SITE, event_id: "d2", currency: "EUR", revenue: "19.9900" }]),
  }

  test("take visitor, region and hostname from the session, and revenue with four decimals", async () => {
    const { events, warnings } = await readWith(umami, files)
    expect(warnings).toEqual([])
    expect(events[0]).toMatchObject({ at: Date.parse("2025-10-08T01:54:16.502Z"), hostname: "old.example" })
    expect(events[0]!.traits).toEqual({
      browser: "Firefox",
      os: "Mac",
      device: "Desktop",
      size: "992-1439",
      language: "en-GB",
      country: "GB",
      region: "GB-ENG",
      city: "Leeds",
    })
    expect(events[1]).toMatchObject({ name: "buy", props: [["plan", "pro"]], revenue: { amount: "19.9900", currency: "EUR" } })
  })

  test("leave the fields of the visitor empty without sessions, and warn", async () => {
    const { events, warnings } = await readWith(umami, { "website_event.csv": files["website_event.csv"] })
    expect(events.map(({ traits }) => traits)).toEqual([undefined, undefined])
    expect(warnings).toEqual(["session_file_missing"])
  })

  test("write null as NULL or \\N", async () => {
    const rows = [{ ...database[0]!, url_query: "NULL", page_title: "\\N", referrer_domain: "NULL" }]
    const { events } = await readWith(umami, { "website_event.csv": csv(DATABASE_COLUMNS, rows) })
    expect(events[0]).toEqual({
      id: "d1",
      file: "website_event.csv",
      line: 2,
      at: Date.parse("2025-10-08T01:54:16.502Z"),
      name: "pageview",
      visitor: "s1",
      visit: "v1",
      path: "/",
      props: [],
    })
  })

  test("read times without a zone as UTC, or in the given zone", async () => {
    const files = { "website_event.csv": csv(DATABASE_COLUMNS, [{ ...database[0]!, created_at: "2025-07-01 12:00:00" }]) }
    const at = async (sourceTimezone?: string) => (await readWith(umami, files, { sourceTimezone })).events[0]!.at
    expect(await at()).toBe(Date.parse("2025-07-01T12:00:00Z"))
    expect(await at("America/New_York")).toBe(Date.parse("2025-07-01T16:00:00Z"))
  })
})

const DUMP = `--
-- PostgreSQL database dump
--

SET client_encoding = 'UTF8';

COPY public.session (session_id, website_id, browser, os, device, screen, language, country, region, city, created_at, distinct_id) FROM stdin;
s1\t${SITE}\tsafari\tiOS\ttablet\t820x1180\tfr-FR\tFR\tFR-IDF\tParis\t2025-10-08 01:54:16.502+00\tuser-9
\\.


COPY public."user" (user_id, username) FROM stdin;
1\tadmin
\\.


COPY public.website_event (event_id, website_id, session_id, created_at, url_path, url_query, page_title, event_type, event_name, visit_id, tag) FROM stdin;
p1\t${SITE}\ts1\t2025-10-08 01:54:16.502+00\t/a\\tb\t\\N\tOne\\nTwo \\\\ é\t1\t\\N\tv1\t\\N
p2\t${SITE}\ts1\t2025-10-08 01:56:16.502+00\t/c\tx=1\t\\N\t2\tclick\tv1\t\\N
\\.

`

describe("a plain pg_dump", () => {
  test("is read from its COPY blocks, with escapes", async () => {
    const { events, rejects, read } = await readWith(umami, { "umami.sql": DUMP })
    expect({ rejects, read }).toEqual({ rejects: [], read: 2 })
    expect(events[0]).toMatchObject({ path: "/a\tb", title: "One\nTwo \\ é", userId: "user-9", line: 18 })
    expect(events[0]!.traits).toMatchObject({
      browser: "Safari",
      os: "iOS",
      device: "Tablet",
      country: "FR",
      region: "FR-IDF",
      city: "Paris",
    })
    expect(events[1]).toMatchObject({ name: "click", path: "/c?x=1", visitor: "s1", visit: "v1" })
  })

  test.each([
    ["cut off", DUMP.slice(0, -6), "invalid_archive"],
    ["without the table of events", DUMP.slice(0, DUMP.indexOf("COPY public.website_event")), "unrecognized_source"],
    ["without a required column", DUMP.replace("event_type", "kind"), "missing_columns"],
    ["of Umami 1", "COPY public.pageview (view_id, website_id) FROM stdin;\n1\t1\n\\.\n", "unsupported_version"],
    ["in another encoding", DUMP.replace("'UTF8'", "'EUC_JP'"), "invalid_encoding"],
  ])("is refused when it is %s", async (_, dump, code) => {
    expect((await readWith(umami, { "umami.sql": dump })).fault).toMatchObject({ code, message: expect.stringContaining("umami.sql") })
  })

  test("rejects rows with another number of columns", async () => {
    const dump = DUMP.replace("\tv1\t\\N\n\\.", "\tv1\n\\.")
    expect((await readWith(umami, { "umami.sql": dump })).rejects).toEqual([
      ["umami.sql", 19, "wrong_column_count", "10 columns instead of 11"],
    ])
  })
})

describe("several websites", () => {
  const rows = [...EVENTS.slice(0, 2), { ...EVENTS[2]!, website_id: OTHER }]
  const files = { "website_event.csv": csv(CLOUD_COLUMNS, rows) }
  const choices = { website_ids: [{ id: SITE, rows: 2 }, { id: OTHER, rows: 1 }] } // biome-ignore format: a table

  test("are listed with their rows when none is chosen", async () => {
    const reading = await readWith(umami, files)
    expect(reading.fault).toMatchObject({ code: "website_id_required", members: { choices } })
    expect(reading.choices).toEqual(choices)
  })
  test("are filtered by the chosen one", async () => {
    const { events, skips, fault } = await readWith(umami, files, { own: { website_id: OTHER } })
    expect(fault).toBeUndefined()
    expect(skips).toEqual({ filtered: 2 })
    expect(events.map(({ visitor }) => visitor)).toEqual(["s2"])
  })
  test("are listed when the chosen one is not among them", async () => {
    expect((await readWith(umami, files, { own: { website_id: "x" } })).fault).toMatchObject({
      code: "website_id_required",
      members: { choices },
    })
  })
})

test.each([
  ["a date that does not exist", { created_at: "2024-02-30 10:00:00" }, "bad_date", "2024-02-30 10:00:00"],
  ["no date", { created_at: "" }, "bad_date", ""],
  ["an hour over 23", { created_at: "2024-03-15 24:00:00" }, "bad_date", "2024-03-15 24:00:00"],
  ["an event type that is no number", { event_type: "pageview" }, "bad_number", "pageview"],
  ["a negative event type", { event_type: "-1" }, "bad_number", "-1"],
])("rejects a row with %s", async (_, values, code, excerpt) => {
  const { rejects, events } = await readWith(umami, { "website_event.csv": csv(CLOUD_COLUMNS, [EVENTS[0]!, { ...EVENTS[1]!, ...values }]) })
  expect(rejects).toEqual([["website_event.csv", 3, code, excerpt]])
  expect(events.length).toBe(1)
})

test("rejects data whose number is malformed, and keeps the event", async () => {
  const faulty = [...DATA, data("price", "2", { number_value: "12,5" })]
  const reading = await readWith(umami, { "website_event.csv": csv(CLOUD_COLUMNS, EVENTS), "event_data.csv": csv(DATA_COLUMNS, faulty) })
  expect(reading.rejects).toEqual([["event_data.csv", 7, "bad_number", "12,5"]])
  expect({ events: reading.events.length, read: reading.read }).toEqual({ events: 4, read: 7 })
})

test("names the columns that are missing", async () => {
  const { fault } = await readWith(umami, { "events.csv": "event_id,session_id,url_path,event_name\n1,2,/,x\n" })
  expect(fault).toMatchObject({ code: "missing_columns", members: { columns: ["website_id", "created_at", "event_type"] } })
})

test.each([
  ["pages.csv", "x,y\n/,12\n", "needs_date_dimension", "website_event"],
  ["umami.dump", "PGDMP\u0001\u000e", "unsupported_version", "pg_restore"],
  ["umami.sql", "-- MySQL dump 10.13\nINSERT INTO `website_event` VALUES (1);\n", "unsupported_version", "mysql --batch"],
  ["umami.sql", "-- PostgreSQL database dump\nINSERT INTO public.website_event VALUES (1);\n", "unsupported_version", "without --inserts"],
  ["session_data.csv", "website_id,session_id,data_key,string_value\n", "nothing_to_import", "properties of visitors"],
  ["website.csv", "website_id,name,domain\n", "nothing_to_import", "list of websites"],
])("refuses %s and says what to send instead", (name, text, code, message) => {
  const recognition = umami.recognize(fileHead(name, new TextEncoder().encode(text)))
  expect(recognition?.refusal).toMatchObject({ code, message: expect.stringContaining(message) })
})
