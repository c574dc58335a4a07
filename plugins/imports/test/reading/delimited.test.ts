import { describe, expect, test } from "bun:test"
import { type ColumnRules, columnsOf, csvRecords, delimited, detectDelimiter, headerOf } from "../../reading/delimited.ts"
import { allOf, collectingSink, writtenFile } from "./written-file.ts"

const RULES: ColumnRules = { required: ["date", "Page"], optional: ["visitors"] }

async function read(
  content: string,
  { rules = RULES, delimiter, pieceBytes }: { rules?: ColumnRules; delimiter?: string; pieceBytes?: number } = {},
) {
  const sink = collectingSink()
  const rows = await allOf(delimited(writtenFile(content, pieceBytes), rules, { delimiter }, sink))
  return { rows: rows.map((row) => [row.line, row.get("date"), row.get("Page"), row.get("visitors")]), ...sink.collected }
}

describe("delimited files", () => {
  const rows = [
    [2, "2026-01-01", "/a,b", "1"],
    [3, "2026-01-02", 'say "hi"\nthere', "2"],
    [5, "2026-01-03", "", "3"],
  ]
  const content = 'date,page,visitors\n2026-01-01,"/a,b",1\n"2026-01-02","say ""hi""\nthere",2\n2026-01-03,"",3'

  test.each([1, 2, 3, 5, 8, 13, 1_000])("reads quoted delimiters, quotes and line ends in pieces of %d bytes", async (pieceBytes) => {
    expect(await read(content, { pieceBytes })).toMatchObject({ rows, read: 3, rejects: [], warnings: [] })
  })

  test("reads line ends of Windows and old Macs, a byte order mark and empty lines", async () => {
    const plain = "\ufeffdate,page\r\n\r\n2026-01-01,/a\r\n\r\n2026-01-02,/b\r\n"
    expect((await read(plain)).rows).toEqual([
      [3, "2026-01-01", "/a", ""],
      [5, "2026-01-02", "/b", ""],
    ])
    expect((await read("date,page\r2026-01-01,/a\r", { pieceBytes: 100 })).rows).toEqual([[2, "2026-01-01", "/a", ""]])
  })

  test.each([",", ";", "\t", "|"])("detects the delimiter %j", async (delimiter) => {
    const lines = ["date,page,visitors", "2026-01-01,/a,1", "2026-01-02,/b,2"].map((line) => line.replaceAll(",", delimiter))
    expect(detectDelimiter(lines.join("\n"))).toBe(delimiter)
    expect((await read(lines.join("\n"))).rows).toEqual([
      [2, "2026-01-01", "/a", "1"],
      [3, "2026-01-02", "/b", "2"],
    ])
  })

  test("prefers the delimiter that splits all records evenly", () => {
    expect(detectDelimiter("a;b\n1,5;2\n1,7,3;4\n")).toBe(";")
    expect(detectDelimiter('a;b\n"1;2";"3,4,5"\n')).toBe(";")
  })

  test("finds columns in any order, without case and whitespace, and by their other names", async () => {
    const rules: ColumnRules = { required: ["date", "Page"], optional: ["visitors"], aliases: { uniques: "visitors", day: "date" } }
    const { rows: found } = await read(' UNIQUES , "PAGE", Day \n4,/a,2026-01-01\n', { rules })
    expect(found).toEqual([[2, "2026-01-01", "/a", "4"]])
  })

  test("prefers a column of the name itself to an alias", async () => {
    const rules: ColumnRules = { required: ["date", "Page"], aliases: { path: "Page" } }
    expect((await read("path,page,date\n/alias,/own,2026-01-01\n", { rules })).rows).toEqual([[2, "2026-01-01", "/own", ""]])
  })

  test("warns once of unknown columns and names them for the preview", async () => {
    const file = writtenFile("date,page,color,size\n1,2,3,4\n1,2,3,4\n")
    expect((await read("date,page,color,size\n1,2,3,4\n1,2,3,4\n")).warnings).toEqual([expect.stringContaining("color, size")])
    expect(columnsOf(headerOf(file)!, RULES)).toEqual({ columns: ["date", "page"], ignored: ["color", "size"] })
    const rules: ColumnRules = { ...RULES, accepts: (name) => name.startsWith("metadata.") }
    expect((await read("date,page,metadata.plan_text\n1,2,3\n", { rules })).warnings).toEqual([])
  })

  test("lists all missing columns", async () => {
    await expect(read("visitors\n1\n")).rejects.toMatchObject({
      code: "missing_columns",
      members: { columns: ["date", "Page"] },
      message: expect.stringContaining("data.csv in line 1 lacks date, Page"),
    })
    await expect(read("")).rejects.toMatchObject({ code: "missing_columns" })
  })

  test("refuses more than 200 columns", async () => {
    const header = ["date", "page", ...Array.from({ length: 199 }, (_, at) => `c${at}`)].join(",")
    await expect(read(`${header}\n`)).rejects.toMatchObject({ message: expect.stringContaining("201 columns") })
  })

  test("rejects rows with another number of columns, and counts them", async () => {
    const { rows: found, rejects, read: count } = await read("date,page,visitors\n1,2\n1,2,3\n1,2,3,4\n")
    expect(found).toEqual([[3, "1", "2", "3"]])
    expect([count, rejects]).toEqual([
      3,
      [
        [2, "wrong_column_count", "2 columns instead of 3"],
        [4, "wrong_column_count", "4 columns instead of 3"],
      ],
    ])
  })

  test("rejects a record over 1 MiB alone, however its quotes are", async () => {
    const long = "x".repeat(1024 ** 2)
    const content = `date,page\n1,${long}\n2,b\n3,"${long}"\n4,d\n5,"${"y\n".repeat(40)}never closed ${long.slice(0, 900_000)}\n6,f\n${"g,g\n".repeat(80_000)}`
    const { rows: found, rejects } = await read(content, { pieceBytes: 60_000 })
    expect(found.slice(0, 2).map(([line, date]) => [line, date])).toEqual([
      [3, "2"],
      [5, "4"],
    ])
    expect(rejects.filter(([, code]) => code === "too_long").map(([line]) => line)).toEqual([2, 4, 6])
    // The lines of the record whose quote is never closed are read by themselves.
    expect(found.filter(([, date]) => date === "6" || date === "g").length).toBe(80_001)
  })

  test("goes on after a quote that the file never closes", async () => {
    const { rows: found, rejects } = await read('date,page\n1,a\n2,"b\n3,c\n')
    expect(found.map(([line, date]) => [line, date])).toEqual([
      [2, "1"],
      [4, "3"],
    ])
    expect(rejects).toEqual([[3, "wrong_column_count", ""]])
  })

  test("holds a line without end at its limit", async () => {
    let pieces = 0
    const file = {
      ...writtenFile('date,page\n1,"'),
      async *chunks() {
        yield new TextEncoder().encode('date,page\n1,"')
        for (; pieces < 300; pieces++) yield new TextEncoder().encode("z".repeat(65_536))
      },
    }
    const sink = collectingSink()
    expect(await allOf(delimited(file, RULES, {}, sink))).toEqual([])
    expect(sink.collected.rejects).toEqual([[2, "too_long", ""]])
  })

  test("yields records with empty lines for files of several tables", async () => {
    const records = await allOf(csvRecords(writtenFile("# a\n\nx,y\n1,2\n"), {}, collectingSink()))
    expect(records.map(({ line, cells }) => [line, ...cells])).toEqual([
      [1, "# a"],
      [2, ""],
      [3, "x", "y"],
      [4, "1", "2"],
    ])
  })

  test("agrees with a simple parser on random records", async () => {
    const cells = ["", "a", " b ", "c,d", 'e"f', "g\nh", '"', "i\r\nj", "😀;|"]
    const pick = (seed: number) => cells[(seed * 7919) % cells.length]!
    const written = Array.from({ length: 200 }, (_, row) => [pick(row + 1), pick(row * 3 + 2), pick(row * 5 + 4)])
    const quoted = written.map((row) =>
      row.map((cell) => (/[",\n\r]/.test(cell) || cell === "" ? `"${cell.replaceAll('"', '""')}"` : cell)).join(","),
    )
    for (const pieceBytes of [1, 4, 33, 5_000]) {
      const records = await allOf(csvRecords(writtenFile(quoted.join("\r\n"), pieceBytes), { delimiter: "," }, collectingSink()))
      expect(records.map(({ cells: found }) => found)).toEqual(written)
    }
  })
})
