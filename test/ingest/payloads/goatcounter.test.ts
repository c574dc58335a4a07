import { describe, expect, test } from "bun:test"
import { siteOf, startIntake, TRACKING_ID } from "../intake.ts"
import { eventsOf, faultsOf, KNOWN, sendCount } from "./foreign.ts"

const traits = (intake: ReturnType<typeof startIntake>) => intake.visits()[0]!.traits.split("|")

test("reads a count of the script as a pageview", async () => {
  using intake = startIntake(KNOWN)
  const fields = {
    p: "/shop/?utm_source=news&x=1",
    t: " The  shop ",
    r: "https://www.google.com/search?q=x",
    s: "1920,1080,1.5",
    b: "0",
    q: "?utm_source=news&x=1",
    rnd: "ab1cd",
    ns: "1",
  }
  expect(await sendCount(intake, fields, { headers: { "accept-language": "de-AT,de;q=0.9" } })).toEqual([{}])
  expect(intake.visits()).toMatchObject([{ pageviews: 1, entry: "example.com/shop/" }])
  expect(eventsOf(intake)).toMatchObject([{ name: "pageview", page: "/shop/", hostname: "example.com", title: "The shop", props: [] }])
  expect(traits(intake).slice(0, 3)).toEqual(["news", "google.com/search", "Referral"])
  expect(traits(intake)).toContain("1440+")
  expect(traits(intake).at(-1)).toBe("de-AT")
})

describe("the page", () => {
  test.each([
    ["without a leading slash", "a/b", "/a/b"],
    ["with a query parameter that is not allowed", "/a?b=c", "/a"],
    ["that looks like a host", "//a/b", "//a/b"],
    ["that starts with a host", "example.com/a", "/example.com/a"],
    ["with a colon", "re:port", "/re:port"],
    ["as a full URL", "https://example.com/a?b=c", "/a"],
    ["with percent-encoded characters", "/caf%C3%A9", "/café"],
    ["of the maximum length", `/${"a".repeat(2_047)}`, `/${"a".repeat(1_999)}`],
  ])("%s", async (_, p, page) => {
    using intake = startIntake(KNOWN)
    expect(await sendCount(intake, { p })).toEqual([{}])
    expect(eventsOf(intake)).toMatchObject([{ page }])
  })

  test("keeps allowed query parameters", async () => {
    using intake = startIntake({ settings: { ...KNOWN.settings, allowed_query_params: ["page"] } })
    await sendCount(intake, { p: "/a?page=2&x=1", q: "?page=2&x=1" })
    // A canonical URL declares that its query is not part of it.
    await sendCount(intake, { p: "/b", q: "?page=2" })
    expect(eventsOf(intake)).toMatchObject([{ page: "/a?page=2" }, { page: "/b" }])
  })
})

describe("an event", () => {
  test.each(["true", "1", "TRUE"])("with e=%s belongs to the page that sent it", async (e) => {
    using intake = startIntake(KNOWN)
    expect(await sendCount(intake, { p: "click-buy", e, t: "Buy" }, { headers: { referer: "https://example.com/shop?x=1" } })).toEqual([{}])
    expect(eventsOf(intake)).toMatchObject([{ name: "click-buy", page: "/shop", hostname: "example.com", title: "Buy" }])
    expect(intake.visits()).toMatchObject([{ pageviews: 0, events: 1, interactive: 1 }])
  })

  test("with e=false is a pageview", async () => {
    using intake = startIntake(KNOWN)
    await sendCount(intake, { p: "/a", e: "false" })
    expect(eventsOf(intake)).toMatchObject([{ name: "pageview", page: "/a" }])
  })
})

describe("the campaign", () => {
  test.each([
    ["from utm tags", "?utm_source=a&utm_medium=b&utm_campaign=c&utm_term=d&utm_content=e", ["a", "b", "c", "d", "e"]],
    ["from the short parameter", "?campaign=spring", ["", "", "spring", "", ""]],
    ["prefers the full parameter to the short one", "?utm_campaign=long&campaign=short", ["", "", "long", "", ""]],
    ["without a question mark", "utm_source=a", ["a", "", "", "", ""]],
  ])("%s", async (_, q, tags) => {
    using intake = startIntake(KNOWN)
    await sendCount(intake, { p: "/", q })
    expect(traits(intake).slice(3, 8)).toEqual(tags)
  })

  test.each(["ref", "src", "source"])("sets the source from %s", async (name) => {
    using intake = startIntake(KNOWN)
    await sendCount(intake, { p: "/", q: `?${name}=hn` })
    expect(traits(intake)[0]).toBe("Hacker News")
  })

  test("recognizes ads by their click ids", async () => {
    using intake = startIntake(KNOWN)
    await sendCount(intake, { p: "/", q: "?gclid=abc", r: "https://www.google.com/" })
    expect(traits(intake)[2]).toBe("Paid Search")
  })
})

test.each([
  ["320", "<576"],
  ["800,600,2", "768-991"],
  ["1024.5,768,1", "992-1439"],
  ["", ""],
  ["wide", ""],
  ["-5,1,1", ""],
  [",,1", ""],
])("a screen of %p is in class %p", async (s, size) => {
  using intake = startIntake(KNOWN)
  expect(await sendCount(intake, { p: "/", s })).toEqual([{}])
  expect(traits(intake)[13]).toBe(size)
})

describe("the bot number of the script", () => {
  test.each(["150", "153", "999"])("drops the event: %s", async (b) => {
    using intake = startIntake(KNOWN)
    expect(await sendCount(intake, { p: "/", b })).toEqual([{ reason: "bot" }])
    expect([intake.visits(), intake.drops()]).toEqual([[], { bot: 1 }])
  })

  test("is ignored if the site counts bots", async () => {
    using intake = startIntake({ settings: { ...KNOWN.settings, drop_bots: false } })
    expect(await sendCount(intake, { p: "/", b: "150" })).toEqual([{}])
  })
})

describe("the site", () => {
  const other = siteOf({ id: 2, tracking_id: "33333333-3333-4333-8333-333333333333", hosts: ["other.org"] })
  const sites = async (fields: Record<string, string>, sent: Parameters<typeof sendCount>[2], hosts = ["example.com"]) => {
    using intake = startIntake({ ...KNOWN, hosts })
    intake.directory.put(other)
    const taken = await sendCount(intake, { p: "/", ...fields }, sent)
    const reason = Array.isArray(taken) ? taken[0]?.reason : undefined
    return [intake.visits(1).length, intake.visits(2).length, reason]
  }
  const elsewhere = { headers: { referer: "https://other.org/" } }

  test.each([
    ["by its code", { site: "shop" }, elsewhere, [0, 0, "host"]],
    ["by its code on its own page", { site: "SHOP" }, {}, [1, 0, undefined]],
    ["by our own id", { site: TRACKING_ID }, {}, [1, 0, undefined]],
    ["by the first label of the requested host", {}, { host: "shop.stats.example" }, [1, 0, undefined]],
    ["by that label rather than by the page", {}, { host: "shop.stats.example", ...elsewhere }, [0, 0, "host"]],
    ["by the page if the label is unknown", {}, { host: "www.stats.example", ...elsewhere }, [0, 1, undefined]],
    ["by the Origin", {}, { headers: { origin: "https://other.org", referer: "" } }, [0, 1, undefined]],
    ["not by the page if the code is unknown", { site: "nobody" }, {}, [0, 0, "unknown_site"]],
    ["unknown without a code, label and page", {}, { headers: { referer: "" } }, [0, 0, "unknown_site"]],
  ])("%s", async (_, fields, sent, counted) => {
    expect(await sites(fields as Record<string, string>, sent)).toEqual(counted)
  })
})

test.each([
  ["no page", {}, ["/p required"]],
  ["an empty page", { p: "" }, ["/p required"]],
  ["a page that is too long", { p: "a".repeat(2_049) }, ["/p too_long"]],
  ["a page that cannot be stored", { p: "/\0" }, ["/p invalid_characters"]],
  ["an event without a name", { e: "true" }, ["/p required"]],
  ["an event with a reserved name", { e: "true", p: "vitals" }, ["/p invalid_choice"]],
  ["an event with a long name", { e: "true", p: "a".repeat(121) }, ["/p too_long"]],
  ["an e that is not a boolean", { p: "/", e: "maybe" }, ["/e invalid_type"]],
  ["a b of 1", { p: "/", b: "1" }, ["/b out_of_range"]],
  ["a b of 149", { p: "/", b: "149" }, ["/b out_of_range"]],
  ["a b that is not a number", { p: "/", b: "x" }, ["/b out_of_range"]],
  ["a negative b", { p: "/", b: "-150" }, ["/b out_of_range"]],
])("rejects %s", async (_, fields, faults) => {
  using intake = startIntake(KNOWN)
  const taken = await sendCount(intake, { site: "shop", ...fields } as Record<string, string>)
  expect(faultsOf(taken)).toEqual(faults)
  expect([intake.visits(), intake.drops()]).toEqual([[], { invalid: 1 }])
})
