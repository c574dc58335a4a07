import { describe, expect, test } from "bun:test"
import { pageOf } from "../../src/ingest/enrich/page.ts"
import { firstLanguage, languageOf, moneyOf, sizeClass } from "../../src/ingest/enrich/values.ts"
import { memoize } from "../../src/ingest/memoize.ts"
import { agentOf } from "../../src/ingest/request/agent.ts"
import { cutBytes, cutCharacters, oneLine } from "../../src/ingest/request/text.ts"
import { hostnameOf, splitAddress } from "../../src/ingest/request/web-address.ts"

const page = (url: string, options: { allowed?: string[]; hash?: boolean } = {}) =>
  pageOf(splitAddress(url), { allowed: options.allowed ?? [], hash: options.hash ?? false })

describe("page", () => {
  test.each([
    ["https://example.com", "/"],
    ["https://example.com/", "/"],
    ["https://example.com?x=1", "/"],
    ["https://example.com#top", "/"],
    ["https://example.com/a/", "/a/"],
    ["https://example.com/a?b=c#d", "/a"],
    ["/a/b?c", "/a/b"],
    ["a/b", "/a/b"],
    ["//example.com/a", "/a"],
    ["https://user:pass@example.com:8080/a", "/a"],
    ["file:///C:/docs/a.html", "/C:/docs/a.html"],
    ["app://-/index.html", "/index.html"],
    ["https://example.com/caf%C3%A9", "/café"],
    ["https://example.com/cafe%CC%81", "/café"],
    ["https://example.com/%E2%82%AC%20price", "/€ price"],
    ["https://example.com/%F0%9F%98%80", "/😀"],
    ["https://example.com/a%2Fb%3Fc%23d%25e", "/a%2Fb%3Fc%23d%25e"],
    ["https://example.com/a%2fb", "/a%2fb"],
    ["https://example.com/%00%1F%7F", "/%00%1F%7F"],
    ["https://example.com/%C2%85", "/%C2%85"],
    ["https://example.com/%FF%C3", "/%FF%C3"],
    ["https://example.com/%C3%28", "/%C3("],
    ["https://example.com/%ED%A0%80", "/%ED%A0%80"],
    ["https://example.com/%C0%AF", "/%C0%AF"],
    ["https://example.com/%F5%80%80%80x", "/%F5%80%80%80x"],
    ["https://example.com/100%", "/100%"],
    ["https://example.com/%zz%41", "/%zzA"],
    ["https://example.com/%2541", "/%2541"],
    ["https://example.com/a%20%20", "/a"],
    ["https://example.com/a \u202e", "/a"],
    ["https://example.com/%E2%80%AEgnp.exe", "/gnp.exe"],
    ["https://example.com/a\u0007b\u2066c", "/abc"],
    ["https://example.com/%2e%2e/etc", "/../etc"],
  ])("of %s is %s", (url, expected) => {
    expect(page(url)).toBe(expected)
  })

  test.each([
    ["in the order of the allow list", "/p?b=2&a=1", ["a", "b"], "/p?a=1&b=2"],
    ["only parameters that were sent", "/p?b=2", ["a", "b"], "/p?b=2"],
    ["with an empty value", "/p?a=", ["a"], "/p?a="],
    ["the first of two equal parameters", "/p?a=1&a=2", ["a"], "/p?a=1"],
    ["decoded, except characters with a meaning in a query", "/p?q=a+b%26c%3Dd%23", ["q"], "/p?q=a b%26c%3Dd%23"],
    ["except secrets", "/p?token=1&id=2", ["token", "id"], "/p?id=2"],
    ["except secrets in another case", "/p?ToKen=1", ["ToKen"], "/p"],
    ["without invisible characters", "/p?q=%E2%80%AEx%00", ["q"], "/p?q=x"],
  ])("keeps allowed query parameters: %s", (_, url, allowed, expected) => {
    expect(page(url, { allowed })).toBe(expected)
  })

  test.each([
    ["/app#/orders", "/app#/orders"],
    ["/app#", "/app"],
    ["/app#/caf%C3%A9", "/app#/café"],
    ["/app#/orders?token=abc&id=1", "/app#/orders"],
    ["/app#access_token=abc&state=x", "/app"],
    ["/app#a=1", "/app#a=1"],
  ])("of %s in hash mode is %s", (url, expected) => {
    expect(page(url, { hash: true })).toBe(expected)
  })

  test("is truncated to 2,000 bytes, never inside a character", () => {
    expect(page(`/${"a".repeat(5_000)}`)).toBe(`/${"a".repeat(1_999)}`)
    expect(page(`/${"é".repeat(2_000)}`)).toBe(`/${"é".repeat(999)}`)
    expect(page(`/${"😀".repeat(1_000)}`)).toBe(`/${"😀".repeat(499)}`)
  })

  test("is read in linear time, even with thousands of escapes", () => {
    expect(page(`/${"%C3".repeat(2_700)}`)).toBe(`/${"%C3".repeat(666)}%`)
  })
})

test.each([
  ["Example.COM", "example.com"],
  ["www.example.com", "example.com"],
  ["example.com.", "example.com"],
  ["münchen.de", "xn--mnchen-3ya.de"],
  ["my_host.example", "my_host.example"],
  ["[::1]", "[::1]"],
  ["a b.example", undefined],
  ["exa<mple", undefined],
  ["a".repeat(300), undefined],
  ["a@b", undefined],
])("stores the host %s as %p", (host, expected) => {
  expect(hostnameOf(host)).toBe(expected)
})

test.each([
  ["https://Example.com:8080/a?b#c", { scheme: "https", host: "Example.com", path: "/a", query: "b", fragment: "c" }],
  ["https://u:p@h/a", { scheme: "https", host: "h", path: "/a", query: "", fragment: "" }],
  ["https://[::1]:3000/a", { scheme: "https", host: "[::1]", path: "/a", query: "", fragment: "" }],
  ["https://h?q=/x#y?z", { scheme: "https", host: "h", path: "/", query: "q=/x", fragment: "y?z" }],
  ["https://h\\@evil/", { scheme: "https", host: "h", path: "/\\@evil/", query: "", fragment: "" }],
  ["about:blank", { scheme: "about", host: "", path: "/blank", query: "", fragment: "" }],
])("splits %s", (text, expected) => {
  expect(splitAddress(text)).toEqual(expected)
})

test.each([
  ["  a \n\t b  ", "a b"],
  ["a\u0000b\u202e", "ab"],
  ["half \ud83d", "half �"],
  ["x".repeat(600), "x".repeat(512)],
  ["😀".repeat(600), "😀".repeat(512)],
])("turns %j into one line", (text, expected) => {
  expect(oneLine(text, 512)).toBe(expected)
})

test("truncates by characters and by bytes", () => {
  expect(cutCharacters("a😀b", 2)).toBe("a😀")
  expect(cutBytes("aé", 2)).toBe("a")
  expect(cutBytes("aé", 3)).toBe("aé")
})

describe("user agent", () => {
  const chrome = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.6045.105 Safari/537.36"
  test.each([
    [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${chrome}`, "Chrome", "119.0", "Mac", "10.15", "Desktop"],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Edg/119.0.2151.58`, "Microsoft Edge", "119.0", "Windows", "10", "Desktop"],
    [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${chrome}`, "Chrome", "119.0", "Chrome OS", "", "Desktop"],
    ["Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0", "Firefox", "120.0", "Linux", "", "Desktop"],
    [`Mozilla/5.0 (Linux; Android 13; SM-X906C) ${chrome}`, "Chrome", "119.0", "Android", "13", "Tablet"],
    [
      "Mozilla/5.0 (Linux; Android 13; SAMSUNG SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/22.0 Chrome/111.0.5563.116 Mobile Safari/537.36",
      "Samsung Internet",
      "22.0",
      "Android",
      "13",
      "Mobile",
    ],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Mobile/15E148 Safari/604.1",
      "Safari",
      "17.1",
      "iOS",
      "17.1",
      "Mobile",
    ],
    [
      "Mozilla/5.0 (SMART-TV; LINUX; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) 76.0.3809.146/6.0 TV Safari/537.36",
      "Tizen",
      "",
      "Tizen",
      "6.0",
      "Other",
    ],
  ])("%s", (userAgent, browser, browser_version, os, os_version, device) => {
    expect(agentOf(userAgent)).toEqual({ isBot: false, browser, browser_version, os, os_version, device })
  })

  test.each([
    [""],
    ["Mozilla/5"],
    ["1234567890 (.)"],
    ["curl/8.4.0 (x86_64)"],
    ["Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"],
    ["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/119.0.0.0 Safari/537.36"],
  ])("%p is a bot", (userAgent) => {
    expect(agentOf(userAgent).isBot).toBe(true)
  })

  // Text that names no known program would be visitor input, and the user agent must never be stored.
  test.each([
    ["My Person Name/1.secret-text.5 (abc) x"],
    ["SentinelAgent/7 XYZ (somebody@example.org) more/1 tail"],
    ["Mozilla/5.0 (SECRET-DEVICE 12345) Whatever/9.1-secret tail"],
    ["Mozilla/5.0 (Windows SECRET; x) Version/secret Safari/secret"],
  ])("stores nothing of %p", (userAgent) => {
    const { browser, browser_version, os, os_version } = agentOf(userAgent)
    expect(["", "Safari"]).toContain(browser)
    expect(["", "Windows"]).toContain(os)
    expect([browser_version, os_version]).toEqual(["", ""])
  })

  test("never throws, whatever is sent", () => {
    for (const text of ["\0".repeat(500), "(((((((((((((", "Mozilla/5.0 \ud83d", "__proto__ constructor"]) {
      expect(agentOf(text).browser).toBeString()
    }
  })
})

test.each([
  ["de-de", "de-DE"],
  ["EN", "en"],
  ["zh-hans-cn", "zh-Hans-CN"],
  ["pt_BR", "pt-BR"],
  ["es-419", "es-419"],
  ["*", ""],
  ["", ""],
  ["x".repeat(40), ""],
  ["de-DE\u0000", ""],
])("reads the language %p as %p", (sent, expected) => {
  expect(languageOf(sent)).toBe(expected)
})

test("uses the first language of the header", () => {
  expect(firstLanguage("fr-ch, fr;q=0.9, en;q=0.8")).toBe("fr-CH")
  expect(firstLanguage("da;q=0.5")).toBe("da")
})

test.each([
  [undefined, ""],
  [0, ""],
  [-5, ""],
  [575, "<576"],
  [576, "576-767"],
  [767, "576-767"],
  [768, "768-991"],
  [992, "992-1439"],
  [1439, "992-1439"],
  [1440, "1440+"],
  [1e9, "1440+"],
])("a width of %p is in class %p", (width, expected) => {
  expect(sizeClass(width)).toBe(expected)
})

describe("revenue", () => {
  test.each([
    [
      { amount: 10, currency: "EUR" },
      { amount: 1_000, currency: "EUR" },
    ],
    [
      { amount: "10.5", currency: "eur" },
      { amount: 1_050, currency: "EUR" },
    ],
    [
      { amount: "-3.20", currency: undefined },
      { amount: -320, currency: "USD" },
    ],
    [
      { amount: 1_000, currency: "JPY" },
      { amount: 1_000, currency: "JPY" },
    ],
    [
      { amount: "1.234", currency: "KWD" },
      { amount: 1_234, currency: "KWD" },
    ],
    [
      { amount: "10.5000", currency: "EUR" },
      { amount: 1_050, currency: "EUR" },
    ],
    [
      { amount: 0.29, currency: "EUR" },
      { amount: 29, currency: "EUR" },
    ],
    [
      { amount: "-0", currency: "EUR" },
      { amount: 0, currency: "EUR" },
    ],
    [
      { amount: "9999999999999.99", currency: "EUR" },
      { amount: 999_999_999_999_999, currency: "EUR" },
    ],
    [{ amount: "1.005", currency: "EUR" }, "too_many_decimals"],
    [{ amount: 1.5, currency: "JPY" }, "too_many_decimals"],
    [{ amount: "10000000000000.01", currency: "EUR" }, "invalid_amount"],
    [{ amount: 1e300, currency: "EUR" }, "invalid_amount"],
    [{ amount: "1e3", currency: "EUR" }, "invalid_amount"],
    [{ amount: "1,50", currency: "EUR" }, "invalid_amount"],
    [{ amount: "", currency: "EUR" }, "invalid_amount"],
    [{ amount: ".", currency: "EUR" }, "invalid_amount"],
    [{ amount: null, currency: "EUR" }, "invalid_amount"],
    [{ amount: [5], currency: "EUR" }, "invalid_amount"],
    [{ amount: 5, currency: "DEM" }, "invalid_currency"],
    [{ amount: 5, currency: "" }, "invalid_currency"],
    [{ amount: 5, currency: 978 }, "invalid_currency"],
    [{ amount: 5, currency: "constructor" }, "invalid_currency"],
  ])("%j is read as %j", (sent, expected) => {
    expect(moneyOf(sent, "USD")).toEqual(expected as ReturnType<typeof moneyOf>)
  })
})

test("memoizes results, but not for overlong text", () => {
  const computed: string[] = []
  const size = memoize(10, (text) => computed.push(text) && text.length)
  const [short, long] = ["x".repeat(512), "x".repeat(513)]
  expect([size(short), size(short), size(long), size(long)]).toEqual([512, 512, 513, 513])
  expect(computed.length).toBe(3)
})
