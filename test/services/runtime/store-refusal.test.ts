import { expect, test } from "bun:test"
import { storeRefusal } from "../../../src/services/runtime/store-states.ts"
import { type FaultKind, StoreFault } from "../../../src/store/events/fault.ts"

test.each<[FaultKind, string, number | undefined]>([
  ["full", "storage_full", 10],
  ["locked", "unavailable", 5],
  ["damaged", "storage_damaged", undefined],
  ["fsync", "unavailable", 10],
  ["io", "unavailable", 5],
])("a store that is %s answers %s", (kind, code, retry_after) => {
  const cause = new StoreFault(kind, "The catalog answered SQLITE_SECRET at /data/catalog.db")
  const refusal = storeRefusal(cause)
  expect(refusal).toMatchObject({ code, members: retry_after === undefined ? {} : { retry_after } })
  expect(String(refusal)).not.toContain("SQLITE")
})

test("passes other errors through unchanged", () => {
  const bug = new TypeError("x")
  expect(storeRefusal(bug)).toBe(bug)
})
