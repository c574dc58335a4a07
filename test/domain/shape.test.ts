import { expect, test } from "bun:test"
import { fault } from "../../src/domain/shape.ts"

test.each([
  ["/name", "name is required."],
  ["/scopes/0", "Item 1 of scopes is required."],
  ["/steps/9/value", "value is required."],
  ["", "The body is required."],
])("a fault at %j names the field", (pointer, detail) => {
  expect(fault(pointer, "required", "is required")).toEqual({ pointer, code: "required", detail })
})
