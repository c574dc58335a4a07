import { expect, test } from "bun:test"
import fc from "fast-check"
import { builtUrl } from "../address.ts"

const PLAIN = { forward_path: false, forward_query: true, utm: {}, utm_mode: "fill" as const }
const NOTHING = { path: "", query: "" }

test.each([
  ["nothing added", "https://example.com", {}, NOTHING, "https://example.com"],
  [
    "special characters",
    "https://Example.com/a%20b+c/?q=%20+x&q=y&q=#Frag%20ment",
    {},
    NOTHING,
    "https://Example.com/a%20b+c/?q=%20+x&q=y&q=#Frag%20ment",
  ],
  ["an empty query", "https://example.com/?", {}, NOTHING, "https://example.com/?"],
  ["only a parameter of ours", "https://example.com/?a=%7E", {}, { path: "", query: "qr=1" }, "https://example.com/?a=%7E"],
  ["a parameter of the request", "https://example.com/?a=%7E#f", {}, { path: "", query: "b=1 2" }, "https://example.com/?a=%7E&b=1+2#f"],
  [
    "a parameter that the destination already has",
    "https://example.com/?a=1&b=%7E&a=2",
    {},
    { path: "", query: "a=3" },
    "https://example.com/?b=%7E&a=3",
  ],
  ["a repeated parameter", "https://example.com/", {}, { path: "", query: "a=1&a=2" }, "https://example.com/?a=1&a=2"],
  ["queries that are not forwarded", "https://example.com/", { forward_query: false }, { path: "", query: "a=3" }, "https://example.com/"],
  ["a campaign", "https://example.com/?x=%20", { utm: { utm_source: "a b" } }, NOTHING, "https://example.com/?x=%20&utm_source=a+b"],
  [
    "a campaign that the destination already has",
    "https://example.com/?utm_source=x",
    { utm: { utm_source: "y" } },
    NOTHING,
    "https://example.com/?utm_source=x",
  ],
  [
    "a campaign in override mode",
    "https://example.com/?utm_source=x&z=1",
    { utm: { utm_source: "y" }, utm_mode: "override" as const },
    NOTHING,
    "https://example.com/?z=1&utm_source=y",
  ],
  [
    "a campaign in the request",
    "https://example.com/?utm_source=x",
    { utm: { utm_source: "y" }, utm_mode: "override" as const },
    { path: "", query: "utm_source=z" },
    "https://example.com/?utm_source=z",
  ],
  ["a path", "https://example.com/docs/?a=1#f", { forward_path: true }, { path: "/x/y", query: "" }, "https://example.com/docs/x/y?a=1#f"],
  ["a path behind a bare host", "https://example.com", { forward_path: true }, { path: "/x", query: "" }, "https://example.com/x"],
  [
    "a path traversal",
    "https://example.com/docs",
    { forward_path: true },
    { path: "//../x/./%2e%2E/a%2fb/c%5Cd//@evil.example/y", query: "" },
    "https://example.com/docs/x/@evil.example/y",
  ],
  ["paths that are not forwarded", "https://example.com/docs", {}, { path: "/x", query: "" }, "https://example.com/docs"],
  [
    "another scheme",
    "mailto:a@example.com",
    { utm: { utm_source: "y" }, forward_path: true },
    { path: "/x", query: "a=1" },
    "mailto:a@example.com",
  ],
])("builds the address with %s", (_, destination, fields, brought, expected) => {
  expect(builtUrl(destination, { ...PLAIN, ...fields }, brought)).toBe(expected)
})

const SEED = { seed: 20_261_121, numRuns: 3_000 }
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom("//evil.example", "@evil.example", "\\evil", "%0d%0aLocation: x", "#", "?", ":99", "../.."),
)
const destinations = fc.constantFrom(
  "https://example.com",
  "https://example.com/",
  "http://example.com:8080/a/b?c=d&e#f",
  "https://xn--mnchen-3ya.de/%7E?x=%2B#y?z",
  "https://example.com?x#/y",
  "https://example.com#@other.example/",
)
const utm = fc.record({ utm_source: text, utm_campaign: text }, { requiredKeys: [] })
const fields = fc.record({
  forward_path: fc.boolean(),
  forward_query: fc.boolean(),
  utm,
  utm_mode: fc.constantFrom("fill" as const, "override" as const),
})
const brought = fc.record({ path: text.map((part) => encodeURI(part.toWellFormed())), query: text.map((part) => part.toWellFormed()) })

test("keeps scheme, host, port, user and fragment whatever parameters, path or campaign are added", () => {
  fc.assert(
    fc.property(destinations, fields, brought, (destination, given, request) => {
      const safe = { ...given, utm: Object.fromEntries(Object.entries(given.utm).map(([key, value]) => [key, value.toWellFormed()])) }
      const built = builtUrl(destination, safe, request)
      const [before, after] = [new URL(destination), new URL(built)]
      for (const part of ["protocol", "host", "port", "username", "password", "hash"] as const) expect(after[part]).toBe(before[part])
      expect(after.pathname.startsWith(before.pathname.replace(/\/$/, ""))).toBe(true)
      expect(built).not.toMatch(/[\r\n]/)
    }),
    SEED,
  )
})

test("keeps a destination unchanged if nothing is added", () => {
  const any = fc.tuple(fc.webUrl({ withQueryParameters: true, withFragments: true }), fc.string()).map(([url, more]) => url + more)
  fc.assert(
    fc.property(any, fc.boolean(), fc.boolean(), (destination, forward_path, forward_query) => {
      expect(builtUrl(destination, { ...PLAIN, forward_path, forward_query }, { path: "/", query: "qr=1" })).toBe(destination)
    }),
    SEED,
  )
})
