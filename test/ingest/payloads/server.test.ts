import { describe, expect, test } from "bun:test"
import { readServerEvent } from "../../../src/ingest/payloads/server.ts"

const VIEW = { name: "pageview", url: "https://example.com/a" }
const codeOf = (sent: unknown) => {
  const read = readServerEvent(sent)
  return "code" in read ? read.code : undefined
}

test("reads every field of a server's event", () => {
  const read = readServerEvent({
    ...VIEW,
    id: "abcdefgh",
    timestamp: "2026-11-21T10:00:00+02:00",
    referrer: "https://google.com/",
    title: "T",
    ip: "::ffff:9.9.9.9",
    user_agent: "x".repeat(600),
    language: "de",
    user_id: "u",
    interactive: false,
    props: { a: 1, b: true },
    revenue: { amount: "5" },
  })
  expect(read).toMatchObject({
    incoming: {
      name: "pageview",
      id: "abcdefgh",
      referrer: "https://google.com/",
      title: "T",
      language: "de",
      userId: "u",
      interactive: false,
      props: [
        ["a", "1"],
        ["b", "true"],
      ],
      revenue: { amount: "5", currency: undefined },
    },
    timestamp: Date.parse("2026-11-21T08:00:00Z"),
    ip: { text: "9.9.9.9" },
    userAgent: "x".repeat(512),
  })
})

test.each([
  ["epoch milliseconds", 1_700_000_000_000, 1_700_000_000_000],
  ["fractions of a second", "2026-11-21T10:00:00.1234Z", Date.parse("2026-11-21T10:00:00.123Z")],
  ["lower case", "2026-11-21t10:00:00z", Date.parse("2026-11-21T10:00:00Z")],
])("accepts a time as %s", (_, timestamp, expected) => {
  expect(readServerEvent({ ...VIEW, timestamp })).toMatchObject({ timestamp: expected })
})

describe("rejects", () => {
  test.each([
    ["a number", 5, "invalid_type"],
    ["null", null, "invalid_type"],
    ["a list", [], "invalid_type"],
    ["an unknown field", { ...VIEW, colour: 1 }, "unknown_field"],
    ["a key of Object.prototype", JSON.parse('{"name":"a","url":"/","__proto__":1}'), "unknown_field"],
    ["no name", { url: "/" }, "required"],
    ["a number as the name", { ...VIEW, name: 404 }, "invalid_type"],
    ["engagement", { ...VIEW, name: "engagement" }, "invalid_choice"],
    ["vitals", { ...VIEW, name: "vitals" }, "invalid_choice"],
    ["no URL", { name: "a" }, "required"],
    ["a data URL", { ...VIEW, url: "data:,x" }, "invalid_url"],
    ["a day that does not exist", { ...VIEW, timestamp: "2026-02-30T00:00:00Z" }, "invalid_timestamp"],
    ["a time without a time zone", { ...VIEW, timestamp: "2026-02-03T00:00:00" }, "invalid_timestamp"],
    ["a date without a time", { ...VIEW, timestamp: "2026-02-03" }, "invalid_timestamp"],
    ["a fractional number of milliseconds", { ...VIEW, timestamp: 1.5 }, "invalid_timestamp"],
    ["a time beyond the calendar's range", { ...VIEW, timestamp: 1e300 }, "invalid_timestamp"],
    ["a boolean as the time", { ...VIEW, timestamp: true }, "invalid_timestamp"],
    ["an invalid address", { ...VIEW, ip: "1.2.3" }, "invalid_type"],
    ["an empty address", { ...VIEW, ip: "" }, "invalid_type"],
    ["a number as the address", { ...VIEW, ip: 5 }, "invalid_type"],
    ["a number as the user id", { ...VIEW, user_id: 5 }, "invalid_type"],
    ["31 properties", { ...VIEW, props: Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`k${at}`, 1])) }, "too_many_properties"],
    ["an object as a property", { ...VIEW, props: { a: {} } }, "invalid_type"],
    ["properties as a string", { ...VIEW, props: "{}" }, "invalid_type"],
    ["revenue as a number", { ...VIEW, revenue: 5 }, "invalid_type"],
    ["revenue without an amount", { ...VIEW, revenue: { currency: "EUR" } }, "required"],
    ["revenue whose amount is null", { ...VIEW, revenue: { amount: null } }, "required"],
    ["revenue with an unknown field", { ...VIEW, revenue: { amount: 1, tax: 1 } }, "unknown_field"],
    ["a short event id", { ...VIEW, id: "x" }, "invalid_characters"],
  ])("%s", (_, sent, code) => {
    expect(codeOf(sent)).toBe(code)
  })
})
