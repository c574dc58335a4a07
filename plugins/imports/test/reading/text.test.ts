import { describe, expect, test } from "bun:test"
import { encodingOf, fileHead, lines } from "../../reading/text.ts"
import { allOf, collectingSink, writtenFile } from "./written-file.ts"

const utf16 = (text: string, order: "le" | "be") => {
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le")
  return new Uint8Array(order === "le" ? bytes : bytes.swap16())
}

async function read(content: string | Uint8Array, { encoding, pieceBytes }: { encoding?: string; pieceBytes?: number } = {}) {
  const [file, sink] = [writtenFile(content, pieceBytes), collectingSink()]
  const found = await allOf(lines(file, encodingOf(file, encoding), sink))
  return { lines: found.map(({ line, text }) => [line, text]), rejects: sink.collected.rejects }
}

describe("encodings", () => {
  const text = "größe\n日本 😀\n"
  const expected = [
    [1, "größe"],
    [2, "日本 😀"],
  ]
  test.each([
    ["UTF-8", new TextEncoder().encode(text)],
    ["UTF-8 with a byte order mark", new TextEncoder().encode(`\ufeff${text}`)],
    ["UTF-16, little end first", utf16(text, "le")],
    ["UTF-16, big end first", utf16(text, "be")],
  ])("reads %s", async (_, bytes) => {
    expect((await read(bytes)).lines).toEqual(expected)
    // Pieces of one byte split every character.
    expect((await read(bytes, { pieceBytes: 1 })).lines).toEqual(expected)
  })

  test("reads Latin-1 by option only, and prefers a byte order mark to the option", async () => {
    const latin = new Uint8Array(Buffer.from("größe\n", "latin1"))
    expect((await read(latin, { encoding: "latin1" })).lines).toEqual([[1, "größe"]])
    expect((await read(utf16("größe", "le"), { encoding: "latin1" })).lines).toEqual([[1, "größe"]])
    const fault = read(new Uint8Array(Buffer.from("ok\nok\ngr\xf6\xdfe\n", "latin1")))
    await expect(fault).rejects.toMatchObject({ code: "invalid_encoding", message: expect.stringMatching(/Line 3 of data\.csv .*latin1/) })
  })

  test("names the line of a character that the end of the file cuts off", async () => {
    const cut = new TextEncoder().encode("one\ntwo\n€").subarray(0, -1)
    await expect(read(cut)).rejects.toMatchObject({ code: "invalid_encoding", message: expect.stringContaining("Line 3") })
  })

  test("refuses UTF-16 without a byte order mark", async () => {
    const bytes = new Uint8Array(Buffer.from("date,page\n2026-01-01,/\n", "utf16le"))
    await expect(read(bytes)).rejects.toMatchObject({ code: "invalid_encoding", message: expect.stringContaining("UTF-16 without") })
    expect(fileHead("a", bytes).text).toContain("d")
  })

  test("leaves a character out of the head that its end cuts in half", () => {
    expect(fileHead("a", new TextEncoder().encode("ab€").subarray(0, 4)).text).toBe("ab")
  })
})

describe("lines", () => {
  test("counts lines with any line end, and empty lines", async () => {
    const numbered = [
      [1, "a"],
      [2, ""],
      [3, "b"],
    ]
    expect((await read("a\n\nb")).lines).toEqual(numbered)
    expect((await read("a\r\n\r\nb\r\n", { pieceBytes: 2 })).lines).toEqual(numbered)
    expect((await read("a\r\rb\r", { pieceBytes: 100 })).lines).toEqual(numbered)
    expect((await read("")).lines).toEqual([])
  })

  test("accepts a line of 1 MiB, rejects longer ones alone, and counts bytes", async () => {
    const limit = 1024 ** 2
    const content = `${"x".repeat(limit)}\nshort\n${"x".repeat(limit + 1)}\nlast\n${"€".repeat(limit / 2)}\nend`
    const { lines: found, rejects } = await read(content, { pieceBytes: 50_000 })
    expect(found.map(([line, text]) => [line, String(text).length])).toEqual([
      [1, limit],
      [2, 5],
      [4, 4],
      [6, 3],
    ])
    expect(rejects).toEqual([
      [3, "too_long", ""],
      [5, "too_long", ""],
    ])
  })
})
