import { describe, expect, test } from "bun:test"
import { SOURCES } from "../../src/ingest/data/sources.ts"
import { campaignOf, channelOf, sourceOf } from "../../src/ingest/enrich/acquisition.ts"
import { isSelfReferral, referrerOf } from "../../src/ingest/enrich/referrer.ts"

const NONE = { host: "", text: "" }
const source = (query: string, referrer = "") => sourceOf(campaignOf(query), referrerOf(referrer))
const channel = (query: string, referrer = "") => channelOf(source(query, referrer), campaignOf(query))

describe("referrer", () => {
  test.each([
    ["https://www.Example.org/a/b/?q=1#x", { host: "example.org", text: "example.org/a/b" }],
    ["https://example.org", { host: "example.org", text: "example.org" }],
    ["https://example.org///", { host: "example.org", text: "example.org" }],
    ["https://user:pw@example.org:444/a", { host: "example.org", text: "example.org/a" }],
    ["android-app://com.google.android.gm/", { host: "com.google.android.gm", text: "android-app://com.google.android.gm" }],
    ["https://münchen.de/", { host: "xn--mnchen-3ya.de", text: "xn--mnchen-3ya.de" }],
    ["", NONE],
    ["google", NONE],
    ["/inside", NONE],
    ["javascript:alert(1)", NONE],
    ["data:text/html,x", NONE],
    ["https://", NONE],
    ["https://a b/", NONE],
    ["about:blank", NONE],
  ])("reads %p as %p", (sent, expected) => {
    expect(referrerOf(sent)).toEqual(expected)
  })

  test("is truncated to 2,000 bytes", () => {
    expect(referrerOf(`https://a.example/${"x".repeat(4_000)}`).text).toBe(`a.example/${"x".repeat(1_990)}`)
  })

  test.each([
    ["the page's own host", "https://shop.example.com/", "shop.example.com", [], true],
    ["another host of the same registrable domain", "https://blog.example.com/", "example.com", [], true],
    ["a host on the site's list", "https://partner.org/", "example.com", ["partner.org"], true],
    ["a subdomain that a wildcard on the site's list covers", "https://a.partner.org/", "example.com", ["*.partner.org"], true],
    ["localhost", "http://localhost:3000/", "example.com", [], true],
    ["another customer of the same hosting provider", "https://other.github.io/", "mine.github.io", [], false],
    ["another registrable domain under co.uk", "https://other.co.uk/", "mine.co.uk", [], false],
    ["another site", "https://other.org/", "example.com", [], false],
    ["another address", "http://10.0.0.2/", "10.0.0.1", [], false],
    ["the same address", "http://10.0.0.1/", "10.0.0.1", [], true],
  ])("internal referrers: %s", (_, sent, hostname, hosts, expected) => {
    expect(isSelfReferral(referrerOf(sent), { hostname, hosts })).toBe(expected)
  })
})

describe("source", () => {
  test.each([
    ["", "", ""],
    ["", "https://www.google.co.uk/search?q=x", "Google"],
    ["", "https://mail.google.com/", "Gmail"],
    ["", "https://gemini.google.com/app", "Gemini"],
    ["", "https://l.facebook.com/l.php", "Facebook"],
    ["", "https://t.co/abc", "X"],
    ["", "https://old.reddit.com/r/x", "Reddit"],
    ["", "https://notgoogle.com/", "notgoogle.com"],
    ["", "https://www.other.org/a", "other.org"],
    ["", "android-app://com.google.android.gm/", "Gmail"],
    ["utm_source=newsletter&source=a&ref=b", "https://google.com/", "newsletter"],
    ["source=a&ref=b", "https://google.com/", "a"],
    ["ref=b", "https://google.com/", "b"],
    ["utm_source=IG", "", "Instagram"],
    ["utm_source=adwords", "", "Google"],
    ["utm_source=m.facebook.com", "", "Facebook"],
    ["utm_source=GOOGLE", "", "Google"],
    ["utm_source=++My+List+", "", "My List"],
    ["utm_source=(none)", "https://google.com/", "Google"],
    ["utm_source=(Not%20Set)&ref=y", "", "y"],
    [`utm_source=${"x".repeat(300)}`, "", "x".repeat(200)],
    ["utm_source=%00%E2%80%AEy", "", "y"],
    ["utm_source=%FF", "", "�"],
    ["?utm_source=second", "", "second"],
    ["utm_source=&utm_source=second", "", ""],
    ["utm_source&ref=y", "", "y"],
    ["a=1&&=x&utm%5Fsource=b%26c=d&e", "", "b&c=d"],
    ["utm_sources=a&xutm_source=b", "", ""],
    ["utm_source=constructor", "", "constructor"],
    ["utm_source=__proto__", "", "__proto__"],
  ])("of ?%s with referrer %p is %p", (query, referrer, expected) => {
    expect(source(query, referrer).name).toBe(expected)
  })

  test("every alias and host in the table belongs to one source", () => {
    const hosts = SOURCES.flatMap((each) => each.hosts)
    const words = SOURCES.flatMap((each) => [each.name.toLowerCase(), ...each.aliases, ...(each.paid ?? [])])
    expect(new Set(hosts).size).toBe(hosts.length)
    expect(new Set(words).size).toBe(words.length)
    expect([...hosts, ...words].filter((text) => text !== text.toLowerCase() || text !== text.trim())).toEqual([])
  })

  test.each(["ChatGPT", "Claude", "Gemini", "Copilot", "Perplexity", "Grok", "DeepSeek", "Phind", "Mistral", "Meta AI", "You.com"])(
    "%s is an AI assistant",
    (name) => {
      expect(SOURCES.find((each) => each.name === name)?.category).toBe("ai")
    },
  )
})

test.each([
  ["gclid=1&fbclid=2", "gclid"],
  ["li_fat_id=x", "li_fat_id"],
  ["gclid=", ""],
  ["gclidx=1", ""],
])("the click id of ?%s is %p", (query, expected) => {
  expect(campaignOf(query).click_id_type).toBe(expected)
})

test("campaign tags are trimmed and truncated and keep their case", () => {
  expect(campaignOf(`utm_medium=+Email+&utm_campaign=May%20Sale&utm_term=${"t".repeat(250)}&utm_content=(none)`)).toMatchObject({
    utm_medium: "Email",
    utm_campaign: "May Sale",
    utm_term: "t".repeat(200),
    utm_content: "",
  })
})

describe("channel", () => {
  test.each([
    ["utm_campaign=my-cross-network-1&utm_source=google&utm_medium=cpc", "", "Cross-network"],
    ["utm_campaign=shopping_x&utm_medium=cpc", "", "Paid Shopping"],
    ["utm_source=amazon&utm_medium=ppc", "", "Paid Shopping"],
    ["utm_campaign=spring-shop&utm_medium=cpc&utm_source=google", "", "Paid Shopping"],
    ["utm_source=google&utm_medium=cpc", "", "Paid Search"],
    ["utm_source=adwords", "", "Paid Search"],
    ["utm_source=bing&msclkid=1", "", "Paid Search"],
    ["gclid=1", "https://google.com/", "Paid Search"],
    ["wbraid=1", "https://google.com/", "Paid Search"],
    ["msclkid=1", "https://google.com/", "Organic Search"],
    ["utm_source=google&utm_medium=cpm", "", "Paid Search"],
    ["utm_source=facebook&utm_medium=paid_social", "", "Paid Social"],
    ["utm_source=linkedin-ads", "", "Paid Social"],
    ["utm_source=youtube&utm_medium=cpv", "", "Paid Video"],
    ["utm_medium=cpm&utm_source=unknown", "", "Display"],
    ["utm_medium=Banner&utm_source=unknown", "", "Display"],
    ["utm_medium=retargeting&utm_source=unknown", "", "Paid Other"],
    ["utm_medium=paid-newsletter&utm_source=partner", "", "Paid Other"],
    ["utm_medium=cpa", "", "Paid Other"],
    ["", "https://www.etsy.com/", "Organic Shopping"],
    ["utm_campaign=eshop-may&utm_source=partner", "", "Organic Shopping"],
    ["utm_campaign=eshop&utm_source=partner", "", "Organic Shopping"],
    ["utm_campaign=workshop&utm_source=partner", "", "Referral"],
    ["utm_campaign=éshop&utm_source=partner", "", "Referral"],
    ["", "https://t.co/", "Organic Social"],
    ["utm_medium=sm&utm_source=partner", "", "Organic Social"],
    ["utm_medium=social+media&utm_source=partner", "", "Organic Social"],
    ["", "https://www.youtube.com/", "Organic Video"],
    ["utm_medium=my-video&utm_source=partner", "", "Organic Video"],
    ["", "https://chatgpt.com/", "AI Assistants"],
    ["", "https://claude.ai/", "AI Assistants"],
    ["", "https://duckduckgo.com/", "Organic Search"],
    ["utm_medium=organic&utm_source=partner", "", "Organic Search"],
    ["", "https://mail.google.com/", "Email"],
    ["utm_source=Newsletter", "", "Email"],
    ["utm_medium=e-mail", "", "Email"],
    ["utm_medium=affiliate&utm_source=partner", "", "Affiliates"],
    ["utm_medium=audio&utm_source=partner", "", "Audio"],
    ["utm_source=sms", "", "SMS"],
    ["utm_medium=web_push&utm_source=partner", "", "Mobile Push"],
    ["utm_medium=mobile&utm_source=partner", "", "Mobile Push"],
    ["utm_source=firebase", "", "Mobile Push"],
    ["", "https://other.org/", "Referral"],
    ["utm_source=partner", "", "Referral"],
    ["", "", "Direct"],
    ["gclid=1", "", "Direct"],
    ["utm_medium=whatever", "", "Direct"],
  ])("of ?%s with referrer %p is %s", (query, referrer, expected) => {
    expect<string>(channel(query, referrer)).toBe(expected)
  })
})
