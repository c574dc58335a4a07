import { describe, expect, test } from "bun:test"
import { readNative } from "../../../src/ingest/payloads/native.ts"

const bytes = (body: unknown) => new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body))
const VIEW = { n: "pageview", u: "https://example.com/" }

function read(body: unknown) {
  const reading = readNative(bytes(body))
  if ("faults" in reading) throw new Error(reading.faults.map(({ pointer, code }) => `${pointer} ${code}`).join(", "))
  return reading.incoming
}
function faults(body: unknown): string[] {
  const reading = readNative(body instanceof Uint8Array ? body : bytes(body))
  return "faults" in reading ? reading.faults.map(({ pointer, code }) => `${pointer} ${code}`) : []
}

describe("the native payload", () => {
  test("accepts short names for every field", () => {
    expect(
      read({
        n: "Signup",
        u: "https://Example.com/a?utm_source=x#f",
        d: "id-1, id-2,id-1",
        r: "https://google.com/",
        t: "Title",
        p: { plan: "pro", seats: 3, trial: false },
        $: { amount: "9.50", currency: "EUR" },
        i: false,
        h: 1,
        v: 7,
        l: "de-DE",
        tz: "Europe/Berlin",
        w: 1280.7,
        x: "user-1",
        y: "0123456789ABCDEF0123456789abcdef",
        id: "abcdefgh",
        o: 1500,
        unknown: { deep: [] },
      }),
    ).toEqual({
      name: "Signup",
      address: { scheme: "https", host: "example.com", path: "/a", query: "utm_source=x", fragment: "f" },
      named: ["id-1", "id-2"],
      referrer: "https://google.com/",
      title: "Title",
      props: [
        ["plan", "pro"],
        ["seats", "3"],
        ["trial", "false"],
      ],
      propsDiscarded: false,
      revenue: { amount: "9.50", currency: "EUR" },
      interactive: false,
      engagement: undefined,
      vitals: undefined,
      hash: true,
      language: "de-DE",
      timezone: "Europe/Berlin",
      width: 1280,
      userId: "user-1",
      deviceId: "0123456789abcdef0123456789abcdef",
      id: "abcdefgh",
      ageMs: 1500,
    })
  })

  test("accepts long names for every field", () => {
    expect(
      read({
        name: "Buy",
        url: "/a",
        domain: "example.com",
        referrer: "r",
        title: "T",
        props: { a: 1 },
        revenue: { amount: 1 },
        interactive: false,
        hashMode: true,
        language: "en",
        screen_width: 400,
        user_id: "u",
      }),
    ).toMatchObject({
      name: "Buy",
      named: ["example.com"],
      referrer: "r",
      title: "T",
      props: [["a", "1"]],
      revenue: { amount: 1, currency: undefined },
      interactive: false,
      hash: true,
      language: "en",
      width: 400,
      userId: "u",
    })
  })

  test.each([
    ["m as JSON text", { m: '{"a":"b"}' }, [["a", "b"]], false],
    ["meta as JSON text", { meta: '{"a":1}' }, [["a", "1"]], false],
    ["m as an object", { m: { a: "b" } }, [["a", "b"]], false],
    ["p before m", { p: { a: "p" }, m: '{"a":"m"}' }, [["a", "p"]], false],
    ["null p, then m", { p: null, m: '{"a":"m"}' }, [["a", "m"]], false],
    ["text that is not JSON", { m: "{" }, [], true],
    ["a list", { p: [1, 2] }, [], true],
    ["values that have no text form", { p: { a: null, b: {}, c: [], d: "", e: "(none)", "": "x" } }, [], false],
    ["keys of Object.prototype", '{"n":"a","u":"/","p":{"__proto__":"x","constructor":"y","toString":1}}', [["__proto__", "x"], ["constructor", "y"], ["toString", "1"]], false], // biome-ignore format: one row
  ])("reads properties: %s", (_, more, props, discarded) => {
    const body = typeof more === "string" ? more : { ...VIEW, ...more }
    expect(read(body)).toMatchObject({ props, propsDiscarded: discarded })
  })

  test("keeps at most 30 properties", () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`k${index}`, index]))
    const { props, propsDiscarded } = read({ ...VIEW, p: many })
    expect([props.length, props[29], propsDiscarded]).toEqual([30, ["k29", "29"], true])
  })

  test.each([
    ["a number as the name", { n: 404 }, { name: "404" }],
    [
      "null is absent",
      { r: null, t: null, i: null, x: null, o: null },
      { referrer: "", title: "", interactive: true, userId: "", ageMs: 0 },
    ],
    ["an age above six hours", { o: 1e12 }, { ageMs: 21_600_000 }],
    ["an infinite age", `{"n":"a","u":"/","o":1e400}`, { ageMs: 21_600_000 }],
    ["a negative age", { o: -5 }, { ageMs: 0 }],
    ["hash mode set to false", { h: false }, { hash: false }],
    ["a number as the user id", { x: 42 }, { userId: "42" }],
    ["a lone surrogate in the title", { t: "a\ud83d" }, { title: "a�" }],
    ["revenue as JSON text", { $: '{"amount":1,"currency":"EUR"}' }, { revenue: { amount: 1, currency: "EUR" } }],
    ["revenue that is not an object", { $: 5 }, { revenue: { amount: undefined, currency: undefined } }],
    ["a long referrer", { r: "x".repeat(3_000) }, { referrer: "x".repeat(2_000) }],
    ["a byte order mark", `\ufeff{"n":"a","u":"/"}`, { name: "a" }],
  ])("accepts %s", (_, more, expected) => {
    expect(read(typeof more === "string" ? more : { ...VIEW, ...more })).toMatchObject(expected)
  })

  test.each([
    [
      { e: 5_000, sd: 40 },
      { engagedMs: 5_000, scrollDepth: 40 },
    ],
    [{ e: 5_000 }, { engagedMs: 5_000 }],
    [{ sd: 130 }, { engagedMs: 0, scrollDepth: 100 }],
    [{ e: 1, sd: 255 }, { engagedMs: 1 }],
    [
      { e: 2_592_000_000, sd: 3 },
      { engagedMs: 0, scrollDepth: 3 },
    ],
    [{ e: -1, sd: -1 }, { engagedMs: 0 }],
  ])("reads engagement %j", (more, expected) => {
    const incoming = read({ ...VIEW, n: "engagement", p: { a: 1 }, $: { amount: 1 }, ...more })
    expect(incoming).toMatchObject({ engagement: expected, props: [], revenue: undefined })
  })

  test("reads vitals within their limits", () => {
    expect(read({ ...VIEW, n: "vitals", f: { lcp: 1_234.6, inp: 60_001, cls: 0.12345, fcp: "5", ttfb: 0 } }).vitals).toEqual({
      lcp: 1_235,
      cls: 0.123,
      ttfb: 0,
    })
  })
})

describe("rejects", () => {
  test.each([
    ["no body", "", [" invalid_type"]],
    ["text that is not JSON", "{", [" invalid_type"]],
    ["a list", "[]", [" invalid_type"]],
    ["null", "null", [" invalid_type"]],
    ["a string", '"x"', [" invalid_type"]],
    ["an empty object", "{}", ["/n required", "/u required"]],
    ["deeply nested JSON", `{"n":"a","u":"/","p":${"[".repeat(30_000)}`, [" invalid_type"]],
    ["no name", { u: "/" }, ["/n required"]],
    ["an empty name", { ...VIEW, n: "" }, ["/n too_short"]],
    ["a blank name", { ...VIEW, name: undefined, n: "  " }, ["/n too_short"]],
    ["a long name", { u: "/", name: "x".repeat(121) }, ["/name too_long"]],
    ["a boolean as the name", { ...VIEW, n: true }, ["/n invalid_type"]],
    ["NUL in a name", { ...VIEW, n: "a\0" }, ["/n invalid_characters"]],
    ["a line break in a name", { ...VIEW, n: "a\nb" }, ["/n invalid_characters"]],
    ["a lone surrogate in a name", { ...VIEW, n: "a\ud83d" }, ["/n invalid_characters"]],
    ["a reserved name", { ...VIEW, n: "link_click" }, ["/n invalid_choice"]],
    ["another reserved name", { ...VIEW, n: "pixel_open" }, ["/n invalid_choice"]],
    ["no URL", { n: "a" }, ["/u required"]],
    ["an empty URL", { n: "a", url: " " }, ["/url too_short"]],
    ["a number as the URL", { ...VIEW, u: 5 }, ["/u invalid_type"]],
    ["a data URL", { ...VIEW, u: "data:text/html,x" }, ["/u invalid_url"]],
    ["a URL without a host", { ...VIEW, u: "https:///a" }, ["/u invalid_url"]],
    ["a URL with an invalid host", { ...VIEW, u: "https://a b/" }, ["/u invalid_url"]],
    ["a long URL", { ...VIEW, u: `/${"x".repeat(8_192)}` }, ["/u too_long"]],
    ["NUL in a URL", { ...VIEW, u: "/a\0" }, ["/u invalid_characters"]],
    ["a blank site", { ...VIEW, d: " " }, ["/d too_short"]],
    ["a blank site in a list", { ...VIEW, domain: "a,,b" }, ["/domain too_short"]],
    ["six sites", { ...VIEW, d: "a,b,c,d,e,f" }, ["/d too_many"]],
    ["a number as the site", { ...VIEW, d: 5 }, ["/d invalid_type"]],
    ["a number as the referrer", { ...VIEW, r: 5 }, ["/r invalid_type"]],
    ["an object as the title", { ...VIEW, t: {} }, ["/t invalid_type"]],
    ["a string as interactive", { ...VIEW, i: "no" }, ["/i invalid_type"]],
    ["an invalid hash mode", { ...VIEW, h: 2 }, ["/h invalid_choice"]],
    ["a long language", { ...VIEW, l: "x".repeat(36) }, ["/l too_long"]],
    ["a string as the width", { ...VIEW, w: "1280" }, ["/w invalid_type"]],
    ["an empty user id", { ...VIEW, x: "" }, ["/x too_short"]],
    ["a long user id", { ...VIEW, user_id: "x".repeat(257) }, ["/user_id too_long"]],
    ["an invalid device id", { ...VIEW, y: "xyz" }, ["/y invalid_characters"]],
    ["a short event id", { ...VIEW, id: "abc" }, ["/id invalid_characters"]],
    ["an event id with a colon", { ...VIEW, id: "order:123456" }, ["/id invalid_characters"]],
    ["a string as the age", { ...VIEW, o: "5" }, ["/o invalid_type"]],
    ["a long property key", { ...VIEW, p: { ["k".repeat(301)]: "v" } }, ["/p too_long"]],
    ["a long property value", { ...VIEW, props: { k: "é".repeat(1_001) } }, ["/props too_long"]],
    ["NUL in a property", { ...VIEW, p: { k: "\0" } }, ["/p invalid_characters"]],
    ["a lone surrogate in a key", { ...VIEW, p: { "\udc00": "x" } }, ["/p invalid_characters"]],
    ["engagement without a metric", { ...VIEW, n: "engagement" }, ["/e required"]],
    ["vitals without values", { ...VIEW, n: "vitals" }, ["/f required"]],
    ["vitals out of range", { ...VIEW, n: "vitals", f: { lcp: 1e9 } }, ["/f out_of_range"]],
    ["vitals as a list", { ...VIEW, n: "vitals", f: [] }, ["/f invalid_type"]],
    ["several faults at once", { n: 5, u: {}, o: "x" }, ["/u invalid_type", "/o invalid_type"]],
  ])("%s", (_, body, expected) => {
    expect(faults(body)).toEqual(expected)
  })

  test("bytes that are not UTF-8", () => {
    expect(faults(Uint8Array.of(0x7b, 0xff, 0x7d))).toEqual([" invalid_type"])
  })

  test("without repeating the submitted values", () => {
    const reading = readNative(bytes({ n: "secret-name\0", u: "data:secret", d: "secret,,", id: "secret!" }))
    expect(JSON.stringify("faults" in reading && reading.faults)).not.toContain("secret")
  })
})
