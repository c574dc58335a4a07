import { describe, expect, test } from "bun:test"
import { fileHead } from "../../reading/text.ts"
import { matomo } from "../../sources/matomo/matomo.ts"
import { countBy, readWith, utcDay } from "../source-reading.ts"

const at = (text: string) => Date.parse(text) / 1000
const visit = {
  idVisit: "4821",
  visitorId: "0123456789abcdef",
  userId: null,
  serverTimestamp: at("2024-03-15T10:20:00Z"),
  firstActionTimestamp: at("2024-03-15T10:00:00Z"),
  visitDuration: "1200",
  visitIp: "203.0.113.7",
  siteCurrency: "EUR",
  browserName: "Mobile Safari",
  browserVersion: "17.2",
  operatingSystemName: "iOS",
  operatingSystemVersion: "17.2",
  deviceType: "Smartphone",
  languageCode: "en-us",
  countryCode: "us",
  regionCode: "CA",
  city: "Oakland",
  resolution: "390x844",
  referrerType: "search",
  referrerName: "Google",
  referrerUrl: "https://www.google.com/",
  actionDetails: [
    { type: "action", url: "https://shop.example/", pageTitle: "Home", timestamp: at("2024-03-15T10:00:00Z"), timeSpent: "60" },
    { type: "search", url: null, siteSearchKeyword: "tea", pageTitle: "Search", timestamp: at("2024-03-15T10:01:00Z") },
    {
      type: "event",
      url: "https://shop.example/",
      eventCategory: "Form",
      eventAction: "signup",
      eventName: "top",
      eventValue: 3,
      timestamp: at("2024-03-15T10:02:00Z"),
    },
    { type: "goal", goalName: "Sign-up", revenue: 0, timestamp: at("2024-03-15T10:02:00Z") },
    { type: "outlink", url: "https://partner.example/x?y=1", timestamp: at("2024-03-15T10:03:00Z") },
    { type: "download", url: "https://shop.example/a.pdf?v=2", timestamp: at("2024-03-15T10:04:00Z") },
    { type: "content", contentName: "Banner", timestamp: at("2024-03-15T10:05:00Z") },
    { type: "ecommerceOrder", orderId: "A-17", revenue: "19.90", timestamp: at("2024-03-15T10:20:00Z") },
  ],
}
const campaign = {
  ...visit,
  idVisit: "4822",
  visitorId: "fedcba9876543210",
  userId: "u7",
  countryCode: "xx",
  regionCode: "",
  city: null,
  deviceType: "TV",
  browserName: "Chrome",
  operatingSystemName: "GNU/Linux",
  operatingSystemVersion: "",
  languageCode: "xx",
  resolution: "unknown",
  siteCurrency: "",
  referrerType: "campaign",
  referrerName: "spring",
  referrerKeyword: "tea",
  referrerUrl: "",
  actionDetails: [
    { type: "action", url: "https://shop.example/sale", pageTitle: "Sale", timestamp: at("2024-03-16T08:00:00Z") },
    { type: "ecommerceAbandonedCart", revenue: 5, timestamp: at("2024-03-16T08:01:00Z") },
    { type: "ecommerceOrder", orderId: "A-18", revenue: 7, timestamp: at("2024-03-16T08:02:00Z") },
  ],
}

describe("visits", () => {
  test.each([
    ["a JSON page", { "page.json": JSON.stringify([visit, campaign]) }],
    ["NDJSON", { "visits.ndjson": `${JSON.stringify(visit)}\n${JSON.stringify(campaign)}\n` }],
    ["two pages", { "1.json": JSON.stringify([visit], null, 1), "2.json": JSON.stringify([campaign]) }],
  ])("reads %s", async (_, files) => {
    const { events, skips, rejects, read } = await readWith(matomo, { ...files }, { currency: "CHF" })
    expect({ skips, rejects, read }).toEqual({ skips: { not_imported_type: 3 }, rejects: [], read: 11 })
    expect(countBy(events, (event) => `${utcDay(event)} ${event.name}`)).toEqual({
      "2024-03-15 pageview": 2,
      "2024-03-15 signup": 1,
      "2024-03-15 Outbound Link: Click": 1,
      "2024-03-15 File Download": 1,
      "2024-03-15 purchase": 1,
      "2024-03-16 pageview": 1,
      "2024-03-16 purchase": 1,
    })
    expect(countBy(events, ({ visit, visitor, visitorKind }) => `${visit} ${visitor} ${visitorKind}`)).toEqual({
      "4821 0123456789abcdef device": 6,
      "4822 fedcba9876543210 device": 2,
    })
    expect(countBy(events, ({ url }) => url ?? "")).toEqual({ "https://shop.example/": 6, "https://shop.example/sale": 2 })
    expect(events.flatMap(({ name, props }) => (props ? [[name, props]] : []))).toEqual([
      [
        "signup",
        [
          ["category", "Form"],
          ["name", "top"],
          ["value", "3"],
        ],
      ],
      ["Outbound Link: Click", [["url", "https://partner.example/x?y=1"]]],
      ["File Download", [["url", "https://shop.example/a.pdf"]]],
      ["purchase", [["order_id", "A-17"]]],
      ["purchase", [["order_id", "A-18"]]],
    ])
    // The site's currency stands in for one that is missing.
    expect(events.flatMap(({ revenue }) => revenue ?? [])).toEqual([
      { amount: "19.90", currency: "EUR" },
      { amount: "7", currency: "CHF" },
    ])
  })

  test("translates traits and origins", async () => {
    const { events } = await readWith(matomo, { "page.json": JSON.stringify([visit, campaign]) })
    expect(events[0]).toMatchObject({
      title: "Home",
      referrer: "https://www.google.com/",
      traits: {
        browser: "Safari",
        browser_version: "17.2",
        os: "iOS",
        os_version: "17.2",
        device: "Mobile",
        size: "<576",
        language: "en-US",
        country: "US",
        region: "US-CA",
        city: "Oakland",
      },
    })
    const last = events.at(-1)!
    expect({ traits: last.traits, userId: last.userId, utm: last.utm }).toEqual({
      traits: { browser: "Chrome", browser_version: "17.2", os: "Linux", device: "Other", language: "xx" },
      userId: "u7",
      utm: { utm_source: "", utm_medium: "", utm_campaign: "spring", utm_term: "tea", utm_content: "" },
    })
    expect(JSON.stringify(events)).not.toContain("203.0.113.7")
  })

  test.each([
    ["Smartphone", "Mobile"],
    ["Phablet", "Mobile"],
    ["Feature phone", "Mobile"],
    ["Tablet", "Tablet"],
    ["Desktop", "Desktop"],
    ["TV", "Other"],
    ["Console", "Other"],
  ])("reads the device %s as %s", async (deviceType, device) => {
    const { events } = await readWith(matomo, { "page.json": JSON.stringify([{ ...visit, deviceType }]) })
    expect(events[0]!.traits!.device).toBe(device)
  })

  test.each([
    [
      "search without an address",
      { referrerType: "search", referrerName: "Google", referrerUrl: "" },
      { source: "Google", channel: "Organic Search" },
      undefined,
    ],
    ["website without an address", { referrerType: "website", referrerName: "blog.example", referrerUrl: "" }, {}, "https://blog.example/"],
    ["direct", { referrerType: "direct", referrerName: "", referrerUrl: "" }, {}, undefined],
  ])("reads the origin %s", async (_, origin, traits, referrer) => {
    const { events } = await readWith(matomo, { "page.json": JSON.stringify([{ ...visit, ...origin }]) })
    const { source, channel } = events[0]!.traits!
    expect({ ...(source && { source }), ...(channel && { channel }), referrer: events[0]!.referrer }).toEqual({
      ...traits,
      referrer,
    } as object as never)
  })

  test.each([
    [
      "a time that is none",
      [{ ...visit, actionDetails: [{ type: "action", url: "/", timestamp: "soon" }] }],
      ["page.json", 1, "bad_date", "soon"],
    ],
    ["a visit without an id", [{ ...visit, idVisit: "" }], ["page.json", 1, "wrong_column_count", ""]],
  ])("rejects %s", async (_, visits, reject) => {
    const { rejects, events } = await readWith(matomo, { "page.json": JSON.stringify(visits) })
    expect({ rejects, events }).toEqual({ rejects: [reject as never], events: [] })
  })
})

const SUMMARY = `date,nb_uniq_visitors,nb_users,nb_visits,nb_actions,nb_visits_converted,bounce_count,sum_visit_length,max_actions
2024-03-15,10,0,12,40,1,4,3600,9
2024-03-16,0,0,0,0,0,0,0,0
2024-03-17,5,0,6,11,0,3,600,4
`
const COUNTRIES = `date,label,nb_uniq_visitors,nb_visits,nb_actions,sum_visit_length,bounce_count,metadata_code,metadata_logo
2024-03-15,Germany,7,8,30,3000,2,de,de.png
2024-03-15,Unknown,3,4,10,600,2,xx,xx.png
`
const CITIES = `date,label,nb_uniq_visitors,nb_visits,nb_actions,sum_visit_length,bounce_count,metadata_city_name,metadata_region,metadata_country
2024-03-15,"Berlin, Berlin, Germany",7,8,30,3000,2,Berlin,BE,de
`
const PAGES = `date,label,nb_visits,nb_uniq_visitors,nb_hits,sum_time_spent,exit_nb_visits,entry_nb_visits,metadata_url
2024-03-15,/index,8,7,9,120,5,6,https://shop.example/
2024-03-15,blog,3,3,4,60,1,2,
2024-03-15,/a?b=1,1,1,2,30,1,0,https://shop.example/a?b=1
`
const EVENTS = `date,label,nb_uniq_visitors,nb_visits,nb_events,nb_events_with_value
2024-03-15,signup,3,3,4,0
`

describe("reports", () => {
  test("reads totals per day", async () => {
    const { totals, warnings, read } = await readWith(matomo, { "VisitsSummary.get.csv": SUMMARY })
    expect(totals.map(([kind, { day, texts, counts }]) => ({ kind, day, texts, counts }))).toEqual([
      {
        kind: "imported_visitors",
        day: "2024-03-15",
        texts: {},
        counts: { visitors: 10, pageviews: 40, visits: 12, bounces: 4, visit_duration: 3600 },
      },
      {
        kind: "imported_visitors",
        day: "2024-03-17",
        texts: {},
        counts: { visitors: 5, pageviews: 11, visits: 6, bounces: 3, visit_duration: 600 },
      },
    ])
    expect({ warnings, read }).toEqual({
      warnings: ["unknown_columns", "actions_as_pageviews"].filter((code) => warnings.includes(code)),
      read: 3,
    })
    expect(warnings).toContain("actions_as_pageviews")
  })

  test("reads the most detailed report of a table", async () => {
    const { totals, warnings } = await readWith(matomo, { "UserCountry.getCountry.csv": COUNTRIES, "UserCountry.getCity.csv": CITIES })
    expect(totals.map(([, { texts, counts }]) => [texts, counts.visitors])).toEqual([
      [{ country: "DE", region: "DE-BE", city: "Berlin" }, 7],
    ])
    expect(warnings).toContain("repeated_totals")
    const alone = await readWith(matomo, { "getCountry.csv": COUNTRIES })
    expect(alone.totals.map(([, { texts, counts }]) => [texts, counts.visitors])).toEqual([
      [{ country: "DE", region: "" }, 7],
      [{ country: "", region: "" }, 3],
    ])
  })

  test("reads pages without the rows of folders", async () => {
    const { totals, skips, warnings } = await readWith(matomo, { "Actions.getPageUrls.csv": PAGES })
    expect(totals.map(([kind, { texts, counts }]) => ({ kind, texts, counts }))).toEqual([
      {
        kind: "imported_pages",
        texts: { hostname: "shop.example", page: "/" },
        counts: { visitors: 7, visits: 8, pageviews: 9, exits: 5, time_on_page: 120, time_on_page_visits: 8 },
      },
      {
        kind: "imported_pages",
        texts: { hostname: "shop.example", page: "/a" },
        counts: { visitors: 1, visits: 1, pageviews: 2, exits: 1, time_on_page: 30, time_on_page_visits: 1 },
      },
    ])
    expect({ skips, notFlat: warnings.includes("not_flat") }).toEqual({ skips: { not_imported_type: 1 }, notFlat: true })
  })

  test("reads events", async () => {
    const { totals } = await readWith(matomo, { "Events.getAction.csv": EVENTS })
    expect(totals).toMatchObject([
      ["imported_custom_events", { day: "2024-03-15", texts: { name: "signup" }, counts: { visitors: 3, events: 4 } }],
    ])
  })

  test.each([
    ["a day that is none", SUMMARY.replace("2024-03-17", "March"), "bad_date", "March"],
    ["a count that is none", SUMMARY.replace(",600,4", ",x,4"), "bad_number", "x"],
    ["a negative count", SUMMARY.replace(",600,4", ",-1,4"), "negative_count", "-1"],
  ])("rejects %s", async (_, csv, code, excerpt) => {
    const { rejects, totals } = await readWith(matomo, { "VisitsSummary.get.csv": csv })
    expect({ rejects, rows: totals.length }).toEqual({ rejects: [["VisitsSummary.get.csv", 4, code, excerpt]], rows: 1 })
  })

  test.each([
    ["without dates", "Actions.getPageUrls.csv", PAGES.replaceAll(/^[^,]*,/gm, ""), "needs_date_dimension", "period=day"],
    ["whose name says nothing", "export.csv", PAGES, "unrecognized_source", "getPageUrls"],
  ])("refuses a report %s", (_, name, csv, code, remedy) => {
    const { refusal } = matomo.recognize(fileHead(name, new TextEncoder().encode(csv)))!
    expect(refusal).toMatchObject({ code, message: expect.stringContaining(remedy) })
  })
})
