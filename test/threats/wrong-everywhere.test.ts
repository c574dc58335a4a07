import { afterAll, beforeAll, expect, test } from "bun:test"
import { Kind, TypeRegistry, Type as t } from "@sinclair/typebox"
import { parseScopedAnnotation } from "../../src/domain/annotation.ts"
import { MAX_COUNTED_FAULTS } from "../../src/domain/error.ts"
import { inDocumentOrder, inspect } from "../../src/domain/shape.ts"
import { readServerEvent } from "../../src/ingest/payloads/server.ts"
import { ArgumentReader } from "../../src/query/parse/arguments.ts"
import { readFilterList } from "../../src/query/parse/flat-filters.ts"
import { startInstance, type TestInstance } from "../kit.ts"

/** Threat `huge-and-slow`: bodies in which everything is wrong. The tests measure work, not time. */

const SIZES = [1_000, 50_000]
const unknownFields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`stranger_${i}`, 1]))

let validations = 0
beforeAll(() =>
  TypeRegistry.Set("NeverRight", () => {
    validations++
    return false
  }),
)
afterAll(() => TypeRegistry.Delete("NeverRight"))
const NeverRight = t.Unsafe<number>({ [Kind]: "NeverRight" })

test.each(SIZES)("of %i invalid items, validates no more than it counts", (count) => {
  validations = 0
  const schema = t.Object({ lists: t.Array(t.Array(NeverRight)) }, { additionalProperties: false })
  const lists = Array.from({ length: count / 1_000 }, () => Array(1_000).fill(1))
  const { fields, faults } = inspect(schema, { lists })
  expect(faults).toHaveLength(MAX_COUNTED_FAULTS + 1)
  expect(validations).toBeLessThanOrEqual(MAX_COUNTED_FAULTS + 1)
  // Items that were not validated do not appear as valid fields.
  expect(fields).toEqual({})
})

test("rejects an absurdly long list or object without validating its items", () => {
  validations = 0
  const schema = t.Object({ list: t.Array(NeverRight), name: t.String() }, { additionalProperties: false })
  const pointers = (body: object) => inspect(schema, body).faults.map(({ pointer, code }) => [pointer, code])
  expect(pointers({ name: "x", list: Array(50_000).fill(1) })).toEqual([["/list", "too_many"]])
  expect(pointers({ list: [], ...unknownFields(50_000) })).toEqual([["", "too_many"]])
  expect(pointers({ name: { inner: [unknownFields(50_000)] }, list: [] })).toEqual([["/name/inner/0", "too_many"]])
  expect(validations).toBe(0)
})

test("limits the count of unclean texts too, and sorts faults in document order", () => {
  const body = { name: Array.from({ length: 40 }, () => Array(1_500).fill("\u0001")) }
  const { faults } = inspect(t.Object({ name: t.String() }, { additionalProperties: false }), body)
  expect(faults).toHaveLength(MAX_COUNTED_FAULTS + 1)
  const some = ["/b", "/a~1c/1", "/a~1c/0", "/a~1c/length", "/missing"].map((pointer) => ({ pointer, code: "x", detail: "" }))
  const ordered = inDocumentOrder(some, { "a/c": [1, 2], b: 1 }).map(({ pointer }) => pointer)
  expect(ordered).toEqual(["/a~1c/0", "/a~1c/1", "/a~1c/length", "/b", "/missing"])
})

test.each(SIZES)("of %i unknown query parameters, reports no more than it counts", (count) => {
  expect(new ArgumentReader(unknownFields(count), ["period"]).faults()).toHaveLength(MAX_COUNTED_FAULTS + 1)
})

test("stops at the first unknown field of a filter", () => {
  const filter = { dimension: "page", values: ["/"], ...unknownFields(50_000) }
  expect(readFilterList([filter], "/filters", () => undefined).faults).toMatchObject([{ pointer: "/filters/0", code: "unknown_field" }])
})

test("stops at the first unknown field of an event", () => {
  const reads: PropertyKey[] = []
  const event = new Proxy({ name: "x", url: "/", ...unknownFields(50_000) } as Record<string, unknown>, {
    get: (sent, name) => {
      reads.push(name)
      return sent[String(name)]
    },
  })
  expect(readServerEvent(event)).toMatchObject({ code: "unknown_field" })
  expect(reads.length).toBeLessThan(50)
})

let instance: TestInstance
beforeAll(async () => {
  instance = await startInstance()
})
afterAll(() => instance[Symbol.asyncDispose]())

test("the public and the private API report the total and list at most twenty faults", async () => {
  const cookie = await instance.signIn({ role: "owner" })
  const goals = "/api/public/v1/sites/1/goals"
  const few = await instance.api.post(goals, unknownFields(100), instance.key)
  // The total includes the missing kind and value.
  expect(few.body).toMatchObject({ status: 422, detail: "102 fields are not valid." })
  const many = await instance.api.post(goals, unknownFields(1_000), instance.key)
  expect(many.body).toMatchObject({ status: 422, detail: `More than ${MAX_COUNTED_FAULTS} fields are not valid.` })
  expect((many.body as { errors: unknown[] }).errors).toHaveLength(20)
  const origin = "http://localhost"
  const full = await instance.api.send("POST", "/api/private/sites/1/goals", unknownFields(40_000), undefined, { cookie, origin })
  expect(full.body).toMatchObject({ status: 422, errors: [{ pointer: "", code: "too_many" }] })
})

test("rejects a request with far too many events by their number alone", async () => {
  const path = "/api/public/v1/sites/1/events"
  const answers = [1_001, 50_000].map((count) => instance.api.post(path, { events: Array(count).fill(1) }, instance.eventsKey))
  const lines = { "content-type": "application/x-ndjson" }
  answers.push(instance.api.post(path, "{}\n".repeat(50_000), instance.eventsKey, lines))
  for (const { body } of await Promise.all(answers))
    expect(body).toMatchObject({
      status: 422,
      errors: [{ pointer: "/events", code: "too_many", detail: "events must have at most 1000 items." }],
    })
})

test("a field that was not validated is not treated as absent", () => {
  const note = { at: "2026-11-01", text: "x" }
  for (const scope of [{ inner: Array(50_000).fill(1) }, Array(1_000).fill("\u0001")])
    expect(() => parseScopedAnnotation({ ...note, scope })).toThrow(expect.objectContaining({ code: "validation_failed" }))
})
