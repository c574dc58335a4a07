import { expect, test } from "bun:test"
import { SEED } from "#plugin/test"
import { parseLargeJson } from "../../search/large-json.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)
const rowOf = (index: number, query = `a query ${index}`) => ({
  keys: ["2026-11-10", query, `https://shop.example/products/category-${index % 50}/a-product-with-a-longer-name-${index}`],
  ...{ clicks: index % 10, impressions: index, ctr: 0.12345, position: 12.5 },
})
/** Texts that could be taken for the end of a row, a list or a text. */
const HOSTILE = ['"},{"', '],"rows":[', "\\", '\\"', "}]", "\u2028", "größer 🎉", "", '\\\\",[', "\u0000"]

/** Parses as `JSON.parse` does. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

test("an answer of 25,000 rows is parsed in pieces, between which other work runs", async () => {
  const rows = Array.from({ length: 25_000 }, (_, index) => rowOf(index, HOSTILE[index % HOSTILE.length]))
  const text = JSON.stringify({ rows, responseAggregationType: "auto", metadata: { rows: [1], first_incomplete_date: "2026-11-10" } })
  let turns = 0
  const timer = setInterval(() => turns++, 0)
  const parsing = parseLargeJson(bytesOf(text), "rows")
  expect(await parsing).toEqual(JSON.parse(text))
  clearInterval(timer)
  expect(turns).toBeGreaterThan(text.length / (1 << 20))
})

test("returns what JSON.parse returns, whatever is cut, changed or nested", async () => {
  let state = SEED
  const below = (limit: number) => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff
    return (state >>> 8) % limit
  }
  const rows = Array.from({ length: 2_500 }, (_, index) => rowOf(index, HOSTILE[below(HOSTILE.length)]))
  const whole = [
    JSON.stringify({ rows }),
    JSON.stringify({ metadata: { rows: [] }, rows, x: "rows" }, undefined, 1),
    JSON.stringify({ a: "rows", b: rows }),
    JSON.stringify({ rows: { rows } }),
    JSON.stringify(["rows", rows]),
    ` ${JSON.stringify({ x: "y".repeat(300_000), rows: [] })}`,
    JSON.stringify({ x: "y".repeat(300_000), rows: [null, [], {}] }),
    `{"rows":[${"1,".repeat(200_000)}2]}`,
  ]
  for (const text of whole) expect(await parseLargeJson(bytesOf(text), "rows")).toEqual(JSON.parse(text))
  const broken = [
    `{"rows":[${"1,".repeat(200_000)}]}`,
    `{"rows":[${",".repeat(300_000)}]}`,
    `{"rows":[${"1,".repeat(200_000)}2}}`,
    `{"rows":[${"1,".repeat(200_000)}2]`,
    `{"rows":[${"1,".repeat(200_000)}2]}]`,
  ]
  for (const text of broken) expect(await parseLargeJson(bytesOf(text), "rows")).toBeUndefined()
  for (let round = 0; round < 60; round++) {
    const bytes = bytesOf(whole[below(3)]!)
    // Most changes fall into texts and numbers, so structure is changed on purpose.
    for (let change = below(3); change >= 0; change--) bytes[below(bytes.length)] = bytesOf('"\\{}[],:1 ')[below(10)]!
    const cut = below(4) === 0 ? bytes.subarray(0, below(bytes.length)) : bytes
    const expected = parsed(new TextDecoder().decode(cut))
    const found = await parseLargeJson(cut, "rows")
    expect(found).toEqual(expected)
  }
})

test("refuses text that is not UTF-8, also in the middle of many rows", async () => {
  const bytes = bytesOf(JSON.stringify({ rows: Array.from({ length: 5_000 }, (_, index) => rowOf(index)) }))
  bytes[bytes.indexOf("q".charCodeAt(0), bytes.length / 2)] = 0xff
  expect(await parseLargeJson(bytes, "rows")).toBeUndefined()
})
