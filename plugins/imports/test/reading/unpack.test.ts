import { describe, expect, test } from "bun:test"
import { gzipSync } from "node:zlib"
import { zipSync } from "fflate"
import { MAX_UNPACKED, type PackedFile, type UnpackedFile, unpack } from "../../reading/unpack.ts"
import { ImportFault } from "../../source.ts"
import { BOMBS } from "./bombs.ts"
import { type WrittenEntry, zipOf } from "./zip-bytes.ts"

const MIB = 1024 ** 2
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const packed = (name: string, content: Uint8Array | string): PackedFile => ({
  name,
  content: new Blob([content as Uint8Array<ArrayBuffer>]),
})

async function contentOf(file: UnpackedFile): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of file.chunks()) parts.push(part)
  return text(Buffer.concat(parts))
}

/** Unpacks and reads everything. Returns the code and the message of the fault, and the bytes that were read before it. */
async function faultOf(files: readonly PackedFile[], maxBytes: number = MAX_UNPACKED.inline) {
  let bytes = 0
  try {
    for (const file of await unpack(files, maxBytes)) for await (const part of file.chunks()) bytes += part.length
  } catch (error) {
    if (error instanceof ImportFault) return { code: error.code, message: error.message, bytes }
    throw error
  }
  return { code: "none", message: "", bytes }
}

describe("unpacking", () => {
  test("yields the entries of a zip, stored and deflated, under their full names", async () => {
    const zip = zipSync({ "a.csv": [Buffer.from("x,y\n1,2\n"), { level: 0 }], "folder/b.csv": Buffer.from("z\n".repeat(100)) })
    const files = await unpack([packed("export.zip", zip)], MAX_UNPACKED.inline)
    expect(files.map(({ name, archive }) => [name, archive])).toEqual([
      ["a.csv", "export.zip"],
      ["folder/b.csv", "export.zip"],
    ])
    expect(text(files[0]!.head)).toBe("x,y\n1,2\n")
    expect(await contentOf(files[1]!)).toBe("z\n".repeat(100))
  })

  test("reads a file twice without charging it twice", async () => {
    const [file] = await unpack([packed("a.zip", zipOf([{ name: "a", content: "x".repeat(700_000) }]))], MIB)
    expect([(await contentOf(file!)).length, (await contentOf(file!)).length]).toEqual([700_000, 700_000])
  })

  test("reads ZIP64, a comment at the end, and leaves out folders and the files of macOS", async () => {
    const entries: WrittenEntry[] = [
      { name: "data/", content: "", method: 0 },
      { name: "data/a.csv", content: "one", isZip64: true },
      { name: "__MACOSX/data/._a.csv", content: "junk" },
      { name: "data/.DS_Store", content: "junk" },
    ]
    const files = await unpack([packed("big.zip", zipOf(entries, { isZip64: true, comment: "made by hand" }))], MAX_UNPACKED.inline)
    expect(files.map(({ name }) => name)).toEqual(["data/a.csv"])
    expect(await contentOf(files[0]!)).toBe("one")
  })

  test("recognizes gzip by its first bytes, with several members, and leaves other files as they are", async () => {
    const members = Buffer.concat([gzipSync("first\n"), gzipSync("second\n")])
    const files = await unpack([packed("access.log.gz", members), packed("misnamed.csv", gzipSync("a,b")), packed("plain.gz", "text")], MIB)
    expect(files.map(({ name }) => name)).toEqual(["access.log", "misnamed.csv", "plain.gz"])
    expect(await Promise.all(files.map(contentOf))).toEqual(["first\nsecond\n", "a,b", "text"])
  })

  test("accepts 200 entries and a ratio of 100", async () => {
    const names = Array.from({ length: 200 }, (_, number) => `${number}.csv`)
    const entries = names.map((name) => ({ name, content: `${name}\n`.repeat(20) }))
    expect((await faultOf([packed("many.zip", zipOf(entries))])).code).toBe("none")
    // Zeros shrink to a thousandth, but up to a MiB is always accepted.
    expect(await faultOf([packed("zeros.zip", zipOf([{ name: "zeros", content: new Uint8Array(MIB) }]))])).toMatchObject({
      code: "none",
      bytes: MIB,
    })
  })
})

describe("hostile archives", () => {
  const noise = (bytes: number) => {
    const content = new Uint8Array(bytes)
    for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(content.subarray(at, at + 65_536))
    return content
  }
  const bombs: readonly { bomb: string; files: () => PackedFile[]; maxBytes?: number }[] = [
    ...BOMBS.map(({ bomb, file }) => ({
      bomb,
      files: () => {
        const { name, content } = file()
        return [packed(name, content)]
      },
    })),
    {
      bomb: "files that are too large together",
      files: () => ["a", "b", "c"].map((name) => packed(`${name}.zip`, zipOf([{ name, content: noise(2 * MIB) }]))),
      maxBytes: 5 * MIB,
    },
  ]
  test.each(bombs)("refuses $bomb", async ({ files, maxBytes }) => {
    const sent = files()
    const size = sent.reduce((sum, { content }) => sum + content.size, 0)
    const fault = await faultOf(sent, maxBytes)
    expect(fault).toMatchObject({ code: "archive_too_large", message: expect.stringMatching(/[ab]\b.*\. .*\.$|import them in parts/i) })
    expect(fault.bytes).toBeLessThanOrEqual(Math.min(maxBytes ?? Number.POSITIVE_INFINITY, Math.max(MIB, 100 * size)))
  })

  test("reads a bomb of 1 GiB with at most 64 MiB of memory", async () => {
    const script = `
      import { unpack } from ${JSON.stringify(`${import.meta.dir}/../../reading/unpack.ts`)}
      import { deflateRawSync, createGzip } from "node:zlib"
      const gzip = createGzip(), parts = []
      gzip.on("data", (part) => parts.push(part))
      for (let at = 0; at < 1024; at++) if (!gzip.write(Buffer.alloc(1 << 20))) await new Promise((go) => gzip.once("drain", go))
      await new Promise((go) => gzip.end(go))
      const bomb = new Blob(parts)
      Bun.gc(true)
      const before = process.memoryUsage().rss
      let most = before, bytes = 0, code = "none"
      try {
        const [file] = await unpack([{ name: "bomb.gz", content: bomb }], 4 * 1024 ** 3)
        for await (const part of file.chunks()) {
          bytes += part.length
          most = Math.max(most, process.memoryUsage().rss)
        }
      } catch (error) { code = error.code }
      console.log(JSON.stringify({ code, mebibytes: (most - before) / 2 ** 20, bytes, limit: 100 * bomb.size }))`
    const { stdout } = Bun.spawnSync([process.execPath, "-e", script], { stderr: "inherit" })
    const { code, mebibytes, bytes, limit } = JSON.parse(stdout.toString())
    expect(code).toBe("archive_too_large")
    expect(mebibytes).toBeLessThan(64)
    expect(bytes).toBeLessThanOrEqual(limit)
  })

  test.each([
    "../escape.csv",
    "a/../b.csv",
    "/etc/passwd",
    "C:/windows.csv",
    "a\\b.csv",
    "line\nbreak.csv",
    "nul\0.csv",
    "",
    "x".repeat(1_001),
  ])("refuses an entry called %j", async (name) => {
    const fault = await faultOf([packed("a.zip", zipOf([{ name, content: "a" }]))])
    expect(fault).toMatchObject({ code: "invalid_archive", message: expect.stringContaining("invalid name") })
  })

  const damaged: readonly (readonly [name: string, zip: () => Uint8Array, says: string])[] = [
    ["an encrypted entry", () => zipOf([{ name: "a", content: "a", flags: 1 }]), "encrypted"],
    ["another compression", () => zipOf([{ name: "a", content: "a", method: 14 }]), "compression"],
    ["a wrong checksum", () => zipOf([{ name: "a", content: "a", checksum: 1 }]), "checksum"],
    ["a shorter entry than stated", () => zipOf([{ name: "a", content: "a", size: 9 }]), "has 1 bytes instead of the 9"],
    ["a name that differs from the directory", () => zipOf([{ name: "a", content: "a", localName: "b" }]), "damaged at a"],
    ["two entries of one name", () => zipOf([1, 2].map(() => ({ name: "a", content: "a" }))), "same name"],
    ["a wrong number of entries", () => zipOf([{ name: "a", content: "a" }], { entries: 2 }), "lists 1 entries instead of 2"],
    ["no end", () => zipOf([{ name: "a", content: "a" }]).subarray(0, -30), "incomplete"],
    ["no entries", () => zipOf([]), "contains no files"],
    ["only folders", () => zipOf([{ name: "a/", content: "", method: 0 }]), "contains no files"],
    [
      "damaged data",
      () => zipOf([{ name: "a", content: Buffer.from("abc".repeat(999)) }]).map((byte, at) => (at === 34 ? byte ^ 255 : byte)),
      "damaged",
    ],
  ]
  test.each(damaged)("refuses an archive with %s", async (_, zip, says) => {
    expect(await faultOf([packed("a.zip", zip())])).toMatchObject({ code: "invalid_archive", message: expect.stringMatching(says) })
  })

  test("refuses a gzip that is cut off, and formats that are not read", async () => {
    expect(await faultOf([packed("a.gz", gzipSync("hello world").subarray(0, -4))])).toMatchObject({ code: "invalid_archive" })
    const signature = Buffer.from([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c, 0, 4])
    const fault = await faultOf([packed("export.7z", signature)])
    expect(fault).toMatchObject({ code: "invalid_archive", message: expect.stringContaining("packed as 7z") })
  })
})
