import { expect, test } from "bun:test"
import fc from "fast-check"
import { csvCell, exportHead, exportTrailer, recordsText } from "../../../src/query/rows/export-text.ts"
import { readCsv, recordsOf } from "../../http/public/csv.ts"

test.each([
  ["plain text", "/pricing", '"/pricing"'],
  ["a quote", 'say "hi"', '"say ""hi"""'],
  ["line breaks and commas", "a,\r\nb", '"a,\r\nb"'],
  ["a formula", "=1+1", `"'=1+1"`],
  ["a plus", "+49", `"'+49"`],
  ["a minus", "-1", `"'-1"`],
  ["an at sign", "@SUM(A1)", `"'@SUM(A1)"`],
  ["a tab", "\t=1", `"'\t=1"`],
  ["a carriage return", "\r=1", `"'\r=1"`],
  ["a formula with a full-width equals sign", "＝1", `"'＝1"`],
  ["text that already looks escaped", "'=1", `"''=1"`],
  ["an apostrophe", "'tis", `"'tis"`],
  ["an equals sign inside the text", "a=1", '"a=1"'],
  ["a number", -12.5, "-12.5"],
  ["zero", 0, "0"],
  ["a boolean", false, "false"],
  ["an empty text", "", ""],
  ["a missing value", undefined, ""],
  ["properties", { plan: '"x"' }, String.raw`"{""plan"":""\""x\""""}"`],
])("writes %s as a cell", (_, cell, expected) => {
  expect(csvCell(cell)).toBe(expected)
})

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.string({ unit: fc.constantFrom("=", "+", "-", "@", "\t", "\r", "\n", '"', "'", ",", "a", "＝", "🦶", "\u0000", ";"), maxLength: 8 }),
)

test("any text survives a round trip through CSV, and no cell begins like a formula", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyText, anyText, fc.double({ noNaN: true, noDefaultInfinity: true })), { maxLength: 5 }), (rows) => {
      const records = rows.map(([one, other, number]) => ({ one, other, number }))
      const text = exportHead("csv", ["one", "other", "number"], { range: {} }) + recordsText("csv", ["one", "other", "number"], records)
      const kept = records.map((record) => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== "")))
      // Text has no negative zero.
      expect(recordsOf(text)).toEqual(kept.map((record) => (record.number === 0 ? { ...record, number: 0 } : record)))
      for (const cell of readCsv(text).records.flat()) if (typeof cell === "string") expect(cell).not.toMatch(/^[=+\-@\t\r＝＋－＠]/)
    }),
    { seed: 5, numRuns: 500 },
  )
})

test("writes the trailer as a record of each format", () => {
  const head = exportHead("csv", ["at", "name", "page"], { range: {} })
  expect(readCsv(head + exportTrailer("csv", ["at", "name", "page"], 3)).records).toEqual([
    ["# omitted_visits=3", { bare: "" }, { bare: "" }],
  ])
  expect(exportTrailer("csv", ["at"], 0)).toBe("")
  expect(exportTrailer("ndjson", ["at"], 3)).toBe('{"omitted_visits":3}\n')
  expect(exportTrailer("ndjson", ["at"], 0)).toBe("")
  const json = (omitted: number) =>
    JSON.parse(exportHead("json", ["at"], { range: { from: "x" } }) + exportTrailer("json", ["at"], omitted))
  expect(json(3)).toEqual({ range: { from: "x" }, data: [], omitted_visits: 3 })
  expect(json(0)).toEqual({ range: { from: "x" }, data: [] })
})
