import { describe, expect, test } from "bun:test"
import { jsonElements } from "../../reading/json.ts"
import { allOf, collectingSink, writtenFile } from "./written-file.ts"

async function read(content: string, { pieceBytes, maxBytes }: { pieceBytes?: number; maxBytes?: number } = {}) {
  const sink = collectingSink()
  const elements = await allOf(jsonElements(writtenFile(content, pieceBytes), "utf-8", sink, maxBytes))
  const rejects = sink.collected.rejects.map(([line, code]) => [line, code])
  return { elements: elements.map(({ line, value }) => [line, value]), rejects, read: sink.collected.read }
}

describe("JSON files", () => {
  test.each([1, 3, 10, 1_000])("reads one object per line in pieces of %d bytes", async (pieceBytes) => {
    const content = '\ufeff{"a":1}\r\n\n{"b":"} \\" {"}\n  {"c":[{"d":null}]}\n{"e":\n  {"f":2}\n}\n{"last":true}'
    expect(await read(content, { pieceBytes })).toEqual({
      elements: [
        [1, { a: 1 }],
        [3, { b: '} " {' }],
        [4, { c: [{ d: null }] }],
        [5, { e: { f: 2 } }],
        [8, { last: true }],
      ],
      rejects: [],
      read: 5,
    })
  })

  test.each([1, 3, 10, 1_000])("reads the elements of arrays in pieces of %d bytes", async (pieceBytes) => {
    const content = '[{"a":"]\\\\"},\n {"b":[1,[2],{"c":3}]}]\n[]\n[\n{"d":"日本"}\n]'
    expect(await read(content, { pieceBytes })).toEqual({
      elements: [
        [1, { a: "]\\" }],
        [2, { b: [1, [2], { c: 3 }] }],
        [5, { d: "日本" }],
      ],
      rejects: [],
      read: 3,
    })
  })

  test("rejects broken lines alone", async () => {
    const content = '{"a":1}\nhello\n{"b":"cut\n{"c":2}\n{"d":\n{"e":3}\n{"f":4}{"g":5}\n{"h":6}x\n{"i":'
    expect(await read(content)).toEqual({
      elements: [
        [1, { a: 1 }],
        [4, { c: 2 }],
        [6, { e: 3 }],
        [7, { f: 4 }],
        [7, { g: 5 }],
        [8, { h: 6 }],
      ],
      rejects: [2, 3, 5, 8, 9].map((line) => [line, "wrong_column_count"]),
      read: 11,
    })
  })

  test("rejects elements that are no objects, and one that the end of the file cuts off", async () => {
    const { elements, rejects } = await read('[1, "x", null, [{}], {"a":1},\n{"b":')
    expect(elements).toEqual([[1, { a: 1 }]])
    expect(rejects).toEqual([1, 1, 1, 1, 2].map((line) => [line, "wrong_column_count"]))
  })

  test.each([5, 1_000])("rejects elements over the limit alone, in pieces of %d bytes", async (pieceBytes) => {
    const long = `{"long":"${'x\\\\\\"]'.repeat(30)}"}`
    expect(await read(`[{"a":1},${long},{"b":2}]`, { pieceBytes, maxBytes: 60 })).toEqual({
      elements: [
        [1, { a: 1 }],
        [1, { b: 2 }],
      ],
      rejects: [[1, "too_long"]],
      read: 3,
    })
    expect(await read(`{"a":1}\n${long}\n{"b":2}\n`, { pieceBytes, maxBytes: 60 })).toEqual({
      elements: [
        [1, { a: 1 }],
        [3, { b: 2 }],
      ],
      rejects: [[2, "too_long"]],
      read: 3,
    })
  })

  test("accepts an element of 1 MiB and rejects one of a byte more", async () => {
    const element = (bytes: number) => `{"a":"${"x".repeat(bytes - 8)}"}`
    const { elements, rejects } = await read(`${element(1024 ** 2)}\n${element(1024 ** 2 + 1)}\n`, { pieceBytes: 50_000 })
    expect([elements.length, rejects]).toEqual([1, [[2, "too_long"]]])
  })

  test("rejects an element that is nested too deeply to parse", async () => {
    const { elements, rejects } = await read(`{"a":${"[".repeat(200_000)}\n{"b":1}\n`, { pieceBytes: 50_000 })
    expect([elements, rejects]).toEqual([[[2, { b: 1 }]], [[1, "wrong_column_count"]]])
  })
})
