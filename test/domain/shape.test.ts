import { expect, test } from "bun:test"
import { Type as t } from "@sinclair/typebox"
import { fault, inDocumentOrder, inspect } from "../../src/domain/shape.ts"

test.each([
  ["/name", "name is required."],
  ["/scopes/0", "Item 1 of scopes is required."],
  ["/steps/9/value", "value is required."],
  ["", "The body is required."],
  ["/", "A field without a name is required."],
])("names the field of a fault at %j", (pointer, detail) => {
  expect(fault(pointer, "required", "is required")).toEqual({ pointer, code: "required", detail })
})

test("sorts thousands of faults within one request", () => {
  const body = { kind: "b", ...Object.fromEntries(Array.from({ length: 8_000 }, (_, i) => [`f${i}`, 1])) }
  const faults = Object.keys(body).map((name) => fault(`/${name}`, "unknown_field", "does not exist"))
  const began = performance.now()
  const ordered = inDocumentOrder(faults.toReversed(), body)
  // Comparing each fault with each field would take seconds.
  expect(performance.now() - began).toBeLessThan(1_500)
  expect(ordered.slice(0, 3).map(({ pointer }) => pointer)).toEqual(["/kind", "/f0", "/f1"])
})

test.each([
  [1, "", "word must not be empty."],
  [12, "short", "word must have at least 12 characters."],
])("requires at least %d characters of %j", (minLength, word, detail) => {
  const { faults } = inspect(t.Object({ word: t.String({ minLength }) }), { word })
  expect(faults).toEqual([{ pointer: "/word", code: "too_short", detail }])
})

test.each([
  [t.Integer({ minimum: 1 }), 0, "n must be at least 1."],
  [t.Integer({ maximum: 9 }), 10, "n must be at most 9."],
  [t.Integer({ minimum: 1, maximum: 9 }), 10, "n must be between 1 and 9."],
])("names the bounds that a number has", (schema, value, expected) => {
  const { faults } = inspect(t.Object({ n: schema }), { n: value })
  expect(faults.map(({ detail }) => detail)).toEqual([expected])
})
